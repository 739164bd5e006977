"""Messages about custom Functions, hooks, gradcheck and missing derivatives."""

from __future__ import annotations

from gradfn_tutorial.errors.entry import Error, Repair

ERRORS: tuple[Error, ...] = (
    Error(
        id="function-output-in-place",
        message=(
            "RuntimeError: Output {number} of {node} is a view and is being modified inplace. This view "
            "was created inside a custom Function (or because an input was returned as-is) and the "
            "autograd logic to handle view+inplace would override the custom backward associated with the "
            "custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this "
            "by cloning the output of the custom Function."
        ),
        code="""\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True))
net[0].register_full_backward_hook(lambda layer, grad_input, grad_output: None)
net(torch.ones(1, 2))
""",
        en=(
            "The tensor is a view that a custom Function returned. An in-place edit would change the graph "
            "of the tensor behind it, and the Function's own `backward` would be left out; torch refuses. "
            "`BackwardHookFunction` is not yours: a full backward hook puts this identity Function round "
            "its layer, and an in-place ReLU or a `+=`, in the layer or right after it, edits what it "
            "returned."
        ),
        zh=(
            "这个张量是自定义 Function 返回的视图。原地修改会改动原张量的图，Function 自己的 `backward` 就"
            "会被跳过，所以 torch 拒绝。`BackwardHookFunction` 不是你写的：full backward hook 会在层的前后"
            "套上这个恒等 Function，层里面或紧跟在层后面的原地 ReLU、`+=`，改的正是它的输出。"
        ),
        repairs=(
            Repair(
                code="""\
import torch
from torch import nn

net = nn.Sequential(nn.Identity(), nn.ReLU())
net[0].register_full_backward_hook(lambda layer, grad_input, grad_output: print(grad_output))
x = torch.tensor([1.0, -1.0], requires_grad=True)
net(x).sum().backward()
""",
                en=(
                    "Write that operation out of place: `nn.ReLU()` without `inplace=True`, `x = x + y` "
                    "instead of `x += y`. This is right where that code is yours."
                ),
                zh=(
                    "把这个运算改成非原地的：`nn.ReLU()` 不写 `inplace=True`，`x += y` 写成 `x = x + y`。那"
                    "里的代码归你管时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch
from torch import nn

layer = nn.Identity()
layer.register_full_backward_hook(lambda layer, grad_input, grad_output: print(grad_output))
x = torch.tensor([1.0, -1.0], requires_grad=True)
h = layer(x).clone()
h.relu_().sum().backward()
""",
                en=(
                    "Clone the tensor before the edit; a Function of your own returns "
                    "`x.view(-1).clone()`, say. This is right when the edit has to stay in place. To watch "
                    "a layer without wrapping it, hook its output with `register_hook` instead."
                ),
                zh=(
                    "修改之前先 `clone()` 这个张量；自己写的 Function，就返回 `x.view(-1).clone()` 这样的副"
                    "本。原地修改非留不可时，用这个办法。只想看一层的梯度，可以改为在输出上用 "
                    "`register_hook`，不会套 Function。"
                ),
            ),
        ),
        page="practice/hooks#view",
    ),
    Error(
        id="function-gradient-count",
        message=(
            "RuntimeError: function {node} returned an incorrect number of gradients (expected {number}, "
            "got {number})"
        ),
        code="""\
import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


Scale.apply(torch.ones(2, requires_grad=True), 3).sum().backward()
""",
        en=(
            "ScaleBackward is the node that `apply` made. Its `backward` has to return one value for each "
            "argument of `forward` (not counting `ctx`), in their order: a gradient, or None where there "
            "is none to give, as for the number `factor`. Here one value came for two arguments."
        ),
        zh=(
            "ScaleBackward 是 `apply` 做出来的节点。`forward` 有几个参数（不算 `ctx`），`backward` 就要按顺"
            "序返回几个值：梯度，或者 None（没有梯度可给，比如 `factor` 是个数）。这里两个参数只返回了一个"
            "值。"
        ),
        repairs=(
            Repair(
                code="""\
import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None


x = torch.ones(2, requires_grad=True)
Scale.apply(x, 3).sum().backward()
print(x.grad)
""",
                en=(
                    "Return None for every argument that gets no gradient: `return grad * ctx.factor, "
                    "None`. This is right whenever you need the Function."
                ),
                zh=(
                    "不需要梯度的参数，在它的位置返回 None：`return grad * ctx.factor, None`。确实要写 "
                    "Function 时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch


def scale(x, factor):
    return x * factor


x = torch.ones(2, requires_grad=True)
scale(x, 3).sum().backward()
print(x.grad)
""",
                en=(
                    "Write an ordinary function of torch operations; torch then has the derivative. This "
                    "is right when `forward` only calls operations that torch can differentiate and their "
                    "gradient is the one that you want."
                ),
                zh=(
                    "写成普通函数，由 torch 自己求导。`forward` 里都是 torch 能求导的运算，要的也就是它们的"
                    "梯度时，用这个办法。"
                ),
            ),
        ),
        page="practice/custom_function#loss",
    ),
    Error(
        id="function-gradient-shape",
        message=(
            "RuntimeError: Function {node} returned an invalid gradient at index {number} - got {shape} "
            "but expected shape compatible with {shape}"
        ),
        code="""\
import torch


class MatMul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x)
        return x @ w

    @staticmethod
    def backward(ctx, grad):
        return None, grad.t() @ ctx.saved_tensors[0]


MatMul.apply(torch.ones(4, 2), torch.ones(2, 3, requires_grad=True)).sum().backward()
""",
        en=(
            "The node MatMulBackward returned a gradient of shape [3, 2] for the tensor at index 1 "
            "(counted from 0, tensor arguments alone), and that tensor, `w`, has shape [2, 3]. The engine "
            'checks this before the gradient goes along the edge. "Compatible" means that it is enough if '
            "the tensor's shape broadcasts to the gradient's: the engine then sums the gradient down."
        ),
        zh=(
            "节点 MatMulBackward 给下标 1（只数张量参数，从 0 数起）的张量返回了形状 [3, 2] 的梯度，而这个"
            "张量就是 `w`，形状是 [2, 3]。梯度沿边传下去之前，引擎会检查形状。“compatible”是说：张量的形状"
            "能广播成梯度的形状也可以，引擎会把梯度求和，缩回张量的形状。"
        ),
        repairs=(
            Repair(
                code="""\
import torch


class MatMul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x)
        return x @ w

    @staticmethod
    def backward(ctx, grad):
        return None, ctx.saved_tensors[0].t() @ grad


w = torch.ones(2, 3, requires_grad=True)
MatMul.apply(torch.ones(4, 2), w).sum().backward()
print(w.grad)
""",
                en=(
                    "Correct the formula until each gradient has the shape of its tensor, here `x.t() @ "
                    "grad`, and then run `torch.autograd.gradcheck`: a right shape may still hold wrong "
                    "values."
                ),
                zh=(
                    "改公式，让每个梯度的形状和对应的张量一致，这里是 `x.t() @ grad`。改完再跑 "
                    "`torch.autograd.gradcheck`：形状对了，数值不一定对。"
                ),
            ),
            Repair(
                code="""\
import torch


def matmul(x, w):
    return x @ w


w = torch.ones(2, 3, requires_grad=True)
matmul(torch.ones(4, 2), w).sum().backward()
print(w.grad)
""",
                en=(
                    "Write an ordinary function and let torch find the gradient. This is right unless you "
                    "need a `backward` of your own."
                ),
                zh="写成普通函数，让 torch 去求梯度。没有必要自己写 `backward` 时，用这个办法。",
            ),
        ),
        page="practice/custom_function#gradcheck",
    ),
    Error(
        id="save-non-tensor",
        message="TypeError: save_for_backward can only save variables, but argument {number} is of type {name}",
        code="""\
import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x, factor)
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[1], None


Scale.apply(torch.ones(2, requires_grad=True), 3)
""",
        en=(
            "`save_for_backward` makes saved tensors of the node: torch notes their version, and frees "
            "them after backward. A number has no version and nothing to free, so it is refused; the "
            "message counts the arguments from 0."
        ),
        zh=(
            "交给 `save_for_backward` 的都会成为节点的已保存张量：torch 会记下它们的版本号，反向传播之后释"
            "放。一个数没有版本号，也没有什么可释放，所以不收；信息里的参数从 0 数起。"
        ),
        repairs=(
            Repair(
                code="""\
import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None


x = torch.ones(2, requires_grad=True)
Scale.apply(x, 3).sum().backward()
print(x.grad)
""",
                en=(
                    "Keep it as an attribute, `ctx.factor = factor`. This is right for numbers, shapes, "
                    "flags and strings."
                ),
                zh="存成属性：`ctx.factor = factor`。数字、形状、开关、字符串都用这个办法。",
            ),
            Repair(
                code="""\
import torch


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x, factor)
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        x, factor = ctx.saved_tensors
        return grad * factor, grad * x


x, factor = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0))
Scale.apply(x, factor).backward()
print(x.grad, factor.grad)
""",
                en=(
                    "Pass it to `apply` as a tensor, and `save_for_backward` takes it. This is right when "
                    "it should get a gradient as well."
                ),
                zh="把它做成张量传给 `apply`，`save_for_backward` 就能存。它也要有梯度时，用这个办法。",
            ),
        ),
        page="practice/custom_function#memory",
    ),
    Error(
        id="legacy-function",
        message=(
            "RuntimeError: Legacy autograd function with non-static forward method is deprecated. Please "
            "use new-style autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        ),
        code="""\
import torch


class Double(torch.autograd.Function):
    def forward(self, x):
        return 2 * x

    def backward(self, grad):
        return 2 * grad


Double()(torch.ones(2, requires_grad=True))
""",
        en=(
            "The Function was instantiated and the instance called, as in early versions of torch. Today "
            "the class only holds static methods: `apply` makes a new node for every call and hands it to "
            "them as `ctx`. The message speaks of `forward`, but calling an instance raises it even if the "
            "methods are static."
        ),
        zh=(
            "这里先实例化了 Function，再调用实例，这是很早的写法。现在的 Function 类只放静态方法：每次调用 "
            "`apply` 都会新建一个节点，作为 `ctx` 传给它们。信息里只提到 `forward`，其实方法都写成静态的，"
            "调用实例照样报这个错。"
        ),
        repairs=(
            Repair(
                code="""\
import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad


x = torch.ones(2, requires_grad=True)
Double.apply(x).sum().backward()
print(x.grad)
""",
                en=(
                    "Make `forward` and `backward` static methods that take `ctx`, and call "
                    "`Double.apply(x)`. This is right for old code that needs its own `backward`."
                ),
                zh=(
                    "给 `forward` 和 `backward` 加上 `@staticmethod`，首个参数改成 `ctx`，调用写成 "
                    "`Double.apply(x)`。旧代码确实要有自己的 `backward` 时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch
from torch import nn


class Double(nn.Module):
    def forward(self, x):
        return 2 * x


x = torch.ones(2, requires_grad=True)
Double()(x).sum().backward()
print(x.grad)
""",
                en=(
                    "Make it an `nn.Module`, which is instantiated and called, and drop `backward`. This "
                    "is right when torch can differentiate what `forward` does."
                ),
                zh=(
                    "改成 `nn.Module`，它就是先实例化再调用的，`backward` 也不用写。`forward` 里的运算 "
                    "torch 都会求导时，用这个办法。"
                ),
            ),
        ),
        page="practice/custom_function#write",
    ),
    Error(
        id="function-inside-func",
        message=(
            "RuntimeError: In order to use an autograd.Function with functorch transforms (vmap, grad, "
            "jvp, jacrev, ...), it must override the setup_context staticmethod. For more details, please "
            "see https://pytorch.org/docs/main/notes/extending.func.html"
        ),
        code="""\
import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        return grad * 3 * ctx.saved_tensors[0] ** 2


torch.func.grad(Cube.apply)(torch.tensor(2.0))
""",
        en=(
            "Here `forward` computes and fills `ctx`, which is the node, at the same time. "
            "`torch.func.grad` needs the two apart: it runs `forward` once, and `setup_context` once more "
            "at each level of nesting, with that level's tensors and node. A Function without "
            "`setup_context` is therefore refused, by the other transforms too."
        ),
        zh=(
            "这里的 `forward` 一边计算，一边往 `ctx`（也就是节点）里存东西。`torch.func.grad` 要求两件事分"
            "开：`forward` 只跑一次，`setup_context` 在每一层嵌套上都要再跑一次，用的是那一层的张量和节点。"
            "没有 `setup_context` 的 Function 就用不了，别的变换也一样。"
        ),
        repairs=(
            Repair(
                code="""\
import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        return grad * 3 * ctx.saved_tensors[0] ** 2


print(torch.func.grad(Cube.apply)(torch.tensor(2.0)))
""",
                en=(
                    "Take `ctx` out of `forward` and fill it in a static `setup_context(ctx, inputs, "
                    "output)`. This is right when you may change the Function. (`torch.vmap` and `jvp` ask "
                    "for more: a `vmap` rule, a `jvp` method.)"
                ),
                zh=(
                    "`forward` 不再接收 `ctx`，要存的东西移到静态方法 `setup_context(ctx, inputs, output)` "
                    "里存。Function 归你改时，用这个办法。（`torch.vmap` 和 `jvp` 还要另写 vmap 规则和 "
                    "`jvp` 方法。）"
                ),
            ),
            Repair(
                code="""\
import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        return grad * 3 * ctx.saved_tensors[0] ** 2


x = torch.tensor(2.0, requires_grad=True)
print(torch.autograd.grad(Cube.apply(x), x))
""",
                en=(
                    "Call `torch.autograd.grad` or `backward()` instead of `torch.func.grad`. This is "
                    "right when the Function comes from a library."
                ),
                zh=(
                    "改用 `torch.autograd.grad` 或 `backward()`，不用 `torch.func.grad`。Function 来自别人"
                    "的库时，用这个办法。"
                ),
            ),
        ),
        page="practice/custom_function#loss",
    ),
    Error(
        id="post-accumulate-non-leaf",
        message="RuntimeError: post accumulate grad hooks cannot be registered on non-leaf tensors",
        code="""\
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x * 3
y.register_post_accumulate_grad_hook(print)
""",
        en=(
            "A post-accumulate hook runs when AccumulateGrad has added a gradient to `.grad`. Only a leaf "
            "has that node; `y` has MulBackward0, which passes its gradient on."
        ),
        zh=(
            "post-accumulate hook 要等 AccumulateGrad 把梯度累加到 `.grad` 之后才触发。只有叶子张量才有这个"
            "节点；`y` 的节点是 MulBackward0，梯度只是从它那里传过去。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x * 3
y.register_hook(print)
(5 * y).backward()
""",
                en=(
                    "Use `register_hook` on the result: it is called with the gradient that arrives there. "
                    "This is right for looking at, or changing, the gradient of an intermediate result."
                ),
                zh=(
                    "在结果上改用 `register_hook`，到达那里的梯度会传给它。要看或者要改中间结果的梯度时，用"
                    "这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

x = torch.tensor(2.0, requires_grad=True)
x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
(5 * x * 3).backward()
""",
                en=(
                    "Register the hook on the leaf. This is right when something should happen once its "
                    "`.grad` is complete, such as an optimizer's step."
                ),
                zh=(
                    "把 hook 注册在叶子张量上。想等它的 `.grad` 累加好了再做点什么（比如让优化器更新）时，"
                    "用这个办法。"
                ),
            ),
        ),
        page="practice/hooks#leaf",
    ),
    Error(
        id="once-differentiable",
        message=(
            "RuntimeError: trying to differentiate twice a function that was marked with @once_differentiable"
        ),
        code="""\
import torch
from torch.autograd.function import once_differentiable


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]


x = torch.tensor(2.0, requires_grad=True)
(g,) = torch.autograd.grad(Square.apply(x) ** 2, x, create_graph=True)
g.backward()
""",
        en=(
            "With `create_graph=True` the backward pass is recorded, but `once_differentiable` runs this "
            "`backward` unrecorded and puts a node named Error in its place: it is the `grad_fn` of `g`. "
            "The second backward pass came to that node."
        ),
        zh=(
            "`create_graph=True` 会记录反向传播，而 `once_differentiable` 让这个 `backward` 不带记录地运"
            "行，并在它的位置放一个名叫 Error 的节点，`g` 的 `grad_fn` 就是它。第二次反向传播走到这个节点，"
            "就报错了。"
        ),
        repairs=(
            Repair(
                code="""\
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]


x = torch.tensor(2.0, requires_grad=True)
(g,) = torch.autograd.grad(Square.apply(x) ** 2, x, create_graph=True)
g.backward()
print(g.detach(), x.grad)
""",
                en=(
                    "Take the decorator off, and write `backward` in torch operations on saved inputs and "
                    "outputs; check it with `torch.autograd.gradgradcheck`. This is right when the second "
                    "derivative is needed."
                ),
                zh=(
                    "去掉这个装饰器，`backward` 里只对保存的输入、输出做 torch 运算，再用 "
                    "`torch.autograd.gradgradcheck` 检查。需要二阶导数时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch
from torch.autograd.function import once_differentiable


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]


x = torch.tensor(2.0, requires_grad=True)
(g,) = torch.autograd.grad(Square.apply(x) ** 2, x)
print(g)
""",
                en=(
                    "Leave out `create_graph=True` and the second backward pass. This is right when the "
                    "first derivative is all you need."
                ),
                zh="不写 `create_graph=True`，也不做第二次反向传播。只要一阶导数时，用这个办法。",
            ),
        ),
        page="practice/double_backward#once",
    ),
    Error(
        id="no-derivative",
        message="RuntimeError: derivative for {name} is not implemented",
        code="""\
import torch

x = torch.tensor([3.0, 5.0], requires_grad=True)
y = x // 2
y.sum().backward()
""",
        en=(
            "The operation was recorded as a node named NotImplemented: torch has no derivative for it, "
            "and says so only when a gradient arrives there. The name in the message is the operation's. "
            "If it ends in `_backward`, as after attention, the node belongs to a recorded backward pass: "
            "a second derivative was asked for."
        ),
        zh=(
            "这个运算记录成了名叫 NotImplemented 的节点：torch 没有它的导数，但要等梯度传到那里才报错。信息"
            "里的名字就是这个运算。名字以 `_backward` 结尾的（比如用了注意力），说明这个节点在记录下来的反"
            "向传播里，也就是要求二阶导数了。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor([3.0, 5.0], requires_grad=True)
steps = x.detach() // 2
(x * steps).sum().backward()
print(x.grad)
""",
                en=(
                    "Cut it off with `detach()`: `x.detach() // 2` is a constant for the graph. This is "
                    "right for an operation without a useful slope, such as a division rounded down."
                ),
                zh=(
                    "用 `detach()` 切断：`x.detach() // 2` 对图来说就是常数。运算本来就没有有用的斜率（比如"
                    "向下取整的除法）时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

q = torch.ones(1, 1, 1, 2, requires_grad=True)
with sdpa_kernel(SDPBackend.MATH):
    result = torch.nn.functional.scaled_dot_product_attention(q, q, q)
(g,) = torch.autograd.grad((result**2).sum(), q, create_graph=True)
g.sum().backward()
print(q.grad)
""",
                en=(
                    "Use an implementation made of operations that have a derivative; for "
                    "`scaled_dot_product_attention` that is `sdpa_kernel(SDPBackend.MATH)`. This is right "
                    "when only the fused one cannot be differentiated."
                ),
                zh=(
                    "换一种由可求导的运算拼成的实现；`scaled_dot_product_attention` 可以用 "
                    "`sdpa_kernel(SDPBackend.MATH)`。只是融合的那种实现不能求导时，用这个办法。"
                ),
            ),
        ),
        page="learn/building_the_graph#no-derivative",
    ),
    Error(
        id="no-second-derivative",
        message="NotImplementedError: the derivative for '{name}' is not implemented.",
        code="""\
import torch
from torch import nn

table = nn.EmbeddingBag(3, 2, mode="sum")
loss = (table(torch.tensor([[0, 1]])) ** 2).sum()
(g,) = torch.autograd.grad(loss, table.weight, create_graph=True)
g.sum().backward()
""",
        en=(
            "A node has an input for which torch has no derivative, and the backward pass needs it. With "
            "`create_graph=True` the first backward pass is itself a graph, and the node is usually in "
            "that one: here it is the one of EmbeddingBag's backward. Otherwise a first derivative is "
            "missing, such as that of `torch.igamma` for its first argument. The quoted name is the "
            "operation's, in some messages with the input behind a colon."
        ),
        zh=(
            "某个节点有一个输入，torch 没有对它的导数，反向传播却要用。用了 `create_graph=True`，第一次反向"
            "传播本身也是一张图，这个节点多半就在那张图里，这里是 EmbeddingBag 反向传播的那个。没用的话，缺"
            "的就是一阶导数，比如 `torch.igamma` 对第一个参数的导数。引号里是运算的名字，有时冒号后面还写着"
            "输入。"
        ),
        repairs=(
            Repair(
                code="""\
import torch
from torch import nn

table = nn.Embedding.from_pretrained(torch.ones(3, 2), freeze=False)
loss = (table(torch.tensor([[0, 1]])).sum(dim=1) ** 2).sum()
(g,) = torch.autograd.grad(loss, table.weight, create_graph=True)
g.sum().backward()
print(table.weight.grad)
""",
                en=(
                    "Put the operation together from simpler ones that can be differentiated twice: "
                    '`nn.Embedding` and `sum(dim=1)` instead of `nn.EmbeddingBag` with `mode="sum"`. This '
                    "is right when the second derivative is needed."
                ),
                zh=(
                    '用能求两次导的简单运算拼出来：`mode="sum"` 的 `nn.EmbeddingBag` 换成 `nn.Embedding` '
                    "加 `sum(dim=1)`。需要二阶导数时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch
from torch import nn

table = nn.EmbeddingBag.from_pretrained(torch.ones(3, 2), freeze=False, mode="sum")
loss = (table(torch.tensor([[0, 1]])) ** 2).sum()
(g,) = torch.autograd.grad(loss, table.weight)
print(g)
""",
                en=(
                    "Use the gradient as a value: leave out `create_graph=True`, or call `detach()` on the "
                    "gradient. This is right when nothing has to be differentiated through it."
                ),
                zh=(
                    "把梯度只当数值用：不写 `create_graph=True`，或者对梯度调用 `detach()`。不需要穿过它再"
                    "求导时，用这个办法。"
                ),
            ),
        ),
        page="practice/double_backward#create-graph",
    ),
    Error(
        id="gradcheck-mismatch",
        message=(
            "torch.autograd.gradcheck.GradcheckError: Jacobian mismatch for output {number} with respect "
            "to input {number},\n"
            "numerical:{text}\n"
            "analytical:{text}"
        ),
        code="""\
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
torch.autograd.gradcheck(Square.apply, x)
""",
        en=(
            '`gradcheck` computes the Jacobian twice: "analytical" by the graph\'s backward pass, '
            '"numerical" by finite differences of the forward pass. Where they differ, the node\'s '
            "`backward` is wrong (here a factor 2 is missing), or the function has no derivative at that "
            "input, or the input is not float64, or the function gives other values at each call."
        ),
        zh=(
            "`gradcheck` 把雅可比矩阵算两遍：“analytical”是图的反向传播给出的，“numerical”是前向传播的有限"
            "差分。两者不一样，可能是节点的 `backward` 写错了（这里少了系数 2），可能是函数在这个输入处不可"
            "导，也可能是输入不是 float64，或者函数每次调用结果都不同。"
        ),
        repairs=(
            Repair(
                code="""\
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]


x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(Square.apply, x))
""",
                en=(
                    "Correct `backward`; comparing the two matrices often shows the missing factor. This "
                    "is right when the numerical one is what the derivative should be."
                ),
                zh=(
                    "改 `backward`；对比两个矩阵，往往就能看出差了什么系数。有限差分给出的才是应有的导数"
                    "时，用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

x = torch.tensor([-1.0, 1.0], dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(torch.relu, x))
""",
                en=(
                    "Check at other inputs, in float64 and away from kinks: `torch.relu` fails at 0 and "
                    "passes at -1 and 1. This is right when the function itself is well-known."
                ),
                zh=(
                    "换一组输入再检查：用 float64，避开拐点；`torch.relu` 在 0 处通不过，在 -1 和 1 处通得"
                    "过。函数本身信得过时，用这个办法。"
                ),
            ),
        ),
        page="practice/custom_function#gradcheck",
    ),
    Error(
        id="gradcheck-single-precision",
        message=(
            "UserWarning: Input #{number} requires gradient and is not a double precision floating point "
            "or complex. This check will likely fail if all the inputs are not of double precision "
            "floating point or complex."
        ),
        code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
torch.autograd.gradcheck(torch.square, x, raise_exception=False)
""",
        en=(
            "`gradcheck` takes differences of the forward pass over steps of 1e-6 by default. In float32, "
            "numbers just above 2 are 2.4e-7 apart, so rounding alone is a large part of the difference. "
            "The backward pass may be right all the same."
        ),
        zh=(
            "`gradcheck` 默认以 1e-6 为步长，对前向传播做差分。float32 里，比 2 略大的数，相邻两个相差 "
            "2.4e-7，差分里很大一部分是舍入误差。反向传播本身未必有错。"
        ),
        repairs=(
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(torch.square, x))
""",
                en=(
                    "Make the inputs with `dtype=torch.float64`, and call `module.double()` if the "
                    "function has parameters. This is right in nearly all cases."
                ),
                zh=(
                    "输入用 `dtype=torch.float64` 创建；函数带参数的话，再调用 `module.double()`。绝大多数"
                    "情况都用这个办法。"
                ),
            ),
            Repair(
                code="""\
import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
(g,) = torch.autograd.grad(torch.square(x).sum(), x)
print(torch.allclose(g, 2 * x))
""",
                en=(
                    "Compare the gradient with one that you know, by `torch.allclose`. This is right for a "
                    "function that runs in float32 only."
                ),
                zh="用 `torch.allclose` 跟你知道的正确梯度比较。函数只能跑 float32 时，用这个办法。",
            ),
        ),
        page="practice/custom_function#gradcheck",
    ),
)
