"""Messages about in-place operations, and about the memory that views share."""

from __future__ import annotations

from gradfn_tutorial.errors.entry import Error, Repair

ERRORS: tuple[Error, ...] = (
    Error(
        id="leaf-in-place",
        message="RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.",
        code="""\
import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
w -= 0.5
""",
        en=(
            "`w` is a leaf: no node made it, and its gradient is to be accumulated in `w.grad`. An "
            "in-place operation that is recorded would give it a `grad_fn`, so that it would no longer be "
            "a leaf. torch refuses before it changes any value."
        ),
        zh=(
            "`w` 是叶子张量：没有节点产生它，它的梯度会累加到 `w.grad` 里。原地操作一旦记录下来，`w` 就会有"
            " `grad_fn`，不再是叶子。所以 torch 直接拒绝，报错时值还没有变。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    w -= 0.5
print(w.tolist(), w.is_leaf)
""",
                en=(
                    "Put the line into a `torch.no_grad()` block: `w` gets its new values and stays the "
                    "same leaf. This is right for an update or an initialisation, which should not be "
                    "differentiated."
                ),
                zh=(
                    "把这一行放进 `torch.no_grad()`：`w` 的值变了，还是原来的叶子张量。更新参数、初始化参数"
                    "都不用求导，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
z = w - 0.5
(z**2).sum().backward()
print(w.grad)
""",
                en=(
                    "Make a new tensor, `z = w - 0.5`, or edit a copy, `z = w.clone()`. This is right when "
                    "the edit belongs to the computation: the gradient flows through `z` to `w`."
                ),
                zh=(
                    "新建一个张量：`z = w - 0.5`，或者先 `z = w.clone()` 再改 `z`。修改本身是计算的一部分"
                    "时，用这个办法，梯度会经过 `z` 传到 `w`。"
                ),
            ),
        ),
        page="practice/in_place_and_views#leaf",
    ),
    Error(
        id="saved-result-edited",
        message=(
            "RuntimeError: one of the variables needed for gradient computation has been modified by an "
            "inplace operation: [{name} {shape}], which is output {number} of {node}, is at version "
            "{number}; expected version {number} instead. Hint: enable anomaly detection to find the "
            "operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, "
            "check_nan=False)."
        ),
        code="""\
import torch

x = torch.zeros(2, requires_grad=True)
y = torch.exp(x)
y += 1
y.sum().backward()
""",
        en=(
            "A node saved a tensor for backward, and the tensor was edited in place afterwards; here "
            "ExpBackward0 had saved its result `y`. The edit raised the version counter, so the node sees "
            "that this may not be what it saved, and stops rather than compute a wrong gradient. The shape "
            'helps to find the tensor, and so does the name after "output 0 of": that of the node that '
            "made it, or of the edit. The weight of a Linear can stand there as AsStrided, and then the "
            "edit may well be an optimizer's step between the forward and the backward pass."
        ),
        zh=(
            "某个节点为反向传播保存了一个张量，这个张量后来被原地改过；这里是 ExpBackward0 保存的结果 `y`。"
            "修改让版本计数器增加，节点一比就知道这可能不是当初保存的值，宁可报错，也不算出错误的梯度。要找"
            "到是哪个张量，可以看信息里的形状，还有“output 0 of”后面的名字：不是产生它的节点，就是那次修"
            "改。Linear 的权重可能写成 AsStrided，这时改它的很可能是前向传播和反向传播之间的优化器更新。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.zeros(2, requires_grad=True)
y = torch.exp(x)
y = y + 1
y.sum().backward()
print(x.grad)
""",
                en=(
                    "Write the edit out of place, `y = y + 1` instead of `y += 1`, `nn.ReLU()` instead of "
                    "`nn.ReLU(inplace=True)`: the saved tensor stays as it was. This is the first thing to "
                    "try where the code is yours. If the edit is an optimizer's step, compute the loss "
                    "again after it."
                ),
                zh=(
                    "不要原地改：`y += 1` 写成 `y = y + 1`，`nn.ReLU(inplace=True)` 写成 `nn.ReLU()`，保存"
                    "的张量就不会变。代码是自己写的，先试这个办法。如果改它的是优化器更新，就在更新之后重新"
                    "算 loss。"
                ),
            ),
            Repair(
                code="""\
import torch

x = torch.zeros(2, requires_grad=True)
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    y = torch.exp(x)
    y += 1
    y.sum().backward()
print(x.grad)
""",
                en=(
                    "Run forward and backward inside "
                    "`torch.autograd.graph.allow_mutation_on_saved_tensors()`: a saved tensor is cloned "
                    "before it is edited. This is right when the edit is in code that you cannot change; "
                    "it costs memory for the clones."
                ),
                zh=(
                    "把前向传播和反向传播都放进 `torch.autograd.graph.allow_mutation_on_saved_tensors()`："
                    "已保存张量在被修改之前会先克隆一份。原地修改在别人的代码里、你改不了的时候，用这个办"
                    "法，代价是克隆要占内存。"
                ),
            ),
        ),
        page="practice/in_place_and_views#version",
        also=(
            "RuntimeError: one of the variables needed for gradient computation has been modified by an "
            "inplace operation: [{name} {shape}], which is output {number} of {node}, is at version "
            "{number}; expected version {number} instead. Hint: enable anomaly detection to find the "
            "operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True).",
        ),
    ),
    Error(
        id="saved-parameter-edited",
        message=(
            "RuntimeError: one of the variables needed for gradient computation has been modified by an "
            "inplace operation: [{name} {shape}] is at version {number}; expected version {number} "
            "instead. Hint: enable anomaly detection to find the operation that failed to compute its "
            "gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
        ),
        code="""\
import torch

w = torch.tensor(3.0, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.25)
loss = w * w
loss.backward(retain_graph=True)
optimizer.step()
loss.backward()
""",
        en=(
            "The message names no node that the tensor is an output of, so look at leaves first. Here the "
            "product saved the parameter `w`, and `optimizer.step()` changed `w` in place. The step is not "
            "recorded in the graph, but the version counter goes up all the same. `retain_graph=True` "
            "keeps saved tensors; it does not bring their old values back."
        ),
        zh=(
            "信息里没有说这个张量是哪个节点的输出，所以先查叶子张量。这里乘法保存了参数 `w`，"
            "`optimizer.step()` 又原地改了 `w`。这一步更新没有记录到图里，版本计数器却照样增加。"
            "`retain_graph=True` 只是留住已保存张量，旧的值回不来。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

w = torch.tensor(3.0, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.25)
for _ in range(2):
    optimizer.zero_grad()
    loss = w * w
    loss.backward()
    optimizer.step()
print(w.item())
""",
                en=(
                    "Compute the loss anew after every `optimizer.step()`: a new forward pass saves the "
                    "new values. This is right in a training loop and for a recurrent state, which is cut "
                    "with `detach()` between steps."
                ),
                zh=(
                    "每次 `optimizer.step()` 之后重新算 loss：新的前向传播保存的就是新的值。训练循环用这个"
                    "办法；循环网络的隐状态，在两步之间还要用 `detach()` 切断。"
                ),
            ),
            Repair(
                code="""\
import torch

w = torch.tensor(3.0, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.25)
first, second = w * w, 6 * w
first.backward()
second.backward()
optimizer.step()
print(w.item())
""",
                en=(
                    "Run all backward passes first, and call `optimizer.step()` after the last one. This "
                    "is right when several losses were computed with the same parameters."
                ),
                zh=(
                    "先把各个 loss 的 `backward()` 都跑完，再调用 `optimizer.step()`。几个 loss 是用同一份"
                    "参数算出来的时候，用这个办法。"
                ),
            ),
        ),
        page="learn/what_backward_frees#recurrent",
        also=(
            "RuntimeError: one of the variables needed for gradient computation has been modified by an "
            "inplace operation: [{name} {shape}] is at version {number}; expected version {number} instead. "
            "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True).",
        ),
    ),
    Error(
        id="view-of-leaf-in-place",
        message=(
            "RuntimeError: a view of a leaf Variable that requires grad is being used in an in-place "
            "operation."
        ),
        code="""\
import torch

w = torch.zeros(3, requires_grad=True)
w[0] = 5.0
""",
        en=(
            "`w[0]` is a view of the leaf `w`: writing to it writes to the memory of `w`. Recording the "
            "write would put the node CopySlices behind `w`, and then `w` would be the result of an "
            "operation and no leaf. torch refuses, as it does for the leaf itself."
        ),
        zh=(
            "`w[0]` 是叶子张量 `w` 的视图，写它就是写 `w` 的内存。这次写入一旦记录下来，`w` 就会有 "
            "CopySlices 节点，变成运算结果，不再是叶子。所以跟直接改叶子一样，torch 拒绝执行。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

w = torch.zeros(3, requires_grad=True)
with torch.no_grad():
    w[0] = 5.0
print(w.tolist(), w.is_leaf)
""",
                en=(
                    "Write to the slice inside a `torch.no_grad()` block. This is right for setting some "
                    "of a parameter's values: it stays the same leaf."
                ),
                zh=(
                    "在 `torch.no_grad()` 里写这个切片。要设定参数里的某几个值时，用这个办法，参数还是原来"
                    "的叶子张量。"
                ),
            ),
            Repair(
                code="""\
import torch

w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
z = w.clone()
z[0] = 5.0
z.sum().backward()
print(w.grad)
""",
                en=(
                    "Clone first and write to the clone, `z = w.clone()`. This is right when the write "
                    "belongs to the computation: the gradient of `w` is then 0 where it was overwritten."
                ),
                zh=(
                    "先 `z = w.clone()`，再写副本 `z`。写入本身是计算的一部分时，用这个办法；被覆盖的位置，"
                    "`w` 的梯度是 0。"
                ),
            ),
        ),
        page="practice/in_place_and_views#view-of-leaf",
    ),
    Error(
        id="multi-view-in-place",
        message=(
            "RuntimeError: Output {number} of {node} is a view and is being modified inplace. This view is "
            "the output of a function that returns multiple views. Such functions do not allow the output "
            "views to be modified inplace. You should replace the inplace operation by an out-of-place one."
        ),
        code="""\
import torch

x = torch.arange(4.0, requires_grad=True)
first, second = (x * 1).split(2)
first *= 10
""",
        en=(
            "One node, SplitBackward0, has returned several views of one tensor. Editing a view changes "
            "the graph of the tensor behind it (the node CopySlices) and gives the view a new `grad_fn`; "
            "torch does not do that for views that came out of one node together. It refuses so after "
            "`split`, `chunk`, `unbind`, and in a loop over the rows of a tensor, when that tensor "
            "requires grad."
        ),
        zh=(
            "SplitBackward0 一个节点返回了同一个张量的好几个视图。修改视图要改动原张量的图（换上 "
            "CopySlices 节点），还要给视图换 `grad_fn`；对同一个节点一起返回的视图，torch 不这样做。张量需"
            "要梯度时，改 `split`、`chunk`、`unbind` 的结果，或者用 for 循环逐行取出来再改，都会这样报错。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.arange(4.0, requires_grad=True)
first, second = (x * 1).split(2)
first = first * 10
torch.cat([first, second]).sum().backward()
print(x.grad)
""",
                en=(
                    "Make a new tensor, `first = first * 10`, and put the parts together with `torch.cat` "
                    "or `torch.stack`. This is right when the parts are used as values."
                ),
                zh=(
                    "新建张量：`first = first * 10`，要合起来就用 `torch.cat` 或 `torch.stack`。各段只是当"
                    "作值来用时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

x = torch.arange(4.0, requires_grad=True)
base = x * 1
base[:2] *= 10
base.sum().backward()
print(x.grad)
""",
                en=(
                    "Take the parts one at a time by indexing, `base[:2]`: each is a view with a node of "
                    "its own and may be edited. This is right when the whole tensor should change. (It "
                    "must not be a leaf.)"
                ),
                zh=(
                    "用下标一段一段地取，比如 `base[:2]`：每个视图有自己的节点，可以改。要让整个张量跟着变"
                    "时，用这个办法。（这个张量不能是叶子。）"
                ),
            ),
        ),
        page="practice/in_place_and_views#pieces",
    ),
    Error(
        id="no-grad-view-in-place",
        message=(
            "RuntimeError: A view was created in no_grad mode and is being modified inplace with grad mode "
            "enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You can "
            "clarify your code by moving both the view and the inplace either both inside the no_grad "
            "block (if you don't want the inplace to be tracked) or both outside (if you want the inplace "
            "to be tracked)."
        ),
        code="""\
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
h = x * 2
with torch.no_grad():
    part = h[:2]
part *= 10
""",
        en=(
            "`part` is a view of `h`, taken while nothing was recorded: no node leads from it to `h`. Now "
            "recording is on, and the edit changes the memory of `h`. torch cannot tell whether the graph "
            "of `h` should contain it, and refuses to guess."
        ),
        zh=(
            "`part` 是 `h` 的视图，取它的时候没有记录，所以没有节点从它通向 `h`。现在记录开着，这次修改会改"
            "到 `h` 的内存。该不该算进 `h` 的图，torch 判断不了，干脆拒绝。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
h = x * 2
part = h[:2]
part *= 10
h.sum().backward()
print(x.grad)
""",
                en=(
                    "Take the view outside the `torch.no_grad()` block, where it is edited. This is right "
                    "when the gradient should know of the edit. (If `h` is a leaf, clone it first.)"
                ),
                zh=(
                    "把取视图的那一行移到 `torch.no_grad()` 外面，跟修改放在一起。梯度里要算上这次修改时，"
                    "用这个办法。（`h` 是叶子的话，先克隆一份。）"
                ),
            ),
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
h = x * 2
with torch.no_grad():
    part = h[:2]
    part *= 10
h.sum().backward()
print(h.tolist(), x.grad)
""",
                en=(
                    "Edit the view inside the `torch.no_grad()` block too. This is right when only the "
                    "values should change: the edit gets no node, so the gradient leaves it out, while "
                    "later operations use the new values."
                ),
                zh=(
                    "修改也放进 `torch.no_grad()`。只想改数值时，用这个办法：这次修改没有节点，梯度里不算"
                    "它，后面的运算用的却是新值。"
                ),
            ),
        ),
        page="learn/leaf_tensors#no-grad-view",
    ),
    Error(
        id="out-argument",
        message=(
            "RuntimeError: {name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        ),
        code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
result = torch.empty(2)
torch.add(x, 1, out=result)
""",
        en=(
            "With `out=` the values go into a tensor that is there already, and the call is not recorded: "
            "no node would lead from `result` to `x`. So torch refuses when an argument requires grad, the "
            "one behind `out=` included, and recording is on. If a DataLoader's worker raised it, naming "
            "`stack()`, the samples require grad."
        ),
        zh=(
            "写了 `out=`，数值就放进已有的张量，这次调用不会记录，`result` 也就没有节点通向 `x`。所以记录开"
            "着的时候，只要有一个参数需要梯度（`out=` 后面的也算），torch 就拒绝。如果是 DataLoader 的 "
            "worker 报的错，写的是 `stack()`，说明样本自己需要梯度。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
result = torch.add(x, 1)
result.sum().backward()
print(x.grad)
""",
                en=(
                    "Drop `out=` and use the returned tensor, which has a `grad_fn`. This is right when "
                    "the gradient is needed."
                ),
                zh="不写 `out=`，直接用返回的张量，它有 `grad_fn`。需要梯度时，用这个办法。",
            ),
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
result = torch.empty(2)
torch.add(x.detach(), 1, out=result)
print(result)
""",
                en=(
                    "Pass `x.detach()`, or call inside a `torch.no_grad()` block. This is right when only "
                    "the values are wanted; a Dataset too should return detached samples."
                ),
                zh=(
                    "传入 `x.detach()`，或者放进 `torch.no_grad()`。只要数值时，用这个办法；Dataset 返回的"
                    "样本也应该先 `detach()`。"
                ),
            ),
        ),
        page="practice/in_place_and_views#view-of-leaf",
    ),
    Error(
        id="view-of-transposed",
        message=(
            "RuntimeError: view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        ),
        code="""\
import torch

x = torch.arange(6.0, requires_grad=True)
x.view(2, 3).t().view(6)
""",
        en=(
            "`view` gives its result the memory, and the version counter, of its input; it copies nothing. "
            "After `t()` the values do not lie in the order that the new shape asks for, so there is no "
            "such view. During `backward()` the message most likely comes from a hook or a custom "
            "`backward` that calls `view` on a gradient: a gradient need not be contiguous, even where its "
            "tensor is."
        ),
        zh=(
            "`view` 不复制数据，结果和输入共用内存，也共用版本计数器。经过 `t()`，数据在内存里的顺序和新形"
            "状要的对不上，这样的视图不存在。如果是 `backward()` 途中报的错，多半是 hook 或自定义的 "
            "`backward` 对梯度调用了 `view`：张量是连续的，它的梯度也不一定连续。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.arange(6.0, requires_grad=True)
y = x.view(2, 3).t().reshape(6)
(y * torch.arange(6.0)).sum().backward()
print(x.grad)
""",
                en=(
                    "Call `reshape` instead of `view`: it copies where it must, and the gradient flows "
                    "back through the copy. This is right unless you count on shared memory."
                ),
                zh=(
                    "把 `view` 换成 `reshape`：需要时它会复制，梯度照样能经过副本传回去。只要不指望共用内"
                    "存，就用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

x = torch.arange(6.0, requires_grad=True)
copy = x.view(2, 3).t().contiguous()
y = copy.view(6)
print(copy.grad_fn.name(), y.grad_fn.name())
""",
                en=(
                    "Call `contiguous()` first and `view` on the copy. This is right when the result has "
                    "to be a view, or when the copy should be seen in the code."
                ),
                zh=(
                    "先调用 `contiguous()`，再对副本调用 `view`。结果必须是视图，或者想在代码里看得出这里有"
                    "一次复制时，用这个办法。"
                ),
            ),
        ),
        page="practice/in_place_and_views#copy-slices",
    ),
    Error(
        id="expanded-in-place",
        message=(
            "RuntimeError: unsupported operation: more than one element of the written-to tensor refers to "
            "a single memory location. Please clone() the tensor before performing the operation."
        ),
        code="""\
import torch

x = torch.tensor([1.0], requires_grad=True)
rows = (x * 1).expand(3)
rows += torch.tensor([1.0, 2.0, 3.0])
""",
        en=(
            "`expand` copies nothing: the three elements of `rows` are one place in memory, and an edit of "
            "one would change all three. On the graph they are told apart (ExpandBackward0 adds up their "
            "three gradients), in memory they are not, so torch refuses `+=` and most other writes, on "
            "tensors that do not require grad too. It lets `rows[0] = 5` and `fill_` pass: they change all "
            "three."
        ),
        zh=(
            "`expand` 不复制数据：`rows` 的三个元素在内存里是同一处，改一个，另外两个也跟着变。图上分得开三"
            "个元素（ExpandBackward0 会把它们的三份梯度加起来），内存里分不开，所以 `+=` 和大多数写入都会被"
            "拒绝，不需要梯度的张量也一样。`rows[0] = 5` 和 `fill_` 不会报错，但三个元素会一起变。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor([1.0], requires_grad=True)
rows = (x * 1).expand(3).clone()
rows += torch.tensor([1.0, 2.0, 3.0])
rows.sum().backward()
print(rows.tolist(), x.grad)
""",
                en=(
                    "Call `clone()` after `expand`: every element gets memory of its own. This is right "
                    "when the expanded tensor is edited more than once."
                ),
                zh=(
                    "`expand` 之后调用 `clone()`，每个元素就有了自己的内存。展开之后还要多次修改时，用这个"
                    "办法。"
                ),
            ),
            Repair(
                code="""\
import torch

x = torch.tensor([1.0], requires_grad=True)
rows = x.expand(3) + torch.tensor([1.0, 2.0, 3.0])
rows.sum().backward()
print(rows.tolist(), x.grad)
""",
                en=(
                    "Write the operation out of place: `rows = rows + …` makes a new tensor. This is right "
                    "for a single edit."
                ),
                zh="不要原地改，写成 `rows = rows + …`，得到新的张量。只改一次时，用这个办法。",
            ),
        ),
        page="practice/in_place_and_views#copy-slices",
    ),
)
