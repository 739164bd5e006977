# --8<-- [start:idea]
import torch
from gradfn_tutorial import trace

x = torch.tensor(3.0)
w = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)
loss = (w * x + b - 10) ** 2
loss.backward()

print(loss.grad_fn)
print(w.grad_fn, w.grad)
graph = trace(loss, {"loss": loss, "w": w, "b": b})
# --8<-- [end:idea]
