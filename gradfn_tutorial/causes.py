"""What ``why_no_grad`` says, in each language."""

from __future__ import annotations

# For each cause and language: what is the matter, and what to do.
TEXTS: dict[str, dict[str, tuple[str, str]]] = {
    "has-grad": {
        "en": (
            "{tensor} has a gradient; .grad is: {grad}.",
            "Nothing is missing. To begin anew, set .grad to None or call zero_grad().",
        ),
        "zh": (
            "{tensor}有梯度，.grad 是：{grad}。",
            "什么也不缺。想从头开始，就把 .grad 设成 None，或者调用 zero_grad()。",
        ),
    },
    "torch-func": {
        "en": (
            "{tensor} is a wrapper made by a torch.func transform, and a transform returns gradients instead of "
            "filling .grad.",
            "Use what torch.func.grad() returns, or compute the loss outside the transform and call backward().",
        ),
        "zh": (
            "{tensor}是 torch.func 的变换做的包装，而变换直接返回梯度，不填 .grad。",
            "用 torch.func.grad() 的返回值；或者在变换外面算 loss，再调用 backward()。",
        ),
    },
    "stale-view": {
        "en": (
            "{tensor} is a view whose base was modified in place after the view was taken, and torch refuses to "
            "compute with such a view.",
            "Take the view after the in-place operation, or replace that operation by one that makes a new tensor. A "
            "view is no leaf: for its own gradient, call retain_grad() on it before backward().",
        ),
        "zh": (
            "{tensor}是视图，取出之后它的原张量被原地修改过，torch 不允许再用这样的视图计算。",
            "在原地操作之后再取视图，或者把原地操作换成产生新张量的运算。视图不是叶子：想要它自己的梯度，就在 backward() "
            "之前对它调用 retain_grad()。",
        ),
    },
    "inference-tensor": {
        "en": (
            "{tensor} was made in inference_mode, and is outside autograd for good.",
            "Make it outside inference_mode, or run the forward pass on a copy made outside: "
            "tensor.clone().requires_grad_().",
        ),
        "zh": (
            "{tensor}是在 inference_mode 里产生的，从此与 autograd 无关。",
            "在 inference_mode 外面创建它；或者在外面复制一份再做前向传播：tensor.clone().requires_grad_()。",
        ),
    },
    "dtype": {
        "en": (
            "{tensor} has dtype {dtype}, and only floating-point and complex tensors can have a gradient.",
            "Convert it, mark the result, and run the forward pass on that: tensor.float().requires_grad_().",
        ),
        "zh": (
            "{tensor}的 dtype 是 {dtype}，只有浮点和复数张量才能有梯度。",
            "先转换，再打开标志，用得到的张量做前向传播：tensor.float().requires_grad_()。",
        ),
    },
    "turned-off-after-forward": {
        "en": (
            "The loss's graph leads to {tensor}, but its requires_grad was set to False after the forward pass, and "
            "backward() passes such a leaf over.",
            "Call tensor.requires_grad_() before backward().",
        ),
        "zh": (
            "loss 的图通到{tensor}，但前向传播之后它的 requires_grad 被设成了 False，backward() 会跳过这样的叶子。",
            "在 backward() 之前调用 tensor.requires_grad_()。",
        ),
    },
    "requires-grad-off": {
        "en": (
            "{tensor} has requires_grad=False: it was made that way, frozen, detached, or computed with grad mode off "
            "or from nothing that requires grad, which look alike afterwards.",
            "Call tensor.requires_grad_() before the forward pass. If an operation made it and the gradient should go "
            "on through it, compute it undetached, with grad mode on, from a tensor that requires grad.",
        ),
        "zh": (
            "{tensor}的 requires_grad 是 False：它生来如此、被冻结、被 detach，或者计算时梯度模式关着、输入都不需要梯度，"
            "事后看不出是哪一种。",
            "在前向传播之前调用 tensor.requires_grad_()。如果它是算出来的，而且梯度要继续往回传，就打开梯度模式，"
            "不要 detach，用需要梯度的张量来算它。",
        ),
    },
    "no-grad-view": {
        "en": (
            "{tensor} is a view, taken with grad mode off, of a tensor of shape {base}: its requires_grad is only the "
            "base's, and no graph leads to it.",
            "Take the view with grad mode on, call retain_grad() on it, and compute the loss from it. If the loss is "
            "computed from the base instead, the gradient goes there, and .grad keeps it if the base is a leaf or "
            "retains it too.",
        ),
        "zh": (
            "{tensor}是在梯度模式关闭时取的视图，原张量形状 {base}：它的 requires_grad 只是原张量的，没有计算图通到它。",
            "打开梯度模式再取视图，对它调用 retain_grad()，并用它来算 loss。如果 loss 是用原张量算的，梯度就在原张量那里："
            "原张量是叶子，或者也调用过 retain_grad()，它的 .grad 才会留着。",
        ),
    },
    "loss-has-no-graph": {
        "en": (
            "The loss has no graph: its grad_fn is None, because grad mode was off, nothing it was computed from "
            "requires grad, or it was cut off (detach(), .data, .item(), argmax()).",
            "Compute the loss with grad mode on, by differentiable operations, from tensors that require grad; "
            "loss.requires_grad_() does not bring the graph back.",
        ),
        "zh": (
            "loss 没有计算图：它的 grad_fn 是 None，原因是梯度模式关着、参与计算的张量都不需要梯度，"
            "或者半路被切断了（detach()、.data、.item()、argmax()）。",
            "打开梯度模式，用需要梯度的张量和可求导的运算来算 loss；loss.requires_grad_() 找不回计算图。",
        ),
    },
    "parametrized": {
        "en": (
            "{tensor} was made by {node} from {names} alone: a parametrized weight is computed anew at each access, "
            "so it is no leaf.",
            "Read the .grad of {names}; or, to get its own, keep one result under "
            "torch.nn.utils.parametrize.cached() and call retain_grad() on it before the forward pass.",
        ),
        "zh": (
            "{tensor}由 {node} 对应的运算只用 {names} 算出：参数化的权重每次访问都重新计算，所以不是叶子。",
            "读 {names} 的 .grad；想要权重本身的梯度，就在 torch.nn.utils.parametrize.cached() 里固定一份结果，"
            "并在前向传播之前对它调用 retain_grad()。",
        ),
    },
    "compiled": {
        "en": (
            "The loss's graph does not lead to {tensor}, but it holds {names}, one node for all operations of a compiled "
            "function: a way to the tensor may lie inside, where no gradient is handed out.",
            "Compute the loss without torch.compile or torch.jit, and call retain_grad() on the tensor before "
            "backward().",
        ),
        "zh": (
            "loss 的图不通到{tensor}，但图里有 {names}，编译后的函数的全部运算合成了这样一个节点：通到这个张量的路可能在它里面，"
            "那里的梯度拿不出来。",
            "不用 torch.compile 或 torch.jit 来算 loss，并在 backward() 之前对这个张量调用 retain_grad()。",
        ),
    },
    "hidden-in-function": {
        "en": (
            "The loss's graph does not show {tensor}, but it holds {names}, and the inside of a custom Function cannot "
            "be seen: either that uses the tensor, as checkpoint(use_reentrant=True) does with a block's parameters, "
            "and backward() has not run or .grad was cleared since; or the loss gives it no gradient.",
            "Run loss.backward() and look again; or do without the custom Function (checkpoint: use_reentrant=False, "
            "which hides nothing), and ask again.",
        ),
        "zh": (
            "loss 的图里看不到{tensor}，但图里有 {names}，自定义 Function 的内部是看不见的：要么里面用到了这个张量"
            "（checkpoint(use_reentrant=True) 就这样用到块里的参数），而 backward() 还没有运行，或者 .grad 后来被清掉了；"
            "要么 loss 给不了它梯度。",
            "运行 loss.backward() 再看；或者不用自定义 Function（checkpoint 就改用 use_reentrant=False，它什么也不藏），"
            "然后再问一次。",
        ),
    },
    "not-in-module": {
        "en": (
            "{tensor} is none of the module's parameters: the loss's graph leads to those and not to it.",
            "If it was one of them, use the present ones, in the optimizer too: load_state_dict(assign=True) replaces "
            "parameters, and a copy of a module has its own. If it was none, let the loss depend on it.",
        ),
        "zh": (
            "{tensor}不是这个模块的参数：loss 的图通到模块的参数，不通到它。",
            "如果它曾经是，就改用模块现在的参数，优化器里也一样：load_state_dict(assign=True) 会换掉参数，复制出来的模块有自己的"
            "参数。如果从来不是，就让 loss 依赖它。",
        ),
    },
    "not-reached": {
        "en": (
            "The loss's graph does not lead to {tensor}: the loss was computed without it (perhaps from another result "
            "of the same operation), the way was cut (detach(), .data, grad mode off, an operation without a "
            "derivative), or the tensor was changed only afterwards (requires_grad turned on, modified in place).",
            "Run the forward pass again so that the loss depends on the tensor as it is now, by differentiable "
            "operations and with grad mode on.",
        ),
        "zh": (
            "loss 的图不通到{tensor}：算 loss 时没有用到它（用的可能是同一个运算的另一个结果），半路被切断了"
            "（detach()、.data、梯度模式关闭、没有导数的运算），或者张量是后来才改的（打开 requires_grad、原地操作）。",
            "重新做一次前向传播：打开梯度模式，用可求导的运算，让 loss 依赖现在的这个张量。",
        ),
    },
    "non-leaf": {
        "en": (
            "{tensor} is no leaf: {node} made it, and backward() keeps only the gradients of leaves.",
            "Call tensor.retain_grad() before backward(). If it was meant as a leaf, compute it first and call "
            "requires_grad_() last.",
        ),
        "zh": (
            "{tensor}不是叶子：它由 {node} 对应的运算产生，而 backward() 只保留叶子的梯度。",
            "在 backward() 之前调用 tensor.retain_grad()。如果本想要一个叶子，就先算好，最后再调用 requires_grad_()。",
        ),
    },
    "nothing-since-retain-grad": {
        "en": (
            "The loss's graph leads to {tensor}, and nothing has arrived since retain_grad() was called: that came "
            "after backward(), or backward() has not run, or .grad was cleared, or autograd.grad() or inputs= took the "
            "gradients elsewhere, or an operation on the way gave none. These look alike.",
            "In this order: forward pass, retain_grad(), loss.backward(), read .grad.",
        ),
        "zh": (
            "loss 的图通到{tensor}，但调用 retain_grad() 之后没有梯度到达：retain_grad() 晚于 backward()，或 backward() "
            "还没有运行，或 .grad 被清掉了，或梯度被 autograd.grad()、inputs= 取到别处去了，或途中某个运算没有给出梯度。"
            "这几种从外面分不清。",
            "按这个顺序：前向传播，retain_grad()，loss.backward()，读 .grad。",
        ),
    },
    "backward-not-run-or-cleared": {
        "en": (
            "The loss's graph leads to {tensor}: backward() has not run on this loss, or .grad was set to None since "
            "(zero_grad()), or autograd.grad() or inputs= took the gradients elsewhere, or an operation on the way "
            "gave none. These look alike.",
            "Call loss.backward(), after a new forward pass if it has run before, and read .grad before zero_grad().",
        ),
        "zh": (
            "loss 的图通到{tensor}：backward() 还没有在这个 loss 上运行，或 .grad 后来被设成了 None"
            "（zero_grad()），或梯度被 autograd.grad()、inputs= 取到别处去了，或途中某个运算没有给出梯度。这几种从外面分不清。",
            "调用 loss.backward()（之前运行过，就先重新做前向传播），在 zero_grad() 之前读 .grad。",
        ),
    },
    "loss-not-given": {
        "en": (
            "{tensor} can have a gradient and has none: no backward() has run that could bring it one, or .grad was "
            "cleared since.",
            "Pass the loss that you call backward() on, which tells more: why_no_grad(tensor, loss).",
        ),
        "zh": (
            "{tensor}可以有梯度，但现在没有：还没有能把梯度传给它的 backward() 运行过，或者 .grad 后来被清掉了。",
            "把调用 backward() 的 loss 也传进来，才能知道更多：why_no_grad(tensor, loss)。",
        ),
    },
}
CAUSES = tuple(TEXTS)
# Where these are mended, a tensor that is no leaf would still keep no gradient.
FAULT_OF_LOSS = ("loss-has-no-graph", "hidden-in-function", "not-reached")
RETAIN_TOO = {
    "en": " The tensor is no leaf: call retain_grad() on it too, before backward().",
    "zh": "这个张量不是叶子：还要在 backward() 之前对它调用 retain_grad()。",
}
COMMA = {"en": ", ", "zh": "、"}
NAMES = {
    "en": {
        "Parameter": "parameter {name} of shape {shape}",
        "Buffer": "buffer {name} of shape {shape}",
        "Tensor": "this tensor of shape {shape}",
        "loss": "the loss of shape {shape}",
    },
    "zh": {
        "Parameter": "参数 {name}（形状 {shape}）",
        "Buffer": "缓冲区 {name}（形状 {shape}）",
        "Tensor": "这个张量（形状 {shape}）",
        "loss": "loss（形状 {shape}）",
    },
}
