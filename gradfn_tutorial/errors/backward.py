"""Messages of ``backward()``, of ``autograd.grad`` and of walks over the graph."""

from __future__ import annotations

from gradfn_tutorial.errors.entry import Error, Repair

ERRORS: tuple[Error, ...] = (
    Error(
        id="no-grad-fn",
        message=(
            "RuntimeError: element {number} of tensors does not require grad and does not have a grad_fn"
        ),
        code="""\
import torch

x = torch.tensor(3.0)
loss = x**2
loss.backward()
""",
        en=(
            "`backward()` starts at the `grad_fn` of the tensor it is called on. This one has none, and it is no leaf "
            "that requires grad either: there is no graph. Either nothing that it was computed from requires grad, "
            "or the way was cut: by `detach()`, `no_grad`, a number, or an operation without derivative such as "
            "`argmax`. "
            "`loss.requires_grad_(True)` silences the message, and no parameter gets a gradient."
        ),
        zh=(
            "`backward()` 从张量的 `grad_fn` 出发，而这个张量没有，也不是需要梯度的叶子张量：根本没有图。"
            "要么它的来源都不需要梯度，要么中途断了："
            "`detach()`、`no_grad`、变成了普通的数，或者用了 `argmax` 这类没有导数的运算。`loss.requires_grad_(True)` 只是让报错消失，"
            "参数照样没有梯度。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
loss = x**2
loss.backward()
print(x.grad)
""",
                en=(
                    "Set `requires_grad=True` on the leaf before the forward pass, or unfreeze the parameters. This "
                    "is right when `requires_grad` is False on every leaf."
                ),
                zh=(
                    "在前向传播之前给叶子张量设 `requires_grad=True`，或者解冻参数。所有叶子的 `requires_grad` 都是 False 时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

scores = torch.zeros(2, requires_grad=True)
loss = -torch.log_softmax(scores, 0)[1]
loss.backward()
print(scores.grad)
""",
                en=(
                    "Compute the loss from the tensors themselves, with differentiable operations: from the scores "
                    "and not from their `argmax`, without `detach()`, `item()` or `no_grad` on the way."
                ),
                zh=(
                    "用可求导的运算、直接从张量算 loss：用打分，而不是打分的 `argmax`；中途不要有 `detach()`、`item()` 和 `no_grad`。"
                ),
            ),
        ),
        page="learn/building_the_graph#flag",
    ),
    Error(
        id="backward-twice",
        message=(
            "RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors "
            "after they have already been freed). Saved intermediate values of the graph are freed when you call "
            ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph "
            "a second time or if you need to access saved tensors after calling backward."
        ),
        code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
loss = x**2
loss.backward()
loss.backward()
""",
        en=(
            "The first backward pass freed the saved tensors of every node that it ran. The second came to a node "
            "whose formula needs them, here PowBackward0, which had saved `x`. In a loop, something computed "
            "before the loop, or carried over from the last iteration, is usually still part of the graph."
        ),
        zh=(
            "第一次反向传播跑过的每个节点，已保存张量都已经释放。第二次走到一个公式要用它们的节点，这里是保存了 `x` 的 PowBackward0。"
            "如果发生在循环里，多半是循环之前算好的东西，或者上一轮带过来的东西，还连在图里。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
for _ in range(2):
    x.grad = None
    loss = x**2
    loss.backward()
print(x.grad)
""",
                en=(
                    "Run the whole forward pass again before each `backward()`, and `detach()` what is carried over "
                    "from the last iteration; no gradient then goes back into that iteration. This is right in a "
                    "training loop."
                ),
                zh=(
                    "每次 `backward()` 之前重跑整个前向传播；上一轮带过来的东西先 `detach()`，这样梯度就不再传回上一轮。"
                    "训练循环里用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
loss = x**2
loss.backward(retain_graph=True)
loss.backward()
print(x.grad)
""",
                en=(
                    "Pass `retain_graph=True` to every call but the last. This is right when you need the same "
                    "graph twice; the second gradient is added to the first. For two losses on one trunk, "
                    "`(a + b).backward()` needs no retained graph."
                ),
                zh=(
                    "除最后一次以外，每次都传 `retain_graph=True`。确实要在同一张图上跑两次时用这个办法，第二次的梯度会加到第一次上面。"
                    "两个 loss 共用一段网络的话，写 `(a + b).backward()` 就行，不用保留图。"
                ),
            ),
        ),
        page="learn/what_backward_frees#rebuilt",
    ),
    Error(
        id="non-scalar",
        message="RuntimeError: grad can be implicitly created only for scalar outputs",
        code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x**2
y.backward()
""",
        en=(
            "The engine has to put a gradient into the last node. For a tensor with one element it takes 1 by "
            "itself. `y` has several elements, so each needs a weight, and torch does not choose them for you."
        ),
        zh=(
            "引擎要先往最后一个节点送进一个梯度。张量只有一个元素（标量）时，它自己取 1。`y` 是非标量，有好几个元素，"
            "每个元素都要有权重，torch 不会替你决定。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x**2
y.sum().backward()
print(x.grad)
""",
                en="Reduce to a scalar first, with `mean()` or `sum()`. This is right for a loss.",
                zh="先用 `mean()` 或 `sum()` 归约成标量。对 loss 来说，这是对的做法。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x**2
y.backward(gradient=torch.tensor([1.0, 10.0]))
print(x.grad)
""",
                en=(
                    "Pass `gradient=`, a tensor of the same shape as `y` with one weight per element. This is right "
                    "when the elements do not count equally, or for a vector-Jacobian product."
                ),
                zh=(
                    "传 `gradient=`：形状和 `y` 相同，每个元素一个权重。各元素的权重不一样，或者要算向量-雅可比积时，用这个办法。"
                ),
            ),
        ),
        page="learn/vectors_and_jacobians#vector",
    ),
    Error(
        id="unused-input",
        message=(
            "RuntimeError: The differentiated Tensor at index {number} appears to not have been used in the graph. "
            "Set allow_unused=True if this is the desired behavior."
        ),
        code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (x**2).sum()
first = x[0]
torch.autograd.grad(loss, first)
""",
        en=(
            "No gradient came to this input: in the graph of the output no path leads to it (or a custom Function on "
            "the way returned None). It was not used, or a tensor with the same values was used in its place: here "
            "`first` is a new result with a node of its own, made after the loss, so the loss cannot depend on it. "
            "torch 2.6 gives no index."
        ),
        zh=(
            "没有梯度传到这个输入：在输出的图里，没有一条路通到它（或者路上的自定义 Function 返回了 None）。要么它没被用到，"
            "要么用的是数值相同的另一个张量：这里的 `first` 是算完 loss "
            "之后才得到的新结果，有自己的节点，loss 不可能依赖它。torch 2.6 的报错里没有下标。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
first = x[0]
loss = first**2 + x[1] ** 2
print(torch.autograd.grad(loss, first))
""",
                en=(
                    "Compute the output from exactly the tensor that you pass. This is right when you expected a "
                    "gradient."
                ),
                zh="输出要由你传进去的那个张量算出来。你认为应该有梯度时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
z = torch.tensor(5.0, requires_grad=True)
print(torch.autograd.grad(x**2, [x, z], allow_unused=True))
""",
                en=(
                    "Pass `allow_unused=True`, and None stands for an unused input; `materialize_grads=True` gives "
                    "zeros instead. This is right when some inputs may be unused."
                ),
                zh=(
                    "传 `allow_unused=True`，没用到的输入得到 None；想要零就传 `materialize_grads=True`。有些输入本来就可能用不到时，用这个办法。"
                ),
            ),
        ),
        page="learn/vectors_and_jacobians#unused",
        also=(
            "RuntimeError: One of the differentiated Tensors appears to not have been used in the graph. "
            "Set allow_unused=True if this is the desired behavior.",
        ),
    ),
    Error(
        id="input-without-grad",
        message="RuntimeError: One of the differentiated Tensors does not require grad",
        code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
z = torch.tensor(5.0)
torch.autograd.grad(x * z, [x, z])
""",
        en=(
            "A tensor in `inputs` has `requires_grad=False`. Usually it had that in the forward pass already: then no "
            "edge to it was recorded, its slot in `next_functions` is None, and no gradient can be asked for there."
        ),
        zh=(
            "`inputs` 里有张量的 `requires_grad` 是 False。通常在前向传播时就已经是 False，所以没有记录通向它的边：`next_functions` 里"
            "它的 slot 是 None，那里要不到梯度。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
z = torch.tensor(5.0).requires_grad_()
print(torch.autograd.grad(x * z, [x, z]))
""",
                en=(
                    "Call `requires_grad_()` on it before the forward pass. This is right when you want its "
                    "gradient, for instance that of an image."
                ),
                zh="在前向传播之前对它调用 `requires_grad_()`。你要的就是它的梯度（例如输入图像的梯度）时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

layer = torch.nn.Linear(1, 1)
layer.bias.requires_grad_(False)
inputs = [p for p in layer.parameters() if p.requires_grad]
print(torch.autograd.grad(layer(torch.tensor([3.0])), inputs))
""",
                en="Ask only for tensors that require grad. This is right when some parameters are frozen.",
                zh="只对需要梯度的张量求梯度。有些参数已经冻结时，用这个办法。",
            ),
        ),
        page="learn/backward#autograd-grad",
    ),
    Error(
        id="gradient-of-other-shape",
        message=(
            "RuntimeError: Mismatch in shape: grad_output[{number}] has a shape of {shape} "
            "and output[{number}] has a shape of {shape}."
        ),
        code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
y.backward(torch.ones(3))
""",
        en=(
            "`gradient=` (`grad_outputs` in `torch.autograd.grad`) is what enters the last node, one number per "
            "element of the output, so the shapes must be equal: it is not broadcast. It has the output's shape, "
            "not the input's."
        ),
        zh=(
            "`gradient=`（在 `torch.autograd.grad` 里叫 `grad_outputs`）是送进最后一个节点的梯度，输出的每个元素对应一个数，"
            "所以形状必须一样，不会广播。要和输出同形状，不是和输入。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
y.backward(torch.ones_like(y))
print(x.grad)
""",
                en=(
                    "Make the gradient from the output, with `torch.ones_like(y)`. This is right when all elements "
                    "count equally, as in `y.sum()`."
                ),
                zh="由输出来做这个梯度，例如 `torch.ones_like(y)`。各元素的权重一样（和 `y.sum()` 相同）时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
(rows,) = torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True)
print(rows)
""",
                en=(
                    "With `is_grads_batched=True`, `torch.autograd.grad` takes a first dimension more: one gradient "
                    "per row. This is right for the whole Jacobian."
                ),
                zh=(
                    "给 `torch.autograd.grad` 传 `is_grads_batched=True`，就可以多出第一维，每行是一个梯度。要整个雅可比矩阵时，用这个办法。"
                ),
            ),
        ),
        page="learn/vectors_and_jacobians#gradient",
    ),
    Error(
        id="target-of-other-shape",
        message=(
            "UserWarning: Using a target size ({shape}) that is different to the input size ({shape}). "
            "This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size."
        ),
        code="""\
