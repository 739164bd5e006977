"""Messages about inference mode, ``torch.func``, checkpointing, compiling, mixed precision and saving."""

from __future__ import annotations

from gradfn_tutorial.errors.entry import Error, Repair

ERRORS: tuple[Error, ...] = (
    Error(
        id="inference-saved",
        message=(
            "RuntimeError: Inference tensors cannot be saved for backward. Please do not use Tensors "
            "created in inference mode in computation tracked by autograd. To work around this, you can "
            "make a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead "
            "of `torch.inference_mode()`."
        ),
        code="""\
import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.inference_mode():
    x = torch.tensor([3.0, 4.0])
w * x
""",
        en=(
            "The gradient of `w` is computed from `x`, so the product's node wants to save `x`. A saved "
            "tensor is checked by its version counter, and a tensor made in `inference_mode()` has none. "
            "Operations that save nothing, such as an addition, accept it."
        ),
        zh=(
            "算 `w` 的梯度要用到 `x`，所以乘法的节点要保存 `x`。已保存张量有没有被改过，靠版本计数器检查，"
            "而 `inference_mode()` 里产生的张量没有版本计数器。加法这样什么也不保存的运算，可以用它。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    x = torch.tensor([3.0, 4.0])
(w * x).sum().backward()
print(w.grad)
""",
                en=(
                    "Make the tensor under `torch.no_grad()` instead of `torch.inference_mode()`. This is "
                    "right when the result is used in training later."
                ),
                zh=(
                    "把 `torch.inference_mode()` 换成 `torch.no_grad()`。结果以后还要用来训练时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.inference_mode():
    x = torch.tensor([3.0, 4.0])
(w * x.clone()).sum().backward()
print(w.grad)
""",
                en=(
                    "Call `clone()` outside the `inference_mode()` block: the copy is an ordinary tensor. "
                    "This is right when you cannot change where the tensor is made."
                ),
                zh=(
                    "在 `inference_mode()` 外面 `clone()` 一份，副本就是普通张量。产生张量的那段代码改不了"
                    "时，用这个办法。"
                ),
            ),
        ),
        page="practice/turning_it_off#inference",
        also=(
            "RuntimeError: Inference tensors cannot be saved for backward. To work around you can make a "
            "clone to get a normal tensor and use it in autograd.",
        ),
    ),
    Error(
        id="inference-in-place",
        message=(
            "RuntimeError: Inplace update to inference tensor outside InferenceMode is not allowed.You can "
            "make a clone to get a normal tensor before doing inplace update.See "
            "https://github.com/pytorch/rfcs/pull/17 for more details."
        ),
        code="""\
import torch

with torch.inference_mode():
    x = torch.tensor([3.0, 4.0])
x += 1
""",
        en=(
            "Outside `inference_mode()` an in-place operation has to raise the tensor's version counter, "
            "so that a node that saved the tensor would notice. An inference tensor has no counter to "
            "raise."
        ),
        zh=(
            "出了 `inference_mode()`，原地操作必须让张量的版本计数器增加，这样保存过它的节点才发现得了。推"
            "理张量没有版本计数器，没法增加。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

with torch.inference_mode():
    x = torch.tensor([3.0, 4.0])
x = x + 1
print(x, x.is_inference())
""",
                en=(
                    "Write it out of place, `x = x + 1`, or clone first: both give an ordinary tensor. "
                    "This is right when you go on working outside."
                ),
                zh=(
                    "不要原地改，写成 `x = x + 1`，或者先 `clone()`：得到的都是普通张量。后面的计算都在外面"
                    "进行时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

with torch.inference_mode():
    x = torch.tensor([3.0, 4.0])
    x += 1
print(x, x.is_inference())
""",
                en=(
                    "Move the edit into the `inference_mode()` block. This is right when the edit belongs "
                    "to the inference."
                ),
                zh="把修改移进 `inference_mode()`。这次修改本来就属于推理时，用这个办法。",
            ),
        ),
        page="practice/turning_it_off#inference",
    ),
    Error(
        id="inference-requires-grad",
        message=(
            "RuntimeError: Setting requires_grad=True on inference tensor outside InferenceMode is not "
            "allowed."
        ),
        code="""\
import torch

with torch.inference_mode():
    x = torch.tensor([3.0, 4.0])
x.requires_grad_()
""",
        en=(
            "A leaf that requires grad gets an AccumulateGrad node, and its gradient in `.grad`. A tensor "
            "made in `inference_mode()` stays outside autograd for good: it cannot become such a leaf."
        ),
        zh=(
            "需要梯度的叶子张量会有 AccumulateGrad 节点，梯度放进 `.grad`。`inference_mode()` 里产生的张量"
            "永远在 autograd 之外，当不了这样的叶子。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

with torch.inference_mode():
    x = torch.tensor([3.0, 4.0])
x = x.clone().requires_grad_()
(x**2).sum().backward()
print(x.grad)
""",
                en=(
                    "Clone it outside the block and set the flag on the copy, "
                    "`x.clone().requires_grad_()`. This is right when the tensor is given to you."
                ),
                zh=(
                    "在外面克隆一份，给副本打开标志：`x.clone().requires_grad_()`。张量是别处给你的时，用这"
                    "个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

with torch.no_grad():
    x = torch.tensor([3.0, 4.0])
x.requires_grad_()
(x**2).sum().backward()
print(x.grad)
""",
                en=(
                    "Make the tensor under `torch.no_grad()` instead: it is an ordinary leaf, and the flag "
                    "can be set afterwards. This is right when you know that a gradient will be wanted."
                ),
                zh=(
                    "换成在 `torch.no_grad()` 里产生：它是普通的叶子张量，之后可以打开标志。早知道要用它的"
                    "梯度时，用这个办法。"
                ),
            ),
        ),
        page="practice/turning_it_off#inference",
    ),
    Error(
        id="checkpoint-no-input-grad",
        message="UserWarning: None of the inputs have requires_grad=True. Gradients will be None",
        code="""\
import torch
from torch.utils.checkpoint import checkpoint

layer = torch.nn.Linear(2, 1)
checkpoint(layer, torch.ones(1, 2), use_reentrant=True)
""",
        en=(
            "With `use_reentrant=True` the block becomes one node with edges to the tensors that are "
            "passed in, not to the block's parameters. None of those requires grad, so no node is made: "
            "the result has no `grad_fn`, and the parameters get no gradient. The warning is harmless only "
            "if the block needs none."
        ),
        zh=(
            "`use_reentrant=True` 时，整段模型只有一个节点，它的边只通向传入的张量，不通向参数。传入的张量"
            "都不需要梯度，节点就不会产生：结果没有 `grad_fn`，参数也得不到梯度。只有这段模型本来就不需要梯"
            "度，这条警告才无害。"
        ),
        repairs=(
            Repair(
                code="""\
import torch
from torch.utils.checkpoint import checkpoint

layer = torch.nn.Linear(2, 1)
checkpoint(layer, torch.ones(1, 2), use_reentrant=False).sum().backward()
print(layer.weight.grad)
""",
                en=(
                    "Pass `use_reentrant=False`: the graph is then the one of your code, parameters "
                    "included. This is right unless something forces the other kind on you."
                ),
                zh=(
                    "传 `use_reentrant=False`：图和代码一致，参数也在里面。只要没有什么非用另一种不可，就用"
                    "这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch
from torch.utils.checkpoint import checkpoint

layer = torch.nn.Linear(2, 1)
x = torch.ones(1, 2, requires_grad=True)
checkpoint(layer, x, use_reentrant=True).sum().backward()
print(layer.weight.grad)
""",
                en=(
                    "Let an input require grad, with `x.requires_grad_()`: the node is made and backward "
                    "reaches the parameters. This is right when a library calls `checkpoint` with "
                    "`use_reentrant=True` for you."
                ),
                zh=(
                    "让某个输入需要梯度：`x.requires_grad_()`，节点就会产生，反向传播能到参数。"
                    "`checkpoint` 由某个库来调用、写死了 `use_reentrant=True` 时，用这个办法。"
                ),
            ),
        ),
        page="practice/not_what_you_wrote#inputs",
    ),
    Error(
        id="checkpoint-use-reentrant",
        message=(
            "UserWarning: torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
            "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception. "
            "use_reentrant=False is recommended, but if you need to preserve the current default behavior, "
            "you can pass use_reentrant=True. Refer to docs for more details on the differences between "
            "the two variants."
        ),
        code="""\
import torch
from torch.utils.checkpoint import checkpoint

x = torch.tensor([1.0, 2.0], requires_grad=True)
checkpoint(torch.square, x)
""",
        en=(
            "`checkpoint` has two kinds, and you did not say which. With False the graph has the nodes of "
            "your code, and their saved tensors are computed again during backward. With True, the default "
            "so far, the block is one node, CheckpointFunctionBackward, which runs the block again and a "
            "backward pass inside."
        ),
        zh=(
            "`checkpoint` 有两种，你没说用哪一种。False：图里就是代码对应的那些节点，它们的已保存张量在反向"
            "传播时重新计算。True（目前的默认值）：整段模型是一个节点 CheckpointFunctionBackward，由它重跑"
            "这段模型，再在内部做一次反向传播。"
        ),
        repairs=(
            Repair(
                code="""\
import torch
from torch.utils.checkpoint import checkpoint

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = checkpoint(torch.square, x, use_reentrant=False)
y.sum().backward()
print(y.grad_fn.name(), x.grad)
""",
                en=(
                    "Pass `use_reentrant=False`, as torch recommends. This is right for new code: "
                    "`torch.autograd.grad` works, and inputs need not require grad."
                ),
                zh=(
                    "传 `use_reentrant=False`，这也是 torch 推荐的。新代码都用这个办法："
                    "`torch.autograd.grad` 能用，输入也不必需要梯度。"
                ),
            ),
            Repair(
                code="""\
import torch
from torch.utils.checkpoint import checkpoint

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = checkpoint(torch.square, x, use_reentrant=True)
y.sum().backward()
print(y.grad_fn.name(), x.grad)
""",
                en=(
                    "Pass `use_reentrant=True`. This is right when old code has to behave exactly as before."
                ),
                zh="传 `use_reentrant=True`。旧代码的行为必须和从前完全一样时，用这个办法。",
            ),
        ),
        page="practice/not_what_you_wrote#checkpoint",
        also=(
            (
                "UserWarning: torch.utils.checkpoint: the use_reentrant parameter should be passed "
                "explicitly. In version 2.5 we will raise an exception if use_reentrant is not passed. "
                "use_reentrant=False is recommended, but if you need to preserve the current default "
                "behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
                "differences between the two variants."
            ),
            (
                "UserWarning: torch.utils.checkpoint: the use_reentrant parameter should be passed "
                "explicitly. In a future release, calling checkpoint without use_reentrant will raise an "
                "exception. use_reentrant=False is recommended, but if you need to preserve the current "
                "default behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
                "differences between the two variants."
            ),
        ),
    ),
    Error(
        id="checkpoint-metadata",
        message=(
            "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: Recomputed values for the "
            "following tensors have different metadata than during the forward pass.\n"
            "{text}.\n\n"
            "Tip: To see a more detailed error message, either pass `debug=True` to\n"
            "`torch.utils.checkpoint.checkpoint(...)` or wrap the code block\n"
            "with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\n"
            "enable checkpoint‑debug mode globally.\n\n"
            "If this error occurs under torch.compile with automatic_dynamic_shapes enabled,\n"
            "it may be because the recomputation selected a different compiled graph than the\n"
            "forward pass (e.g., a dynamic graph instead of the original static graph).\n"
            "To fix this, either:\n"
            "  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as\n"
            "    dynamic upfront, avoiding the static-to-dynamic transition.\n"
            "  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache\n"
            "    reordering, which can change which graph is checked first between forward\n"
            "    and recompute.\n"
            "See https://github.com/pytorch/pytorch/issues/166926 for more details and\n"
            "workaround examples."
        ),
        code="""\
import torch
from torch.utils.checkpoint import checkpoint

size = 2


def block(x):
    return x.expand(size) * x


y = checkpoint(block, torch.tensor([1.0], requires_grad=True), use_reentrant=False)
size = 3
y.sum().backward()
""",
        en=(
            "The nodes inside a checkpointed block keep no saved tensors; `backward()` runs the block "
            "again to get them. The second run gave a tensor of another shape, dtype or device than the "
            "first, so it is not what the node worked with. What the block reads had changed in between: "
            "here the global `size`. A cache or a counter that the block itself changes does the same."
        ),
        zh=(
            "激活重计算的那段模型，节点里不留已保存张量，`backward()` 要用时把这段再跑一遍。第二遍得到的张"
            "量，形状、dtype 或设备和第一遍不同，就不是节点当初用的那个。原因是两遍之间，这段模型要读的东西"
            "变了，这里是全局变量 `size`；这段模型自己会改的缓存、计数器，也会这样。"
        ),
        repairs=(
            Repair(
                code="""\
import torch
from torch.utils.checkpoint import checkpoint


def block(x, size):
    return x.expand(size) * x


x, size = torch.tensor([1.0], requires_grad=True), 2
y = checkpoint(block, x, size, use_reentrant=False)
size = 3
y.sum().backward()
print(x.grad)
""",
                en=(
                    "Pass everything that the block depends on as an argument of `checkpoint`, which keeps "
                    "it for the second run. This is right for lengths, masks and other settings; switch a "
                    "cache off."
                ),
                zh=(
                    "这段模型依赖的东西都作为参数传给 `checkpoint`，它会留到第二遍用。长度、掩码之类的设"
                    "置，用这个办法；缓存则要关掉。"
                ),
            ),
            Repair(
                code="""\
import torch
from torch.utils.checkpoint import checkpoint

size = 2


def block(x):
    return x.expand(size) * x


x = torch.tensor([1.0], requires_grad=True)
checkpoint(block, x, use_reentrant=False).sum().backward()
size = 3
print(x.grad)
""",
                en=(
                    "Run `backward()` before you change what the block reads. This is right when it reads "
                    "global state that cannot be passed in."
                ),
                zh=(
                    "先跑 `backward()`，再去改这段模型会读的东西。它读的是全局状态、没法当参数传时，用这个"
                    "办法。"
                ),
            ),
        ),
        page="practice/not_what_you_wrote#checkpoint",
        also=(
            "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: Recomputed values for the "
            "following tensors have different metadata than during the forward pass.\n"
            "{text}",
        ),
    ),
    Error(
        id="checkpoint-count",
        message=(
            "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: A different number of tensors "
            "was saved during the original forward and recomputation.\n"
            "Number of tensors saved during forward: {number}\n"
            "Number of tensors saved during recomputation: {number}.\n\n"
            "Tip: To see a more detailed error message, either pass `debug=True` to\n"
            "`torch.utils.checkpoint.checkpoint(...)` or wrap the code block\n"
            "with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\n"
            "enable checkpoint‑debug mode globally.\n\n"
            "If this error occurs under torch.compile with automatic_dynamic_shapes enabled,\n"
            "it may be because the recomputation selected a different compiled graph than the\n"
            "forward pass (e.g., a dynamic graph instead of the original static graph).\n"
            "To fix this, either:\n"
            "  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as\n"
            "    dynamic upfront, avoiding the static-to-dynamic transition.\n"
            "  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache\n"
            "    reordering, which can change which graph is checked first between forward\n"
            "    and recompute.\n"
            "See https://github.com/pytorch/pytorch/issues/166926 for more details and\n"
            "workaround examples."
        ),
        code="""\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

block = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
loss = checkpoint(block, torch.ones(1, 2), use_reentrant=False).sum()
block.eval()
loss.backward()
""",
        en=(
            "`backward()` runs the checkpointed block again for its saved tensors, and the second run "
            "saved fewer of them than the first: it took another path and made other nodes. Here `eval()` "
            "had taken Dropout out in between. A second run that saves more can pass unnoticed, with a "
            "wrong gradient."
        ),
        zh=(
            "`backward()` 会把激活重计算的那段模型再跑一遍，取回已保存张量。第二遍保存的比第一遍少，说明走"
            "的路不一样，产生的节点也不一样。这里是中间调用了 `eval()`，Dropout 不起作用了。第二遍保存得更"
            "多时，可能不报错，梯度却是错的。"
        ),
        repairs=(
            Repair(
                code="""\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

block = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
loss = checkpoint(block, torch.ones(1, 2), use_reentrant=False).sum()
loss.backward()
block.eval()
print(block[0].weight.grad.shape)
""",
                en=(
                    "Switch `train()` and `eval()`, or any flag that the block branches on, only after "
                    "`backward()`. This is right when the order of the calls is yours."
                ),
                zh=(
                    "等 `backward()` 之后再切换 `train()`、`eval()`，或者其他会影响分支的开关。调用顺序由你"
                    "定时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch
from torch import nn

block = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
loss = block(torch.ones(1, 2)).sum()
block.eval()
loss.backward()
print(block[0].weight.grad.shape)
""",
                en=(
                    "Call the block without `checkpoint`: nothing is run again. This is right for a block "
                    "that does not do the same twice, if memory allows."
                ),
                zh=(
                    "不用 `checkpoint`，直接调用，就不会再跑一遍。这段模型每次做的事不一样、内存又够时，用"
                    "这个办法。"
                ),
            ),
        ),
        page="practice/not_what_you_wrote#checkpoint",
        also=(
            "torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: A different number of tensors "
            "was saved during the original forward and recomputation.\n"
            "Number of tensors saved during forward: {number}\n"
            "Number of tensors saved during recomputation: {number}",
        ),
    ),
    Error(
        id="func-backward",
        message=(
            "RuntimeError: backward() called inside a functorch transform. This is not supported, please "
            "use functorch.grad or functorch.vjp instead or call backward() outside of functorch "
            "transforms."
        ),
        code="""\
import torch


def square(x):
    y = x**2
    y.backward()
    return y


torch.func.grad(square)(torch.tensor(3.0))
""",
        en=(
            "Inside `torch.func.grad`, `x` is a wrapper round your tensor, and its graph belongs to the "
            "transform, which runs the backward pass itself once the function has returned. The gradient "
            "is its return value; no `.grad` is filled. Other transforms, such as `torch.vmap`, do not "
            "allow `backward()` inside either."
        ),
        zh=(
            "在 `torch.func.grad` 里，`x` 是包着你的张量的另一个张量，它的图归这个变换管：函数返回之后，由"
            "变换自己跑反向传播。梯度就是变换的返回值，不会填 `.grad`。`torch.vmap` 等别的变换里，也不能调"
            "用 `backward()`。"
        ),
        repairs=(
            Repair(
                code="""\
import torch


def square(x):
    return x**2


print(torch.func.grad(square)(torch.tensor(3.0)))
""",
                en=(
                    "Return the value from the function and leave out `backward()`: `torch.func.grad` "
                    "returns the gradient. This is right for code written for `torch.func`."
                ),
                zh=(
                    "函数只返回数值，不写 `backward()`，梯度由 `torch.func.grad` 返回。代码本来就用 "
                    "`torch.func` 时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

x = torch.tensor(3.0, requires_grad=True)
(x**2).backward()
print(x.grad)
""",
                en=(
                    "Call `backward()` without the transform, on a leaf that requires grad. This is right "
                    "for a training loop that reads `.grad`."
                ),
                zh=(
                    "不用变换，对需要梯度的叶子张量照常调用 `backward()`。训练循环要读 `.grad` 时，用这个办"
                    "法。"
                ),
            ),
        ),
        page="practice/not_what_you_wrote#func",
    ),
    Error(
        id="vmap-item",
        message=(
            "RuntimeError: vmap: It looks like you're calling .item() on a Tensor. We don't support vmap "
            "over calling .item() on a Tensor, please try to rewrite what you're doing with other "
            "operations. If error is occurring somewhere inside PyTorch internals, please file a bug "
            "report."
        ),
        code="""\
import torch


def scale(x):
    return x * x.sum().item()


torch.vmap(scale)(torch.ones(2, 3))
""",
        en=(
            "Inside `torch.vmap`, `x` stands for all samples at once: `x.sum()` has one value per sample, "
            "and `.item()` can give only one number. Without vmap the number would leave the graph, too: "
            "it has no `grad_fn`, and no gradient flows through it."
        ),
        zh=(
            "在 `torch.vmap` 里，`x` 同时代表所有样本：`x.sum()` 每个样本有一个值，`.item()` 却只能给出一个"
            "数。就算不用 vmap，`.item()` 得到的数也脱离了图：它没有 `grad_fn`，梯度不会经过它。"
        ),
        repairs=(
            Repair(
                code="""\
import torch


def scale(x):
    return x * x.sum()


print(torch.vmap(scale)(torch.ones(2, 3)))
""",
                en=(
                    "Leave out `.item()` and compute with the tensor. This is right nearly always, and "
                    "keeps the gradient."
                ),
                zh="去掉 `.item()`，直接用张量计算。几乎都用这个办法，梯度也还在。",
            ),
            Repair(
                code="""\
import torch


def scale(x):
    return x * x.sum().item()


print(torch.stack([scale(x) for x in torch.ones(2, 3)]))
""",
                en=(
                    "Loop over the samples instead, with `torch.stack` at the end. This is right when the "
                    "number goes to code that is not torch's."
                ),
                zh=(
                    "改成逐个样本循环，最后用 `torch.stack` 合起来。这个数要交给 torch 之外的代码时，用这个"
                    "办法。"
                ),
            ),
        ),
        page="learn/vectors_and_jacobians#per-sample",
    ),
    Error(
        id="compile-double-backward",
        message="RuntimeError: torch.compile with aot_autograd does not currently support double backward",
        code="""\
import torch

cube = torch.compile(lambda x: x**3, backend="aot_eager")
x = torch.tensor(3.0, requires_grad=True)
(g,) = torch.autograd.grad(cube(x), x, create_graph=True)
g.backward()
""",
        en=(
            "The compiled function is one node, CompiledFunctionBackward, and its backward is a compiled "
            "graph as well. With `create_graph=True` that backward got a node of its own, the `grad_fn` of "
            "`g`, but nothing was compiled that could differentiate it. So `g.backward()` stops there."
        ),
        zh=(
            "编译后的函数只有一个节点 CompiledFunctionBackward，它的反向传播也是编译好的图。"
            "`create_graph=True` 让这次反向传播也有了自己的节点，就是 `g` 的 `grad_fn`，但没有编译过对它求"
            "导的代码，`g.backward()` 到这里就停了。"
        ),
        repairs=(
            Repair(
                code="""\
import torch


def cube(x):
    return x**3


x = torch.tensor(3.0, requires_grad=True)
(g,) = torch.autograd.grad(cube(x), x, create_graph=True)
g.backward()
print(g.detach(), x.grad)
""",
                en=(
                    "Call the function uncompiled where it is differentiated twice. This is right for a "
                    "gradient penalty or a Hessian-vector product."
                ),
                zh="要求两次导的地方，调用没有编译的函数。梯度惩罚、Hessian-向量积，用这个办法。",
            ),
            Repair(
                code="""\
import torch

slope = torch.compile(torch.func.grad(lambda x: x**3), backend="aot_eager")
x = torch.tensor(3.0, requires_grad=True)
g = slope(x)
g.backward()
print(g.detach(), x.grad)
""",
                en=(
                    "Compile the first derivative, `torch.compile(torch.func.grad(f))`, and let "
                    "`backward()` take the second. This is right when the speed of the compiled code is "
                    "needed."
                ),
                zh=(
                    "编译一阶导数：`torch.compile(torch.func.grad(f))`，二阶交给 `backward()`。需要编译带来"
                    "的速度时，用这个办法。"
                ),
            ),
        ),
        page="practice/not_what_you_wrote#compile",
    ),
    Error(
        id="fp16-gradients",
        message="ValueError: Attempting to unscale FP16 gradients.",
        code="""\
import torch

layer = torch.nn.Linear(2, 1).half()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
loss = layer(torch.ones(1, 2).half()).sum()
scaler.scale(loss).backward()
scaler.step(optimizer)
""",
        en=(
            "By default a leaf's `.grad` has the leaf's dtype: the parameters are float16, so "
            "AccumulateGrad stored float16 gradients. Dividing them by the scale in float16 would bring "
            "back the underflow that scaling is there to prevent, and `unscale_`, which `step` calls, "
            "refuses."
        ),
        zh=(
            "叶子张量的 `.grad` 默认和它自己 dtype 相同：参数是 float16，AccumulateGrad 存下的梯度也是 "
            "float16。在 float16 里除以缩放系数，又会下溢，缩放就白做了，所以 `unscale_`（`step` 会调用它）"
            "拒绝。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

layer = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
with torch.autocast("cpu", dtype=torch.float16):
    loss = layer(torch.ones(1, 2)).sum()
scaler.scale(loss).backward()
scaler.step(optimizer)
print(layer.weight.grad)
""",
                en=(
                    "Keep the parameters in float32 and run the forward pass under `torch.autocast`: the "
                    "gradients are then float32. This is right for mixed-precision training."
                ),
                zh=(
                    "参数保持 float32，前向传播放进 `torch.autocast`，梯度就是 float32。混合精度训练用这个"
                    "办法。"
                ),
            ),
            Repair(
                code="""\
import torch

layer = torch.nn.Linear(2, 1).bfloat16()
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
layer(torch.ones(1, 2).bfloat16()).sum().backward()
optimizer.step()
print(layer.weight.grad)
""",
                en=(
                    "Train in bfloat16 without a scaler: its range is about that of float32, its precision "
                    "lower than float16's. This is right when the parameters have to be 16-bit."
                ),
                zh=(
                    "用 bfloat16 训练，不用 scaler：它的数值范围和 float32 差不多，精度比 float16 低。参数"
                    "只能是 16 位时，用这个办法。"
                ),
            ),
        ),
        page="practice/training_loop#clip-and-scale",
    ),
    Error(
        id="non-leaf-across-processes",
        message=(
            "RuntimeError: Cowardly refusing to serialize non-leaf tensor which requires_grad, since "
            "autograd does not support crossing process boundaries.  If you just want to transfer the "
            "data, call detach() on the tensor before serializing (e.g., putting it on the queue)."
        ),
        code="""\
import torch
import torch.multiprocessing

sender, receiver = torch.multiprocessing.Pipe()
x = torch.tensor([1.0, 2.0], requires_grad=True)
sender.send(x * 2)
""",
        en=(
            "A pipe or a queue of `torch.multiprocessing` pickles what it sends to another process, and "
            "this is the result of an operation. The result's node and all that lies behind it exist in "
            "this process only: over there `backward()` could not reach the leaf `x`. So torch refuses to "
            "cut the graph without being asked."
        ),
        zh=(
            "`torch.multiprocessing` 的管道和队列，把东西发给另一个进程之前要先 pickle，这里发的是一个运算"
            "结果。它的节点，以及节点后面的整张图，只存在于这个进程里；到了那边，`backward()` 到不了叶子 "
            "`x`。torch 不愿意擅自把图切断，所以拒绝。"
        ),
        repairs=(
            Repair(
                code="""\
import torch
import torch.multiprocessing

sender, receiver = torch.multiprocessing.Pipe()
x = torch.tensor([1.0, 2.0], requires_grad=True)
sender.send((x * 2).detach())
print(receiver.recv())
""",
                en=(
                    "Send `detach()` of the result. This is right when the other process needs the values "
                    "only."
                ),
                zh="发送之前先 `detach()`。另一个进程只要数值时，用这个办法。",
            ),
            Repair(
                code="""\
import torch
import torch.multiprocessing

sender, receiver = torch.multiprocessing.Pipe()
x = torch.tensor([1.0, 2.0], requires_grad=True)
(x * 2).sum().backward()
sender.send(x.grad)
print(receiver.recv())
""",
                en=(
                    "Run `backward()` in the process that has the graph, and send the gradient. This is "
                    "right when the other process should have the gradients."
                ),
                zh="在有图的这个进程里跑 `backward()`，把梯度发过去。另一个进程要的是梯度时，用这个办法。",
            ),
        ),
        page="practice/checkpoints#result",
    ),
    Error(
        id="weights-only",
        message=(
            "_pickle.UnpicklingError: Weights only load failed. This file can still be loaded, to do so "
            "you have two options, {text}do those steps only if you trust the source of the "
            "checkpoint{text}. \n\t(1) In PyTorch 2.6, we changed the default value of the `weights_only` "
            "argument in `torch.load` from `False` to `True`. Re-running `torch.load` with `weights_only` "
            "set to `False` will likely succeed, but it can result in arbitrary code execution. Do it only "
            "if you got the file from a trusted source.\n\t(2) Alternatively, to load with "
            "`weights_only=True` please check the recommended steps in the following error message.\n\t"
            "WeightsUnpickler error: Unsupported global: GLOBAL {name} was not an allowed global by "
            "default. Please use `torch.serialization.add_safe_globals([{name}])` or the "
            "`torch.serialization.safe_globals([{name}])` context manager to allowlist this global if you "
            "trust this class/function.\n\n"
            "Check the documentation of torch.load to learn more about types accepted by default with "
            "weights_only https://pytorch.org/docs/stable/generated/torch.load.html."
        ),
        code="""\
import argparse
import io

import torch

file = io.BytesIO()
torch.save({"weight": torch.ones(2), "args": argparse.Namespace(lr=0.1)}, file)
file.seek(0)
torch.load(file)
""",
        en=(
            "The graph has no part in this: a file holds tensors, never nodes. Since torch 2.6 "
            "`torch.load` builds only tensors, plain containers and a few more types by default, because a "
            "pickle can run any code; this file holds an object of another class, named after GLOBAL. A "
            "whole model saved with `torch.save(model)` is refused so, too."
        ),
        zh=(
            "这跟图无关：文件里只有张量，没有节点。pickle 可以执行任意代码，所以从 torch 2.6 起，"
            "`torch.load` 默认只还原张量、普通容器和少数几种别的类型；这个文件里有别的类的对象，类名写在 "
            "GLOBAL 后面。用 `torch.save(model)` 存的整个模型，也会这样被拒绝。"
        ),
        repairs=(
            Repair(
                code="""\
import argparse
import io

import torch

args = argparse.Namespace(lr=0.1)
file = io.BytesIO()
torch.save({"weight": torch.ones(2), "args": vars(args)}, file)
file.seek(0)
print(torch.load(file))
""",
                en=(
                    "Save plain data: `model.state_dict()`, and `vars(args)` instead of the object. This "
                    "is right for files that you write yourself."
                ),
                zh=(
                    "只存普通数据：存 `model.state_dict()`，对象换成 `vars(args)`。文件由你自己写时，用这个"
                    "办法。"
                ),
            ),
            Repair(
                code="""\
import argparse
import io

import torch

file = io.BytesIO()
torch.save({"weight": torch.ones(2), "args": argparse.Namespace(lr=0.1)}, file)
file.seek(0)
with torch.serialization.safe_globals([argparse.Namespace]):
    print(torch.load(file))
""",
                en=(
                    "Allow the class that the message names, with "
                    "`torch.serialization.safe_globals([...])` round `torch.load`. This is right for an "
                    "existing file if you trust that class. `weights_only=False` allows all: only for "
                    "files from a source that you trust."
                ),
                zh=(
                    "用 `torch.serialization.safe_globals([...])` 包住 `torch.load`，放行信息里说的那个类。"
                    "文件已经存好、这个类你也信得过时，用这个办法。`weights_only=False` 会全部放行，只能用"
                    "于来源可信的文件。"
                ),
            ),
        ),
        page="practice/checkpoints#ways",
    ),
)
