import torch
from torch.autograd import gradcheck, gradgradcheck


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad


class Wrong(Cube):
    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x**2 * grad


torch.manual_seed(0)
x = torch.randn(4, dtype=torch.float64, requires_grad=True)
print("wrong one is found:", not gradcheck(Wrong.apply, x, raise_exception=False))
print(gradcheck(Cube.apply, x), gradgradcheck(Cube.apply, x))
