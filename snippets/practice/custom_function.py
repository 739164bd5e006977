# --8<-- [start:plain]
import torch
from torch.autograd import Function

x = torch.tensor(2.0, requires_grad=True)
y = x * x * x
y.backward()
print(y.grad_fn.name(), x.grad)
# --8<-- [end:plain]


# --8<-- [start:cube]
class Cube(Function):
    @staticmethod
    def forward(x):
        return x * x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad):
        return grad * 3 * ctx.saved_tensors[0] ** 2


# --8<-- [end:cube]


# --8<-- [start:apply]
x.grad = None
y = Cube.apply(x)
y.backward()
print(y.grad_fn.name(), x.grad)
# --8<-- [end:apply]

# --8<-- [start:forward]
print(Cube.forward(x).grad_fn.name())
# --8<-- [end:forward]

# --8<-- [start:before]
from gradfn_tutorial import record_backward, trace

x.grad = None
loss = 5 * Cube.apply(x)
before = trace(loss, {"x": x, "loss": loss})
print(trace(5 * (x * x * x), {"x": x}).to_text())
# --8<-- [end:before]

# --8<-- [start:after]
cube = record_backward(loss, {"x": x}, keep="statistics").rows[1]
print(cube.node, *cube.entering, "->", *cube.leaving)
after = trace(loss, {"x": x, "loss": loss})
# --8<-- [end:after]


# --8<-- [start:loss]
class WeightedSquare(Function):
    @staticmethod
    def forward(ctx, miss, weight):
        ctx.save_for_backward(miss, weight)
        return weight * miss**2

    @staticmethod
    def backward(ctx, grad):
        miss, weight = ctx.saved_tensors
        to_weight = grad * miss**2 if ctx.needs_input_grad[1] else None
        return grad * 2 * weight * miss, to_weight


# --8<-- [end:loss]


# --8<-- [start:loss-run]
miss = torch.tensor([1.0, -2.0], requires_grad=True)
weight = torch.tensor([1.0, 10.0])
squares = WeightedSquare.apply(miss, weight)
print(squares.grad_fn.needs_input_grad, squares.grad_fn.next_functions[1])
squares.sum().backward()
print(miss.grad)
# --8<-- [end:loss-run]

# --8<-- [start:loss-plain]
(plain,) = torch.autograd.grad((weight * miss**2).sum(), miss)
print(torch.equal(plain, miss.grad))
# --8<-- [end:loss-plain]

try:
    # --8<-- [start:too-few]
    class TooFew(WeightedSquare):
        @staticmethod
        def backward(ctx, grad):
            return grad

    TooFew.apply(miss, weight).sum().backward()
    # --8<-- [end:too-few]
except RuntimeError as error:
    print(f"RuntimeError: {error}")

# --8<-- [start:func]
print(torch.func.grad(Cube.apply)(torch.tensor(2.0)))
# --8<-- [end:func]

try:
    # --8<-- [start:func-raises]
    torch.func.grad(lambda miss: WeightedSquare.apply(miss, weight).sum())(miss)
    # --8<-- [end:func-raises]
except RuntimeError as error:
    print(f"RuntimeError: {error}")


# --8<-- [start:by-hand]
def slope(f, x, step=1e-6):
    return (f(x + step) - f(x - step)) / (2 * step)


point = torch.tensor(2.0, dtype=torch.float64)
print(f"{slope(Cube.apply, point):.4f}")
# --8<-- [end:by-hand]

# --8<-- [start:gradcheck]
from torch.autograd.gradcheck import GradcheckError, gradcheck

inputs = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
print(gradcheck(Cube.apply, inputs))
weights = torch.tensor([1.0, 10.0], dtype=torch.float64, requires_grad=True)
print(gradcheck(WeightedSquare.apply, (inputs, weights)))
# --8<-- [end:gradcheck]


# --8<-- [start:wrong]
class WrongCube(Cube):
    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0] ** 2


x.grad = None
WrongCube.apply(x).backward()
print(x.grad)
# --8<-- [end:wrong]

# --8<-- [start:caught]
try:
    gradcheck(WrongCube.apply, inputs)
except GradcheckError as error:
    print(str(error).strip())
# --8<-- [end:caught]

# --8<-- [start:float32]
single = torch.tensor([1.0, 2.0], requires_grad=True)
print(gradcheck(Cube.apply, single, raise_exception=False))
# --8<-- [end:float32]


# --8<-- [start:on-ctx]
class OnCtx(Function):
    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.y = output

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.y


# --8<-- [end:on-ctx]


# --8<-- [start:saved]
class Saved(OnCtx):
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]