import torch

out = torch.zeros(3, 1, requires_grad=True)
target = torch.tensor([1.0, 2.0, 3.0])
torch.nn.functional.mse_loss(out, target)
""",
        en=(
            "The loss expands both tensors to one shape, here (3, 3): every output meets every target. The graph is "
            "complete and `backward()` works, but with `mse_loss` the gradient drives each output towards the mean "
            "of all targets."
        ),
        zh=(
            "loss 函数把两个张量扩展成同一个形状，这里是 (3, 3)：每个输出和每个目标都配了一次对。图是完整的，`backward()` 也能跑，"
            "可是用 `mse_loss` 的话，每个输出都被梯度推向所有目标的平均值。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

out = torch.zeros(3, 1, requires_grad=True)
target = torch.tensor([1.0, 2.0, 3.0])
loss = torch.nn.functional.mse_loss(out.squeeze(1), target, reduction="sum")
loss.backward()
print(out.grad.flatten())
""",
                en="Drop the output's last dimension with `squeeze(1)`. This is right for one output per sample.",
                zh="用 `squeeze(1)` 去掉输出的最后一维。每个样本只有一个输出时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

out = torch.zeros(3, 1, requires_grad=True)
target = torch.tensor([1.0, 2.0, 3.0]).view_as(out)
loss = torch.nn.functional.mse_loss(out, target, reduction="sum")
loss.backward()
print(out.grad.flatten())
""",
                en=(
                    "Give the target the output's shape, with `view_as(out)` or `unsqueeze(1)`. This is right when "
                    "the model's output shape must stay."
                ),
                zh="用 `view_as(out)` 或 `unsqueeze(1)` 把目标变成输出的形状。模型的输出形状不能动时，用这个办法。",
            ),
        ),
        page="learn/vectors_and_jacobians#reduce",
    ),
    Error(
        id="class-target-dtype",
        message="RuntimeError: expected target dtype to be Long or Byte, but got {dtype}",
        code="""\
