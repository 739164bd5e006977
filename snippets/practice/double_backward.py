# --8<-- [start:retain]
import torch

x = torch.tensor(5.0, requires_grad=True)
y = x**3
y.backward(retain_graph=True)
print(x.grad, x.grad.grad_fn)
# --8<-- [end:retain]

try:
    # --8<-- [start:no-graph]
    x.grad.backward()
    # --8<-- [end:no-graph]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:create]
(g,) = torch.autograd.grad(y, x, create_graph=True)
(second,) = torch.autograd.grad(g, x, retain_graph=True)
print(g)
print(second)
# --8<-- [end:create]

# --8<-- [start:walk]
node = g.grad_fn
while node is not None:
    print(node.name())
    node = node.next_functions[-1][0] if node.next_functions else None
# --8<-- [end:walk]

# --8<-- [start:before]
from gradfn_tutorial import trace

x.grad = None
before = trace(g, {"x": x, "g": g})
print(before.to_text())
# --8<-- [end:before]

# --8<-- [start:after]
g.backward()
after = trace(g, {"x": x, "g": g})
print(x.grad)
# --8<-- [end:after]

# --8<-- [start:into-grad]
w = torch.tensor(5.0, requires_grad=True)
(w**3).backward(create_graph=True)
print(w.grad)
# --8<-- [end:into-grad]

# --8<-- [start:cycle]
import gc
import weakref

alive = weakref.ref(w)
del w
gc.collect()
print("gone after gc.collect():", alive() is None)
alive().grad = None
print("gone after .grad = None:", alive() is None)
# --8<-- [end:cycle]

# --8<-- [start:no-cycle]
w = torch.tensor(5.0, requires_grad=True)
(gradient,) = torch.autograd.grad(w**3, w, create_graph=True)
alive = weakref.ref(w)
del w, gradient
print("gone:", alive() is None)
# --8<-- [end:no-cycle]

# --8<-- [start:critic]
critic = torch.nn.Linear(2, 1, bias=False)
critic.load_state_dict({"weight": torch.tensor([[3.0, 4.0]])})
data = torch.ones(5, 2, requires_grad=True)


def penalty(create_graph):
    (g,) = torch.autograd.grad(critic(data).sum(), data, create_graph=create_graph)
    return ((g.norm(dim=1) - 1) ** 2).mean()


# --8<-- [end:critic]


# --8<-- [start:penalty-wrong]
from gradfn_tutorial import why_no_grad

loss = penalty(create_graph=False)
print(loss)
print(why_no_grad(critic.weight, loss, critic).cause)
# --8<-- [end:penalty-wrong]

# --8<-- [start:penalty]
loss = penalty(create_graph=True)
print(loss)
loss.backward()
print(critic.weight.grad)
# --8<-- [end:penalty]


# --8<-- [start:hvp]
def f(x):
    return x[0] ** 2 * x[1]


x = torch.tensor([2.0, 3.0], requires_grad=True)
v = torch.tensor([1.0, 10.0])
(g,) = torch.autograd.grad(f(x), x, create_graph=True)
(product,) = torch.autograd.grad(g, x, v)
print(product)
# --8<-- [end:hvp]

# --8<-- [start:hvp-func]
point = x.detach()
gradient_of_f = torch.func.grad(f)
matrix = torch.func.jacrev(gradient_of_f)(point)
print(matrix)
print(matrix @ v)
print(torch.func.vjp(gradient_of_f, point)[1](v)[0])
# --8<-- [end:hvp-func]


# --8<-- [start:constant]
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        square = x * x
        ctx.save_for_backward(x, square)
        return x * square

    @staticmethod
    def backward(ctx, grad):
        x, square = ctx.saved_tensors
        return grad * (2 * x * x + square)


# --8<-- [end:constant]


# --8<-- [start:second]
def second_derivative(function, x):
    (g,) = torch.autograd.grad(function(x), x, create_graph=True)
    return torch.autograd.grad(g, x)[0]


# --8<-- [end:second]


# --8<-- [start:constant-run]
from torch.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck

x = torch.tensor(5.0, requires_grad=True)
inputs = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
print(gradcheck(Cube.apply, inputs), second_derivative(Cube.apply, x))
# --8<-- [end:constant-run]

# --8<-- [start:gradgradcheck]
ones = torch.ones(2, dtype=torch.float64)
try:
    gradgradcheck(Cube.apply, inputs, ones)
except GradcheckError as error:
    print(str(error).strip())
# --8<-- [end:gradgradcheck]


# --8<-- [start:twice]
class TwiceCube(Cube):
    @staticmethod
    def backward(ctx, grad):
        x, _ = ctx.saved_tensors
        return grad * 3 * x * x


print(second_derivative(TwiceCube.apply, x))
print(gradgradcheck(TwiceCube.apply, inputs, ones))
# --8<-- [end:twice]

# --8<-- [start:once]
from torch.autograd.function import once_differentiable


class OnceCube(Cube):
    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        return Cube.backward(ctx, grad)


# --8<-- [end:once]


try:
    # --8<-- [start:once-raises]
    loss = OnceCube.apply(x) ** 2
    (g,) = torch.autograd.grad(loss, x, create_graph=True)
    g.backward()
    # --8<-- [end:once-raises]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:once-silent]
print(second_derivative(lambda x: OnceCube.apply(x) + x**3, x))
print(gradgradcheck(OnceCube.apply, inputs, ones, raise_exception=False))
# --8<-- [end:once-silent]

# --8<-- [start:exercise-third]
(g,) = torch.autograd.grad(x**3, x, create_graph=True)
(second,) = torch.autograd.grad(g, x, create_graph=True)
(third,) = torch.autograd.grad(second, x)
print(second, third)
# --8<-- [end:exercise-third]

try:
    # --8<-- [start:exercise-linear]
    second_derivative(lambda x: 2 * x, x)
    # --8<-- [end:exercise-linear]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:exercise-step]
w = torch.tensor(5.0, requires_grad=True)
(g,) = torch.autograd.grad(w**3, w, create_graph=True)
stepped = w - 0.1 * g
(stepped**2).backward()
print(stepped, w.grad)
# --8<-- [end:exercise-step]
