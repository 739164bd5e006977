"""Messages about flags, leaves and their ``.grad``."""

from __future__ import annotations

from gradfn_tutorial.errors.entry import Error, Repair

ERRORS: tuple[Error, ...] = (
    Error(
        id="grad-of-non-leaf",
        message=(
            "UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. "
            "Its .grad attribute won't be populated during autograd.backward(). "
            "If you indeed want the .grad field to be populated for a non-leaf Tensor, "
            "use .retain_grad() on the non-leaf Tensor. "
            "If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. "
            "See github.com/pytorch/pytorch/pull/30531 for more information."
        ),
        code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
y = x * 2
(y**2).backward()
y.grad
""",
        en=(
            "You read `.grad` of the result of an operation: it has a `grad_fn`, so it is no leaf. `backward()` "
            "computes the gradient at that place of the graph, passes it on and lets it go; only leaves, and "
            "non-leaves that retain it, keep theirs in `.grad`. A name that once stood for a leaf may stand for "
            "a result now, as `x` does after `x = x * 2`."
        ),
        zh=(
            "你读的是某个运算结果的 `.grad`：它有 `grad_fn`，不是叶子张量。`backward()` 会在图上的这一处算出梯度，传下去之后"
            "就丢掉；只有叶子张量，以及申请过保留的非叶子张量，才会把梯度留在 `.grad` 里。有时名字原来指叶子，后来指向了结果，"
            "例如写过 `x = x * 2` 之后的 `x`。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
y = x * 2
y.retain_grad()
(y**2).backward()
print(y.grad)
""",
                en=(
                    "Call `retain_grad()` on the result before `backward()`. This is right when you do want the "
                    "gradient of an intermediate result."
                ),
                zh="在 `backward()` 之前对这个结果调用 `retain_grad()`。你要的确实是中间结果的梯度时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
y = x * 2
(y**2).backward()
print(x.grad)
""",
                en=(
                    "Keep the leaf under a name of its own, and read the `.grad` of that one. This is right when "
                    "you want the gradient of the tensor that you created."
                ),
                zh="让叶子张量一直有自己的名字，读它的 `.grad`。你要的是自己创建的那个张量的梯度时，用这个办法。",
            ),
        ),
        page="learn/retain_grad#read",
        also=(
            "UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. "
            "Its .grad attribute won't be populated during autograd.backward(). "
            "If you indeed want the .grad field to be populated for a non-leaf Tensor, "
            "use .retain_grad() on the non-leaf Tensor. "
            "If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. "
            "See github.com/pytorch/pytorch/pull/30531 for more informations.",
        ),
    ),
    Error(
        id="grad-is-none",
        message="AttributeError: 'NoneType' object has no attribute '{name}'",
        code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
x.grad.zero_()
""",
        en=(
            "What stands before the named attribute is None, and here that is `.grad`. A leaf's `.grad` is None "
            "until a backward pass accumulates into it, and again after `zero_grad()`, which by default sets it to "
            "None. If `backward()` has run since, either no gradient got to this tensor (the graph does not lead to "
            "it, it does not require grad, or `inputs=` left it out), or it is a non-leaf that does not retain its "
            "gradient. "
            "`why_no_grad` from `gradfn_tutorial` names the cause."
        ),
        zh=(
            "报错里那个属性前面的东西是 None，这里就是 `.grad`。叶子张量的 `.grad` 起初是 None，反向传播往里累加之后才有值；"
            "`zero_grad()` 默认又把它设成 None。如果之后已经跑过 `backward()`，那么要么没有梯度传到这个张量（图不通到它，它"
            "不需要梯度，或者 `inputs=` 里没有它），要么它是没有申请保留梯度的非叶子张量。`gradfn_tutorial` 的 `why_no_grad` "
            "会说出是哪一种。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
(x**2).backward()
x.grad.zero_()
print(x.grad)
""",
                en=(
                    "Use `.grad` only after a `backward()` that reached the tensor. This is right when the calls "
                    "stand in the wrong order."
                ),
                zh="等 `backward()` 把梯度传到这个张量之后再用 `.grad`。只是调用顺序不对时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
optimizer = torch.optim.SGD([x], lr=0.5)
optimizer.zero_grad()
(x**2).backward()
optimizer.step()
print(x)
""",
                en=(
                    "To clear gradients, call `optimizer.zero_grad()` or set `x.grad = None`: both work whether "
                    "there is a gradient or not. This is right at the top of a training loop."
                ),
                zh=(
                    "要清掉梯度，就调用 `optimizer.zero_grad()`，或者写 `x.grad = None`：有没有梯度都能用。训练循环开头适合这样写。"
                ),
            ),
        ),
        page="practice/why_no_grad#flow",
    ),
    Error(
        id="arithmetic-with-grad-none",
        message="TypeError: unsupported operand type(s) for {text}: '{name}' and 'NoneType'",
        code="""\
import torch

w = torch.tensor(4.0, requires_grad=True)
loss = w**2
with torch.no_grad():
    w -= 0.25 * w.grad
""",
        en=(
            "A number or a tensor was to be combined with None, most often with the `.grad` of a parameter in an "
            "update written by hand. Nothing has been accumulated into that leaf: `backward()` has not run, or not "
            "since `zero_grad()`, or the graph does not lead to it. Where the first step works and the second "
            "fails, `w = w - ...` has usually bound the name `w` to a new tensor, which is not the leaf that you "
            "created."
        ),
        zh=(
            "一个数或张量要和 None 做运算；最常见的是手写参数更新时，参数的 `.grad` 还是 None。没有梯度累加到这个叶子张量："
            "`backward()` 还没跑，或者 `zero_grad()` 之后没再跑，或者图不通到它。如果第一步正常、第二步出错，多半是 "
            "`w = w - ...` 让名字 `w` 指向了一个新张量，不再是你创建的叶子。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

w = torch.tensor(4.0, requires_grad=True)
loss = w**2
loss.backward()
with torch.no_grad():
    w -= 0.25 * w.grad
print(w)
""",
                en="Call `backward()` on a loss computed from `w` before the update.",
                zh="更新之前，先对由 `w` 算出的 loss 调用 `backward()`。",
            ),
            Repair(
                code="""\
import torch

w = torch.tensor(4.0, requires_grad=True)
for _ in range(2):
    (w**2).backward()
    with torch.no_grad():
        w -= 0.25 * w.grad
    w.grad = None
print(w)
""",
                en=(
                    "Update in place with `-=` under `torch.no_grad()`, so that `w` stays the leaf. This is right "
                    "when only the first of several steps works."
                ),
                zh="在 `torch.no_grad()` 里用 `-=` 原地更新，`w` 就一直是那个叶子。循环里只有第一步正常时，用这个办法。",
            ),
        ),
        page="practice/why_no_grad#when",
    ),
    Error(
        id="numpy-of-requires-grad",
        message=(
            "RuntimeError: Can't call numpy() on Tensor that requires grad. "
            "Use tensor.detach().numpy() instead."
        ),
        code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
x.numpy()
""",
        en=(
            "NumPy records no graph: what it computes gets no node, so no gradient could find its way back. With "
            "grad mode on, torch therefore refuses to hand out a tensor with `requires_grad=True`, leaf or not, until "
            "you say that the graph ends here. `numpy.array(x)` and matplotlib's `plot(x)` end in the same message."
        ),
        zh=(
            "NumPy 不记录计算图：用它算出来的东西没有节点，梯度也就传不回来。所以在 `no_grad` 之外，只要张量的 "
            "`requires_grad` 是 True，不管是不是叶子张量，torch 都不转换，除非你明确说图到此为止。`numpy.array(x)` 和 matplotlib 的 `plot(x)` 也会报这个错。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
print(x.detach().numpy())
""",
                en=(
                    "Write `x.detach().numpy()`. This is right for plotting, logging and saving. The array shares "
                    "its memory with the tensor; add `.copy()` if either is edited afterwards."
                ),
                zh=(
                    "写成 `x.detach().numpy()`。绘图、写日志、保存时用这个办法。得到的数组和张量共用内存，之后有哪一边要修改，"
                    "就再加 `.copy()`。"
                ),
            ),
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
torch.square(x).sum().backward()
print(x.grad)
""",
                en=(
                    "Replace the NumPy function by torch's own, `torch.square` for `numpy.square`. This is right "
                    "when the result goes into the loss."
                ),
                zh=(
                    "把 NumPy 的函数换成 torch 自己的，例如用 `torch.square` 代替 `numpy.square`。结果还要参与算 loss 时，用这个办法。"
                ),
            ),
        ),
        page="learn/building_the_graph#detach",
    ),
    Error(
        id="optimize-non-leaf",
        message="ValueError: can't optimize a non-leaf Tensor",
        code="""\
import torch

w = torch.ones(2, requires_grad=True) * 0.5
torch.optim.SGD([w], lr=0.5)
""",
        en=(
            "The tensor given to the optimizer was made by an operation and has a `grad_fn`. The leaf is the "
            "tensor before that operation, and the gradient is accumulated there. An optimizer reads `.grad`, which "
            "a non-leaf gets only after `retain_grad()` (then torch accepts it), and edits values in place, which "
            "here would leave the leaf as it was."
        ),
        zh=(
            "交给优化器的张量是运算的结果，带着 `grad_fn`。叶子张量是运算之前的那一个，梯度也累加在那里。优化器要读 `.grad`，"
            "而非叶子张量调用过 `retain_grad()` 才会有（那样 torch 就接受）；优化器还要原地改数值，在这里改了，叶子也不会变。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

w = (torch.ones(2) * 0.5).requires_grad_()
optimizer = torch.optim.SGD([w], lr=0.5)
w.sum().backward()
optimizer.step()
print(w)
""",
                en=(
                    "Do the scaling, casting or `.to(device)` first and call `requires_grad_()` last. This is right "
                    "when the operation only prepares the first value."
                ),
                zh=(
                    "先把缩放、转换类型、`.to(device)` 做完，最后才调用 `requires_grad_()`。那个运算只是在准备初值时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

x = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([x], lr=0.5)
(x * 0.5).sum().backward()
optimizer.step()
print(x)
""",
                en=(
                    "Give the optimizer the leaf, and leave the operation to the forward pass. This is right when "
                    "it belongs to the model."
                ),
                zh="把叶子张量交给优化器，运算留到前向传播里做。运算本来就是模型的一部分时，用这个办法。",
            ),
        ),
        page="learn/leaf_tensors#optimizer",
    ),
    Error(
        id="change-flag-of-non-leaf",
        message=(
            "RuntimeError: you can only change requires_grad flags of leaf variables. "
            "If you want to use a computed variable in a subgraph that doesn't require differentiation "
            "use var_no_grad = var.detach()."
        ),
        code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
y = x * 2
y.requires_grad = False
""",
        en=(
            "On a leaf `requires_grad` is a switch. On the result of a recorded operation it is a fact: there is a "
            "`grad_fn`, through which gradients go on. Switching it off would leave the tensor with a node that "
            "nothing may use, so torch asks you to make a tensor without a node instead. Assigning True, which it is "
            "already, raises as well."
        ),
        zh=(
            "在叶子张量上，`requires_grad` 是开关；在有记录的运算结果上，它是既成事实：张量有 `grad_fn`，梯度要从那里传下去。"
            "关掉它，这个张量就带着一个没人能用的节点，所以 torch 要你另外得到一个没有节点的张量。它本来就是 True，再赋值 True 也报错。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
y = (x * 2).detach()
print(y, y.requires_grad)
""",
                en=(
                    "Go on with `y.detach()`: the same values, no node. This is right when no gradient is to flow "
                    "back through this result."
                ),
                zh="后面改用 `y.detach()`：数值相同，没有节点。不想让梯度经过这个结果往回传时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
x.requires_grad_(False)
y = x * 2
print(y, y.requires_grad)
""",
                en=(
                    "Switch the leaf off before the forward pass. This is right for freezing: do it for each "
                    "parameter, or call `module.requires_grad_(False)`."
                ),
                zh=(
                    "在前向传播之前关掉叶子张量的开关。要冻结时用这个办法：逐个参数设置，或者调用 `module.requires_grad_(False)`。"
                ),
            ),
        ),
        page="learn/leaf_tensors#toggle",
        # What `y.requires_grad = True` raises.
        also=("RuntimeError: you can only change requires_grad flags of leaf variables.",),
    ),
    Error(
        id="requires-grad-of-integers",
        message="RuntimeError: Only Tensors of floating point and complex dtype can require gradients",
        code="""\
import torch

torch.tensor([1, 2], requires_grad=True)
""",
        en=(
            "A derivative asks what happens when a value changes a little, and integers and bools cannot. torch "
            "does not allow such a leaf in the graph. The dtype often comes unnoticed, from a list of whole "
            "numbers, from `argmax` or from labels. `requires_grad_()` words the message a little differently."
        ),
        zh=(
            "导数问的是数值变动一点点会怎样，而整数和布尔值没法只变一点点，所以 torch 不让它们作为要求梯度的叶子进图。这种 dtype 常常"
            "来得不知不觉：整数写成的列表、`argmax` 的结果、标签。用 `requires_grad_()` 触发时，措辞略有不同。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor([1, 2]).float().requires_grad_()
(x**2).sum().backward()
print(x.grad)
""",
                en=(
                    "Convert with `.float()` first, or write `1.0` and `2.0`. This is right when the numbers are "
                    "quantities."
                ),
                zh="先用 `.float()` 转换，或者直接写 `1.0`、`2.0`。这些数表示的是量时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

weight = torch.ones(3, requires_grad=True)
index = torch.tensor([0, 2])
weight[index].sum().backward()
print(weight.grad)
""",
                en=(
                    "Leave the integers without grad, and require it of the float tensor that they select from. "
                    "This is right when they are indices or labels."
                ),
                zh="整数不要求梯度，让被它们索引的浮点张量要求梯度。这些数是下标或标签时，用这个办法。",
            ),
        ),
        page="learn/leaf_tensors#toggle",
        # What `x.requires_grad = True` and `x.requires_grad_()` raise.
        also=(
            "RuntimeError: only Tensors of floating point and complex dtype can require gradients",
            "RuntimeError: only Tensors of floating point dtype can require gradients",
        ),
    ),
    Error(
        id="deepcopy-of-non-leaf",
        message=(
            "RuntimeError: Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.  If you were attempting to deepcopy a module, this may be because of a "
            "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
        ),
        code="""\
import copy

import torch

model = torch.nn.Linear(2, 1)
model.last = model(torch.ones(2))
copy.deepcopy(model)
""",
        en=(
            "The object holds a non-leaf, here a forward result kept on the module. A deep copy would have to "
            "copy the nodes behind it too, and torch copies leaves only. The usual places are results or losses "
            "stored as attributes, and the `weight` that `torch.nn.utils.weight_norm` computes."
        ),
        zh=(
            "对象里有非叶子张量，这里是存在模块上的前向传播结果。深拷贝它，就得把背后的节点也一起拷贝，而 torch 只拷贝叶子张量。常见"
            "的来处有两个：存成属性的中间结果或 loss，以及 `torch.nn.utils.weight_norm` 算出来的 `weight`。"
        ),
        repairs=(
            Repair(
                code="""\
import copy

import torch

model = torch.nn.Linear(2, 1)
model.last = model(torch.ones(2)).detach()
twin = copy.deepcopy(model)
print(torch.equal(twin.last, model.last), twin.last is model.last)
""",
                en=(
                    "Store `.detach()` of the result, or do not store it. This is right when a module or another "
                    "object is copied."
                ),
                zh="存结果的 `.detach()`，或者干脆不存。要拷贝的是模块或别的对象时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
twin = y.clone()
twin.sum().backward()
print(twin.detach(), x.grad)
""",
                en=(
                    "Copy a single tensor with `clone()`, through which gradients still flow, or with "
                    "`detach().clone()`, which leaves the graph."
                ),
                zh="只拷贝一个张量，就用 `clone()`，梯度照样能传过去；不想留在图里，就用 `detach().clone()`。",
            ),
        ),
        page="practice/checkpoints#deepcopy",
    ),
    Error(
        id="scalar-of-requires-grad",
        message=(
            "UserWarning: Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
            "behavior.\nConsider using tensor.detach() first."
        ),
        code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
total = torch.tensor([x * 2, x * 4])
""",
        en=(
            "`float(x)`, a function of `math`, or `torch.tensor([x, y])` turned a tensor of the graph into a "
            "plain number. The number has no `grad_fn`, so no gradient flows back through what you make of it. "
            "torch 2.6 does the same without a warning."
        ),
        zh=(
            "`float(x)`、`math` 里的函数、`torch.tensor([x, y])` 都会把图里的张量变成普通的数。数没有 `grad_fn`，由它再算出来的东西"
            "都传不回梯度。torch 2.6 也是这样做，只是不警告。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
total = torch.stack([x * 2, x * 4]).sum()
total.backward()
print(x.grad)
""",
                en=(
                    "Stay with tensors: `torch.stack` instead of `torch.tensor`, `torch.exp` instead of "
                    "`math.exp`. This is right when the result goes into the loss."
                ),
                zh=(
                    "一直用张量：`torch.tensor` 换成 `torch.stack`，`math.exp` 换成 `torch.exp`。结果还要参与算 loss 时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
loss = x**2
print(loss.item())
""",
                en="Write `loss.item()`, or `float(loss.detach())`. This is right for logging.",
                zh="写 `loss.item()` 或者 `float(loss.detach())`。只是为了记录数值时，用这个办法。",
            ),
        ),
        page="learn/what_backward_frees#logging",
        since="2.8",
    ),
    Error(
        id="copy-construct",
        message=(
            "UserWarning: To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True), "
            "rather than torch.tensor(sourceTensor)."
        ),
        code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
y = torch.tensor(x * 2)
""",
        en=(
            "`torch.tensor(...)` always makes a new leaf: it copies the values and leaves the graph of the source "
            "behind. No gradient gets back to the source, nor to what it was computed from."
        ),
        zh=(
            "`torch.tensor(...)` 总是创建新的叶子张量：只拷贝数值，源张量的图留在原处。梯度传不回源张量，"
            "也传不回算出它的那些张量。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
y = (x * 2).detach().clone()
print(y, y.requires_grad)
""",
                en="Write `detach().clone()`. This is right when you want the values alone.",
                zh="写 `detach().clone()`。只要数值时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
y = (x * 2).clone()
y.backward()
print(x.grad)
""",
                en=(
                    "Use the source itself, or `clone()` if you need a copy. This is right when gradients are to "
                    "flow through it."
                ),
                zh="直接用源张量；需要副本就用 `clone()`。梯度要经过它往回传时，用这个办法。",
            ),
        ),
        page="learn/building_the_graph#detach",
        also=(
            "UserWarning: To copy construct from a tensor, it is recommended to use "
            "sourceTensor.clone().detach() or sourceTensor.clone().detach().requires_grad_(True), "
            "rather than torch.tensor(sourceTensor).",
        ),
    ),
    Error(
        id="tensor-as-parameter",
        message=(
            "TypeError: cannot assign '{text}' as parameter '{name}' (torch.nn.Parameter or None expected)"
        ),
        code="""\
import torch

layer = torch.nn.Linear(2, 1)
layer.weight = layer.weight * 0.5
""",
        en=(
            "A module's parameters are leaves. `layer.weight * 0.5` is a new tensor with a MulBackward0 node, a "
            "result and no Parameter, so the module does not register it: the optimizer would go on updating the "
            "old leaf. A plain tensor without a node is refused as well."
        ),
        zh=(
            "模块的参数是叶子张量。`layer.weight * 0.5` 是新张量，带着 MulBackward0 节点，是运算结果而不是 Parameter，"
            "所以模块不收；就算收下，优化器更新的也还是原来那个叶子。没有节点的普通张量同样不收。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

layer = torch.nn.Linear(2, 1, bias=False)
torch.nn.init.ones_(layer.weight)
with torch.no_grad():
    layer.weight.mul_(0.5)
print(layer.weight.detach(), layer.weight.is_leaf)
""",
                en=(
                    "Edit the parameter in place under `torch.no_grad()`, with `mul_` or `copy_`. This is right "
                    "for initialising and for updates by hand."
                ),
                zh="在 `torch.no_grad()` 里用 `mul_` 或 `copy_` 原地修改参数。初始化和手动更新时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

layer = torch.nn.Linear(2, 1, bias=False)
torch.nn.init.ones_(layer.weight)
scale = torch.tensor(0.5, requires_grad=True)
weights = {"weight": layer.weight * scale}
torch.func.functional_call(layer, weights, torch.ones(2)).backward()
print(scale.grad)
""",
                en=(
                    "Pass the computed weight to `torch.func.functional_call`, or to the function in "
                    "`torch.nn.functional`. This is right when gradients are to flow through its computation."
                ),
                zh=(
                    "把算出来的权重交给 `torch.func.functional_call`，或者 `torch.nn.functional` 里的函数。梯度要经过权重的计算"
                    "过程往回传时，用这个办法。"
                ),
            ),
        ),
        page="learn/building_the_graph#update",
    ),
    Error(
        id="empty-parameter-list",
        message="ValueError: optimizer got an empty parameter list",
        code="""\
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [torch.nn.Linear(2, 1)]

torch.optim.SGD(Net().parameters(), lr=0.1)
""",
        en=(
            "The optimizer got no leaf to update. `parameters()` yields what the module has registered: a "
            "Parameter, or a module with parameters, set as an attribute. Layers in a Python list or dict are not "
            "registered; their leaves do get a `.grad` in `backward()`, but `parameters()` does not yield them."
        ),
        zh=(
            "优化器没有拿到任何叶子张量。`parameters()` 给出的是模块登记过的东西：作为属性的 Parameter，或者作为属性的、带参数的"
            "模块。放在 Python 列表或字典里的层不会登记；它们的叶子在 `backward()` 里照样得到 `.grad`，但 `parameters()` 里没有它们。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 1)])

optimizer = torch.optim.SGD(Net().parameters(), lr=0.1)
print(len(optimizer.param_groups[0]["params"]))
""",
                en=(
                    "Keep layers in `torch.nn.ModuleList` or `ModuleDict`, tensors in `torch.nn.ParameterList`. "
                    "This is right inside a module."
                ),
                zh=(
                    "层放进 `torch.nn.ModuleList` 或 `ModuleDict`，张量放进 `torch.nn.ParameterList`。在模块里面用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

layer = torch.nn.Linear(2, 1)
params = list(layer.parameters())
print(sum(p.numel() for p in params))
optimizer = torch.optim.SGD(params, lr=0.1)
print(len(optimizer.param_groups[0]["params"]))
""",
                en=(
                    "Make a list of `parameters()` before you go over it. This is right when something has "
                    "counted or filtered them before: a generator is empty the second time."
                ),
                zh=(
                    "先把 `parameters()` 变成列表再用。之前已经拿它数过或筛过参数时，用这个办法：生成器走过一遍就空了。"
                ),
            ),
        ),
        page="learn/leaf_tensors#optimizer",
    ),
    Error(
        id="assign-grad-of-other-size",
        message=(
            "RuntimeError: attempting to assign a gradient of size '{shape}' to a tensor of size '{shape}'. "
            "Please ensure that the gradient and the tensor are the same size"
        ),
        code="""\
import torch

x = torch.ones(2, requires_grad=True)
x.grad = torch.ones(3)
""",
        en=(
            "`.grad` holds one number per element of its leaf, and the next backward pass adds to it element by "
            "element. So torch takes only a tensor of the leaf's shape. A gradient of another shape usually "
            "belongs to another tensor, or was summed or stacked on the way."
        ),
        zh=(
            "叶子张量的每个元素在 `.grad` 里对应一个数，下一次反向传播会逐元素累加上去，所以 torch 只收形状和叶子相同的张量。"
            "形状不同，通常说明这个梯度属于别的张量，或者中途被求和、堆叠过。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.ones(2, requires_grad=True)
x.grad = torch.full_like(x, 3.0)
x.sum().backward()
print(x.grad)
""",
                en=(
                    "Make the gradient in the leaf's shape, with `full_like`, `zeros_like` or `expand_as(x).clone()`. "
                    "This is right when you set it by hand."
                ),
                zh=(
                    "按叶子的形状来做这个梯度，用 `full_like`、`zeros_like` 或 `expand_as(x).clone()`。确实要手动设置 `.grad` 时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

x = torch.ones(2, requires_grad=True)
per_sample = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
x.grad = per_sample.mean(0)
print(x.grad)
""",
                en=(
                    "Reduce over the extra dimension first. This is right when several gradients, per sample or per "
                    "worker, are to become one."
                ),
                zh="先在多出来的维度上求和或求平均。要把多个样本、多个进程的梯度合成一个时，用这个办法。",
            ),
        ),
        page="learn/accumulation#preset",
    ),
    Error(
        id="assign-grad-of-other-dtype",
        message=(
            "RuntimeError: attempting to assign a gradient with dtype '{dtype}' to a tensor with grad_dtype "
            "'{dtype}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). "
            "You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. "
            "Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream "
            "systems that assume they match."
        ),
        code="""\
import torch

x = torch.ones(2, requires_grad=True)
x.grad = torch.ones(2, dtype=torch.float64)
""",
        en=(
            "A leaf's `.grad` has the leaf's dtype, unless you choose another one through `grad_dtype`, which torch "
            "2.6 does not have. `backward()` converts the gradient before AccumulateGrad stores it; an assignment "
            "converts nothing, and is checked instead."
        ),
        zh=(
            "叶子张量的 `.grad` 和叶子 dtype 相同，除非你用 `grad_dtype` 另选一个（torch 2.6 没有 `grad_dtype`）。`backward()` 会先"
            "转换梯度，再由 AccumulateGrad 存下来；直接赋值不做转换，只做检查。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.ones(2, requires_grad=True)
gradient = torch.ones(2, dtype=torch.float64)
x.grad = gradient.to(x.dtype)
print(x.grad.dtype)
""",
                en="Convert the gradient with `.to(x.dtype)`. This is right when the leaf's dtype is the one you want.",
                zh="用 `.to(x.dtype)` 转换梯度。叶子的 dtype 就是你要的那种时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

x = torch.ones(2, dtype=torch.float64, requires_grad=True)
x.grad = torch.ones(2, dtype=torch.float64)
print(x.grad.dtype)
""",
                en=(
                    "Create the leaf in the gradient's dtype, or convert the model with `model.double()` before it "
                    "is used. This is right when you want to compute in that dtype."
                ),
                zh=(
                    "创建叶子时就用梯度的 dtype，或者在使用之前用 `model.double()` 转换整个模型。计算本来就该用这种 dtype 时，用这个办法。"
                ),
            ),
        ),
        page="learn/accumulation#grad-dtype",
        also=(
            "RuntimeError: attempting to assign a gradient with dtype '{dtype}' to a tensor with dtype "
            "'{dtype}'. Please ensure that the gradient and the tensor have the same dtype",
        ),
    ),
    Error(
        id="retain-grad-without-grad",
        message="RuntimeError: can't retain_grad on Tensor that has requires_grad=False",
        code="""\
import torch

x = torch.tensor(3.0)
y = x * 2
y.retain_grad()
""",
        en=(
            "Nothing that `y` was made from requires grad, or it was made under `no_grad`, by an operation without "
            "derivative such as `argmax`, or detached: it has no node, so no gradient will arrive that could be "
            "retained. `backward(inputs=[y])` raises the same."
        ),
        zh=(
            "`y` 的来源都不需要梯度，或者它是在 `no_grad` 里算的、由 `argmax` 这类没有导数的运算得到的、被 `detach()` 过："
            "它没有节点，不会有梯度传到这里，也就没有可保留的。"
            "`backward(inputs=[y])` 也会报这个错。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
y = x * 2
y.retain_grad()
(y**2).backward()
print(y.grad)
""",
                en=(
                    "Require grad of a leaf before the forward pass, with grad mode on, and do not detach on the "
                    "way. This is right when `y` is an intermediate result."
                ),
                zh=(
                    "在前向传播之前让某个叶子张量要求梯度，不要放在 `no_grad` 里算，中途也不要 `detach()`。`y` 是中间结果时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

y = torch.tensor(6.0, requires_grad=True)
(y**2).backward()
print(y.grad)
""",
                en=(
                    "Make `y` itself a leaf that requires grad; a leaf keeps its gradient without `retain_grad()`. "
                    "This is right when nothing before `y` matters."
                ),
                zh=(
                    "让 `y` 自己成为要求梯度的叶子张量；叶子不用 `retain_grad()` 也会留下梯度。`y` 之前的计算无关紧要时，用这个办法。"
                ),
            ),
        ),
        page="learn/retain_grad#leaf",
    ),
    Error(
        id="hook-without-grad",
        message="RuntimeError: cannot register a hook on a tensor that doesn't require gradient",
        code="""\
import torch

x = torch.tensor([1.0, 2.0])
x.register_hook(print)
""",
        en=(
            "A tensor hook is called with the gradient that arrives at the tensor's place in the graph. This "
            "tensor does not require grad and has no place there, so the hook could never run."
        ),
        zh=(
            "张量上的 hook 会在梯度传到这个张量在图上的位置时被调用。这个张量不需要梯度，图上没有它的位置，hook 永远不会运行，"
            "所以 torch 不让注册。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
x.register_hook(print)
(x**2).sum().backward()
""",
                en=(
                    "Set `requires_grad=True` before the forward pass. This is right for the gradient of an input, "
                    "such as an image."
                ),
                zh="在前向传播之前设好 `requires_grad=True`。想看输入（例如图像）的梯度时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

layer = torch.nn.Linear(2, 1)
out = layer(torch.tensor([1.0, 2.0]))
out.register_hook(print)
out.backward()
""",
                en=(
                    "Register the hook on the result of a layer whose parameters require grad. This is right when "
                    "the tensor is plain data."
                ),
                zh="把 hook 注册到某一层的结果上，那一层的参数要需要梯度。这个张量只是数据时，用这个办法。",
            ),
        ),
        page="practice/hooks#which",
    ),
    Error(
        id="item-of-many-elements",
        message="RuntimeError: a Tensor with {number} elements cannot be converted to Scalar",
        code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
losses = x**2
losses.item()
""",
        en=(
            "`item()` takes one number out of the graph, and this tensor has several, or none at all. A loss "
            'usually looks so after `reduction="none"` or without a final `mean()`; `losses.backward()` without '
            "`gradient=` would fail for the same reason."
        ),
        zh=(
            "`item()` 从图里取出一个数，而这个张量的元素不是恰好一个：有好几个，或者一个也没有。loss 变成这样，多半是因为用了 "
            '`reduction="none"`，或者最后少了 `mean()`；对它调用不带 `gradient=` 的 `backward()`，也会因为同样的原因报错。'
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (x**2).mean()
loss.backward()
print(loss.item(), x.grad)
""",
                en="Reduce the tensor to a scalar with `mean()` or `sum()`. This is right for a loss.",
                zh="用 `mean()` 或 `sum()` 归约成标量。对 loss 来说，这是对的做法。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
losses = x**2
print(losses.tolist())
""",
                en="Take all numbers out with `tolist()`. This is right for logging one loss per sample.",
                zh="用 `tolist()` 取出所有的数。要逐个样本记录 loss 时，用这个办法。",
            ),
        ),
        page="learn/vectors_and_jacobians#reduce",
    ),
)
