import torch

x = torch.tensor(3.0, requires_grad=True)
w = torch.tensor(2.0, requires_grad=True)
unused = torch.tensor(1.0, requires_grad=True)

print(torch.autograd.grad(w * x**2, [x, unused], allow_unused=True))
print("x.grad", x.grad, "w.grad", w.grad)

(w * x**2).backward(inputs=[w])
print("x.grad", x.grad, "w.grad", w.grad)
print(torch.equal(w.grad, x.detach() ** 2))
