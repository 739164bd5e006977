import torch


def f(x):
    return x[0] ** 2 * x[1]


x = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.tensor([1.0, 0.0])

(gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
(product,) = torch.autograd.grad(gradient @ v, x)
print(product)

hessian = torch.autograd.functional.hessian(f, x)
print(hessian)
print(torch.equal(product, hessian @ v))