import torch

scores = torch.zeros(1, 2, requires_grad=True)
target = torch.tensor([1.0])
torch.nn.functional.cross_entropy(scores, target)
""",
        en=(
            "With one number per sample, the target is a class index: it picks the log-probability that goes into "
            "the loss, and the loss's node (NllLossBackward0) sends 0 to all others. The index must be int64 or "
            "uint8; int32 is refused as well. The message comes from the forward pass, before there is a loss."
        ),
        zh=(
            "每个样本只给一个数时，目标是类别的下标：它选出计入 loss 的那个对数概率，loss 的节点（NllLossBackward0）给其余的都传回 "
            "0。下标必须是 int64 或 uint8，int32 也不行。这个报错出在前向传播，loss 还没有产生。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

scores = torch.zeros(1, 2, requires_grad=True)
target = torch.tensor([1.0]).long()
torch.nn.functional.cross_entropy(scores, target).backward()
print(scores.grad)
""",
                en="Convert the target with `.long()`. This is right for class indices.",
                zh="用 `.long()` 转换目标。目标是类别下标时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

scores = torch.zeros(1, 2, requires_grad=True)
target = torch.tensor([[0.0, 1.0]])
torch.nn.functional.cross_entropy(scores, target).backward()
print(scores.grad)
""",
                en=(
                    "Give one probability per class, in the shape of the scores. This is right for soft labels. For "
                    "a yes-or-no output, use `binary_cross_entropy_with_logits`."
                ),
                zh=(
                    "每个类别给一个概率，形状和打分相同。用软标签时，用这个办法。只分“是”与“否”的输出，用 `binary_cross_entropy_with_logits`。"
                ),
            ),
        ),
        page="learn/building_the_graph#no-derivative",
        also=("RuntimeError: expected scalar type Long but found {dtype}",),
    ),
    Error(
        id="loss-dtype-in-backward",
        message="RuntimeError: Found dtype {dtype} but expected {dtype}",
        code="""\