# --8<-- [end:saved]


# --8<-- [start:collect]
import gc
import weakref

gc.disable()
for function in (OnCtx, Saved):
    y = function.apply(x)
    alive = weakref.ref(y)
    del y
    gone_at_once = alive() is None
    gc.collect()
    print(function.__name__, gone_at_once, alive() is None)
gc.enable()
# --8<-- [end:collect]


# --8<-- [start:two]
class TwoOnCtx(OnCtx):
    @staticmethod
    def forward(x):
        return x.exp(), 2 * x.exp()

    @staticmethod
    def backward(ctx, grad, other):
        y, twice = ctx.y
        return grad * y + other * twice


# --8<-- [end:two]

# --8<-- [start:two-collect]
y, twice = TwoOnCtx.apply(x)
(y + twice).backward()
alive = weakref.ref(y), weakref.ref(twice)
del y, twice
gc.collect()
print([output() is None for output in alive])
# --8<-- [end:two-collect]

# --8<-- [start:in-place]
x = torch.tensor(0.0, requires_grad=True)
y = OnCtx.apply(x)
y.detach().mul_(100)
y.backward()
print(x.grad)
# --8<-- [end:in-place]

try:
    # --8<-- [start:in-place-saved]
    y = Saved.apply(x)
    y.detach().mul_(100)
    y.backward()
    # --8<-- [end:in-place-saved]
except RuntimeError as error:
    print(f"RuntimeError: {error}")


# --8<-- [start:early]
class Early(Cube):
    clear_saved_tensors_on_access = True
    boxed_grads_call = True

    @staticmethod
    def backward(ctx, grads):
        (x,) = ctx.saved_tensors
        alive = weakref.ref(x), weakref.ref(grads[0])
        result = grads.pop() * 3 * x**2
        del x
        print([tensor() is None for tensor in alive])
        return result


# --8<-- [end:early]

try:
    # --8<-- [start:early-raises]
    y = 2 * Early.apply(1 * x)
    y.backward(retain_graph=True)
    y.backward()
    # --8<-- [end:early-raises]
except RuntimeError as error:
    print(f"RuntimeError: {error}")


# --8<-- [start:dirty]
class Double(Function):
    @staticmethod
    def forward(ctx, x, mark):
        if mark:
            ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None


# --8<-- [end:dirty]


# --8<-- [start:dirty-run]
for mark in (False, True):
    h = 1 * x
    Double.apply(h, mark)
    (gradient,) = torch.autograd.grad(h, x)
    print(mark, h.grad_fn.name(), gradient)
# --8<-- [end:dirty-run]


# --8<-- [start:mask]
class MaxAndMask(Function):
    @staticmethod
    def forward(ctx, x):
        mask = (x == x.max()).float()
        ctx.mark_non_differentiable(mask)
        ctx.save_for_backward(mask)
        return x.max(), mask

    @staticmethod
    def backward(ctx, grad, of_mask):
        print(of_mask)
        return grad * ctx.saved_tensors[0]


# --8<-- [end:mask]


# --8<-- [start:mask-run]
scores = torch.tensor([1.0, 3.0], requires_grad=True)
biggest, mask = MaxAndMask.apply(scores)
print(biggest.requires_grad, mask.requires_grad)
biggest.backward()
print(scores.grad)
# --8<-- [end:mask-run]

# --8<-- [start:exercise-zero]
zeros = torch.zeros(2, dtype=torch.float64, requires_grad=True)
print(gradcheck(WrongCube.apply, zeros))
# --8<-- [end:exercise-zero]


# --8<-- [start:exercise-round]
class Round(Function):
    @staticmethod
    def forward(x):
        return x.round()

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad):
        return grad


# --8<-- [end:exercise-round]


# --8<-- [start:exercise-round-run]
points = torch.tensor([0.3, 1.7], dtype=torch.float64, requires_grad=True)
for function in (torch.round, Round.apply):
    (gradient,) = torch.autograd.grad(function(points).sum(), points)
    print(gradient, gradcheck(function, points, raise_exception=False))
# --8<-- [end:exercise-round-run]


# --8<-- [start:exercise-complex]
class ComplexCube(Cube):
    @staticmethod
    def backward(ctx, grad):
        return grad * (3 * ctx.saved_tensors[0] ** 2).conj()


z = torch.tensor([1 + 2j, 0.5j], dtype=torch.complex128, requires_grad=True)
for function in (Cube.apply, ComplexCube.apply):
    print(gradcheck(function, z, raise_exception=False))
# --8<-- [end:exercise-complex]