import torch

p = torch.tensor([0.5], requires_grad=True)
target = torch.tensor([1])
loss = torch.nn.functional.huber_loss(p, target)
loss.backward()
""",
        en=(
            "The forward pass accepted the target, and the node of the loss saved it. Its backward formula computes "
            "with the target and the output's gradient together, and finds two dtypes: the first named is the "
            "target's. torch 2.6 raises it in `backward()` for `mse_loss` too, 2.13 and 2.15 do not. "
            "`binary_cross_entropy` raises it in the forward pass already."
        ),
        zh=(
            "前向传播接受了这个目标，loss 的节点把它存了下来。反向公式要把目标和输出的梯度放在一起算，这时才发现 dtype 有两种，"
            "报错里先写的是目标的。torch 2.6 里 `mse_loss` 的 `backward()` 也会这样，2.13 和 2.15 不会。"
            "`binary_cross_entropy` 则在前向传播时就报这个错。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

p = torch.tensor([0.5], requires_grad=True)
target = torch.tensor([1])
loss = torch.nn.functional.huber_loss(p, target.to(p.dtype))
loss.backward()
print(p.grad)
""",
                en="Convert the target with `target.to(output.dtype)` or `.float()`. This is right almost always.",
                zh="用 `target.to(output.dtype)` 或 `.float()` 转换目标。几乎总是该用这个办法。",
            ),
            Repair(
                code="""\
import torch

model = torch.nn.Linear(1, 1).double()
target = torch.tensor([3.0], dtype=torch.float64)
loss = torch.nn.functional.huber_loss(model(torch.zeros_like(target)), target)
loss.backward()
print(model.bias.grad.dtype)
""",
                en=(
                    "Run the model in the target's dtype, with `model.double()` and float64 data. This is right "
                    "when you need the precision."
                ),
                zh="让模型也用目标的 dtype：`model.double()`，数据也用 float64。确实需要这个精度时，用这个办法。",
            ),
        ),
        page="learn/what_backward_frees#saved",
    ),
    Error(
        id="nan-in-backward",
        message="RuntimeError: Function '{node}' returned nan values in its {number}th output.",
        code="""\
import torch

x = torch.tensor([0.0, 4.0], requires_grad=True)
y = torch.where(x > 0, x.sqrt(), 0.0)
with torch.autograd.set_detect_anomaly(True):
    y.sum().backward()
""",
        en=(
            "Anomaly mode looks at what leaves each node, and this node is the first whose gradient for the input "
            "in that slot holds a NaN. Here the slope of the root at 0 is infinite, and the 0 that `where` sends back "
            "for the entry not picked makes 0 times infinity. The values of the forward pass were fine."
        ),
        zh=(
            "异常检测会检查每个节点送出的梯度，报错里的节点是第一个送出 NaN 的，数字是 slot 的编号。这里，平方根在 0 处的斜率是无穷大，"
            "`where` 给没选中的元素传回 0，0 乘无穷大就是 NaN。前向传播的数值都没问题。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor([0.0, 4.0], requires_grad=True)
safe = torch.where(x > 0, x, 1.0)
y = torch.where(x > 0, safe.sqrt(), 0.0)
y.sum().backward()
print(x.grad)
""",
                en=(
                    "Replace the bad entries before the operation, not only after it. This is right with `where` "
                    "and masks."
                ),
                zh="在运算之前就把有问题的元素换掉，不要只在运算之后换。用 `where` 或掩码时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor([0.0, 4.0], requires_grad=True)
y = x.clamp(min=1e-6).sqrt()
y.sum().backward()
print(x.grad.isfinite().all())
""",
                en=(
                    "Keep the input away from the bad point: with `clamp(min=...)`, where what is raised gets "
                    "gradient 0, or by adding a small number. Either changes the values. This is right for roots, "
                    "logarithms and divisions by what should be positive."
                ),
                zh=(
                    "让输入离开有问题的点：用 `clamp(min=...)`，被抬高的元素梯度是 0；或者加上一个很小的数。两种都会改变数值。"
                    "开方、取对数、除以本该为正的数时，用这个办法。"
                ),
            ),
        ),
        page="practice/training_loop#nan",
    ),
    Error(
        id="float-has-no-backward",
        message="AttributeError: 'float' object has no attribute 'backward'",
        code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
loss = (x**2).item()
loss.backward()
""",
        en=(
            "The loss is a plain Python number: `item()`, `float()` or adding up numbers has taken it out of the "
            "graph. A number has no `grad_fn`, so there is nothing to start from."
        ),
        zh=(
            "loss 已经是普通的 Python 数：`item()`、`float()`，或者把一些数加起来，都让它离开了图。数没有 `grad_fn`，"
            "反向传播没有起点。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
loss = x**2
loss.backward()
print(loss.item(), x.grad)
""",
                en="Call `backward()` on the tensor, and `item()` only for what you print or log.",
                zh="对张量调用 `backward()`，`item()` 只用在打印和记录上。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
losses = [x * 2, x * 4]
sum(losses).backward()
print(x.grad)
""",
                en=(
                    "Add up tensors, not their `item()`. This is right when several losses make one; the list must "
                    "not be empty, for the sum of nothing is the int 0."
                ),
                zh=(
                    "加起来的应该是张量，不是它们的 `item()`。几个 loss 合成一个时，用这个办法；列表不能是空的，空的加起来是整数 0。"
                ),
            ),
        ),
        page="learn/what_backward_frees#logging",
        also=("AttributeError: 'int' object has no attribute 'backward'",),
    ),
    Error(
        id="next-functions-of-none",
        message="AttributeError: 'NoneType' object has no attribute 'next_functions'",
        code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
x.grad_fn.next_functions
""",
        en=(
            "There is no node here. Either the walk began at a tensor without `grad_fn` (a leaf, a detached tensor, "
            "a result computed under `no_grad`), or it took a slot of `next_functions` that is None, because the "
            "input in that slot does not require grad or is missing, such as the bias of a Conv2d with `bias=False`."
        ),
        zh=(
            "这里没有节点。要么起点的张量没有 `grad_fn`（叶子张量、`detach()` 过的张量、`no_grad` 里算出的结果），"
            "要么走进了 `next_functions` 里是 None 的 slot：那个 slot 的输入不需要梯度，或者根本没有，例如 `bias=False` 的 "
            "Conv2d 的偏置。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
y = x * 2
print(y.grad_fn.next_functions[0][0].name())
""",
                en="Start from the result of a recorded operation, such as the loss.",
                zh="从有记录的运算结果出发，例如 loss。",
            ),
            Repair(
                code="""\
import torch

layer = torch.nn.Linear(2, 1)
out = layer(torch.ones(1, 2))
print([node.name() for node, _ in out.grad_fn.next_functions if node is not None])
""",
                en="Leave out the slots that are None. This is right in a walk over any graph.",
                zh="跳过是 None 的 slot。遍历任意的图时，用这个办法。",
            ),
        ),
        page="learn/walking_the_graph#slots",
    ),
    Error(
        id="next-functions-index",
        message="IndexError: tuple index out of range",
        code="""\
import torch

layer = torch.nn.Linear(2, 1)
loss = layer(torch.ones(1, 2)).sum()
loss.grad_fn.next_functions[0][0].next_functions[0][0].next_functions[0]
""",
        en=(
            "`next_functions` has one entry per slot of the node, and none at all in AccumulateGrad, where a walk "
            "ends. Slot 0 is not always the previous layer: in the AddmmBackward0 of a Linear, slot 0 is the bias, "
            "and the walk ends there."
        ),
        zh=(
            "`next_functions` 里，节点的每个 slot 有一项；AccumulateGrad 一项也没有，路走到那里就到头了。slot 0 不一定是上一层："
            "Linear 的 AddmmBackward0 里，slot 0 是偏置，走进去就到头了。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

layer = torch.nn.Linear(2, 1)
loss = layer(torch.ones(1, 2)).sum()
addmm = loss.grad_fn.next_functions[0][0]
print([node.name() if node else None for node, _ in addmm.next_functions])
""",
                en=(
                    "Print all slots of the node, and take the one that leads where you want to go. This is right "
                    "for a walk by hand."
                ),
                zh="先把这个节点的所有 slot 打印出来，再选通向目的地的那一个。手动走图时，用这个办法。",
            ),
            Repair(
                code="""\
import torch
from gradfn_tutorial import trace

layer = torch.nn.Linear(2, 1)
loss = layer(torch.ones(1, 2)).sum()
print(trace(loss, layer).path("weight"))
""",
                en=(
                    "Let `trace(loss, model).path(name)` from `gradfn_tutorial` find the way; printed, it is "
                    "the expression to paste."
                ),
                zh="让 `gradfn_tutorial` 的 `trace(loss, model).path(name)` 去找路，把结果打印出来，就是可以直接粘贴的表达式。",
            ),
        ),
        page="conv2d/trace#zeros",
    ),
    Error(
        id="create-graph-cycle",
        message=(
            "UserWarning: Using backward() with create_graph=True will create a reference cycle between the "
            "parameter and its gradient which can cause a memory leak. We recommend using autograd.grad when "
            "creating the graph to avoid this. If you have to use this function, make sure to reset the .grad "
            "fields of your parameters to None after use to break the cycle and avoid the leak."
        ),
        code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
(x**3).backward(create_graph=True)
""",
        en=(
            "With `create_graph=True` the gradient has a graph of its own, unless it is constant, and that graph can "
            "lead back to the leaf, as here. The leaf holds the gradient in `.grad`, so the two keep each other alive "
            "until you set `.grad` to None; Python's garbage collector does not find them. The gradient itself is right."
        ),
        zh=(
            "用了 `create_graph=True`，梯度只要不是常数，自己也有图，这张图可能又通回叶子张量（这里就是），而叶子的 `.grad` 里就是"
            "这个梯度。两边互相引用，"
            "Python 的垃圾回收也找不到它们，要等你把 `.grad` 设成 None，内存才会释放。梯度的值没有问题。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
(slope,) = torch.autograd.grad(x**3, x, create_graph=True)
slope.backward()
print(slope.item(), x.grad)
""",
                en=(
                    "Use `torch.autograd.grad(..., create_graph=True)`: it returns the gradient and stores nothing "
                    "in `.grad`. This is right for gradient penalties."
                ),
                zh=(
                    "改用 `torch.autograd.grad(..., create_graph=True)`：它把梯度返回给你，不往 `.grad` 里存。做梯度惩罚时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

slope = torch.func.grad(lambda x: x**3)
print(torch.func.grad(slope)(torch.tensor(3.0)))
""",
                en=(
                    "Nest `torch.func.grad`, or use `torch.func.hessian`. This is right when the computation is a "
                    "function and no `.grad` is needed."
                ),
                zh="把 `torch.func.grad` 嵌套起来，或者用 `torch.func.hessian`。计算写成了函数、用不着 `.grad` 时，用这个办法。",
            ),
        ),
        page="practice/double_backward#cycle",
    ),
    Error(
        id="anomaly-mode-on",
        message=(
            "UserWarning: Anomaly Detection has been enabled. "
            "This mode will increase the runtime and should only be enabled for debugging."
        ),
        code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
with torch.autograd.detect_anomaly():
    (x**2).backward()
""",
        en=(
            "No error: `detect_anomaly()` says that it is on. In this mode every new node stores the traceback of the "
            "forward call that made it, and `backward()` checks the gradients that leave each node for NaN. Both cost "
            "time."
        ),
        zh=(
            "这不是报错，是 `detect_anomaly()` 在告诉你它开着。这个模式下，每个新节点都要记下产生它的那次前向调用的调用栈，`backward()` "
            "还要检查每个节点送出的梯度有没有 NaN，两样都费时间。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
(x**2).backward()
print(x.grad, torch.is_anomaly_enabled())
""",
                en="Take it out once the cause is found. This is right for training.",
                zh="找到原因之后就去掉它。正式训练时应该这样。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
with torch.autograd.set_detect_anomaly(True):
    (x**2).backward()
print(x.grad, torch.is_anomaly_enabled())
""",
                en=(
                    "Put `with torch.autograd.set_detect_anomaly(True):` round the suspected step: the same mode "
                    "without this warning. This is right while you search."
                ),
                zh=(
                    "用 `with torch.autograd.set_detect_anomaly(True):` 只包住可疑的那一步：同样的检测，没有这条警告。还在找原因时，用这个办法。"
                ),
            ),
        ),
        page="practice/training_loop#nan",
    ),
    Error(
        id="complex-loss",
        message="RuntimeError: grad can be implicitly created only for real scalar outputs but got {dtype}",
        code="""\
import torch

z = torch.tensor(1 + 2j, requires_grad=True)
(z * z).backward()
""",
        en=(
            "The engine starts with 1 at the last node only if the output is a real scalar: only then is there a "
            "direction in which it grows. A complex output has a real and an imaginary part, and you have to say how "
            "they count."
        ),
        zh=(
            "只有输出是实数标量，引擎才会自己在最后一个节点取 1：实数才谈得上往哪个方向增大。复数输出有实部和虚部，两者各占多少，"
            "要由你来说。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

z = torch.tensor(1 + 2j, requires_grad=True)
loss = (z * z.conj()).real
loss.backward()
print(z.grad)
""",
                en=(
                    "Make the loss real, with `.abs()` or `.real`, as in `(z * z.conj()).real`. This is right for "
                    "optimizing."
                ),
                zh="把 loss 变成实数：用 `.abs()` 或 `.real`，例如 `(z * z.conj()).real`。要做优化时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

z = torch.tensor(1 + 2j, requires_grad=True)
out = z * z
out.backward(gradient=torch.ones_like(out))
print(z.grad)
""",
                en=(
                    "Pass a complex `gradient=`. This is right for the derivative of a complex function; for a "
                    "holomorphic one, torch gives its conjugate."
                ),
                zh=(
                    "传一个复数的 `gradient=`。要求复变函数的导数时，用这个办法；函数全纯的话，torch 给出的是导数的共轭。"
                ),
            ),
        ),
        page="learn/vectors_and_jacobians#vector",
    ),
    Error(
        id="complex-gradient-dtype",
        message=(
            "RuntimeError: For complex Tensors, both grad_output and output are required to have the same dtype. "
            "Mismatch in dtype: grad_output[{number}] has a dtype of {dtype} "
            "and output[{number}] has a dtype of {dtype}."
        ),
        code="""\
import torch

z = torch.tensor([1 + 2j, 3j], requires_grad=True)
y = z * 2
y.backward(torch.ones(2))
""",
        en=(
            "What enters the last node and what that node put out must both be complex, or both real: torch converts "
            "no gradient between the two at the start of a backward pass. Between real dtypes, such as float32 and "
            "float64, it raises nothing."
        ),
        zh=(
            "送进最后一个节点的梯度和这个节点的输出，要么都是复数，要么都是实数：反向传播一开始，torch 不会在实数和复数之间"
            "转换梯度。都是实数 dtype（例如 float32 和 float64）时则不报错。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

z = torch.tensor([1 + 2j, 3j], requires_grad=True)
y = z * 2
y.backward(torch.ones_like(y))
print(z.grad)
""",
                en="Make the gradient from the output, with `torch.ones_like(y)`: it has the right dtype and shape.",
                zh="由输出来做这个梯度，例如 `torch.ones_like(y)`：dtype 和形状就都对了。",
            ),
            Repair(
                code="""\
import torch

z = torch.tensor([1 + 2j, 3j], requires_grad=True)
y = (z * 2).real
y.backward(torch.ones(2))
print(z.grad)
""",
                en="Take `.real` or `.abs()` of the output. This is right when only a real quantity matters.",
                zh="先取输出的 `.real` 或 `.abs()`。只关心某个实数量时，用这个办法。",
            ),
        ),
        page="learn/vectors_and_jacobians#gradient",
    ),
    Error(
        id="number-of-gradients",
        message="RuntimeError: got {number} tensors and {number} gradients",
        code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
outputs = [x * 2, x * 4]
torch.autograd.backward(outputs, [torch.tensor(1.0)])
""",
        en=(
            "A backward pass may start at several nodes, and each output needs a gradient of its own to start with: "
            "the two lists must be equally long. None may stand for the 1 of a scalar output."
        ),
        zh=(
            "一次反向传播可以从好几个节点出发，每个输出都要有自己的起始梯度，所以两个列表要一样长。输出是标量时，可以用 None 代表 1。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
outputs = [x * 2, x * 4]
torch.autograd.backward(outputs, [torch.tensor(1.0), torch.tensor(10.0)])
print(x.grad)
""",
                en="Give one gradient per output, in the same order. This is right when the outputs are weighted.",
                zh="每个输出给一个梯度，顺序一致。各个输出的权重不一样时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
outputs = [x * 2, x * 4]
torch.autograd.backward(outputs)
print(x.grad)
""",
                en="Give none at all if every output is a scalar: each starts with 1, as in the sum of the outputs.",
                zh="所有输出都是标量的话，可以一个也不给：各自从 1 开始，和先求和再反向传播一样。",
            ),
        ),
        page="learn/vectors_and_jacobians#gradient",
    ),
    Error(
        id="empty-inputs",
        message="RuntimeError: `inputs` argument to `{name}()` cannot be empty.",
        code="""\
import torch

layer = torch.nn.Linear(2, 1).requires_grad_(False)
x = torch.ones(2, requires_grad=True)
trainable = [p for p in layer.parameters() if p.requires_grad]
layer(x).backward(inputs=trainable)
""",
        en=(
            "`inputs=` lists where in the graph gradients are wanted. The list is empty, so no node would have "
            "anything to do. It usually comes from a filter that let nothing pass: all parameters are frozen, or a "
            "generator was used up before."
        ),
        zh=(
            "`inputs=` 列出要图上哪些地方的梯度。列表是空的，就没有节点需要运行。这种列表通常是筛出来的，却什么也没留下："
            "参数全冻结了，或者生成器之前已经用完。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

layer = torch.nn.Linear(2, 1)
torch.nn.init.ones_(layer.weight).requires_grad_(False)
x = torch.ones(2, requires_grad=True)
layer(x).backward()
print(x.grad)
""",
                en="Leave `inputs=` out: every leaf of the graph that requires grad gets its gradient.",
                zh="不传 `inputs=`：图里每个需要梯度的叶子张量都会得到梯度。",
            ),
            Repair(
                code="""\
import torch

layer = torch.nn.Linear(2, 1).requires_grad_(False)
layer.bias.requires_grad_(True)
trainable = [p for p in layer.parameters() if p.requires_grad]
layer(torch.ones(2)).backward(inputs=trainable)
print(layer.bias.grad)
""",
                en="Unfreeze what you want to train before the forward pass, and make the filter's result a list.",
                zh="在前向传播之前把要训练的参数解冻，并把筛选的结果做成列表。",
            ),
        ),
        page="learn/backward#inputs",
        also=("ValueError: grad requires non-empty inputs.",),
    ),
    Error(
        id="no-gradient-edge",
        message=(
            "RuntimeError: It is not possible to get the gradient edge for a Tensor that does not require gradients"
        ),
        code="""\
import torch

x = torch.tensor(3.0)
torch.autograd.graph.get_gradient_edge(x)
""",
        en=(
            "A gradient edge is a place in the graph: a node and one of its outputs. This tensor has no `grad_fn` and "
            "does not require grad, so it has no AccumulateGrad either, and there is no place to name."
        ),
        zh=(
            "梯度边（gradient edge）是图上的一个位置：一个节点，加上它的第几个输出。这个张量没有 `grad_fn`，也不需要梯度，因此也没有 "
            "AccumulateGrad，没有位置可言。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
edge = torch.autograd.graph.get_gradient_edge(x)
print(torch.autograd.grad(x**2, edge))
""",
                en="Set `requires_grad=True` on the leaf. Then its edge leads to its AccumulateGrad.",
                zh="给叶子张量设 `requires_grad=True`，它的梯度边就通到自己的 AccumulateGrad。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
y = x * 2
edge = torch.autograd.graph.get_gradient_edge(y)
print(torch.autograd.grad(y**2, edge))
""",
                en="Ask for the edge of a recorded result. This is right for the gradient at an inner place of the graph.",
                zh="对有记录的运算结果取梯度边。想要图中间某处的梯度时，用这个办法。",
            ),
        ),
        page="learn/backward#gradient-edge",
    ),
)
