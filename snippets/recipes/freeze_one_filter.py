import torch
from torch import nn

torch.manual_seed(0)
images = torch.randn(4, 1, 8, 8)
mask = torch.ones(2, 1, 1, 1)
mask[0] = 0


def moved(steps_before=0, put_back=False, **options):
    conv = nn.Conv2d(1, 2, kernel_size=3, bias=False)
    optimizer = torch.optim.SGD(conv.parameters(), lr=0.1, **options)
    for step in range(steps_before + 2):
        if step == steps_before:
            frozen = conv.weight[0].detach().clone()
            conv.weight.register_hook(lambda grad: grad * mask)
        optimizer.zero_grad()
        conv(images).square().mean().backward()
        optimizer.step()
        if put_back and step >= steps_before:
            with torch.no_grad():
                conv.weight[0] = frozen
    return "stays" if torch.equal(conv.weight[0], frozen) else "moves"


print("plain SGD:", moved())
print("momentum from before:", moved(steps_before=1, momentum=0.9))
print("weight decay:", moved(weight_decay=0.1))
print(moved(steps_before=1, put_back=True, momentum=0.9, weight_decay=0.1) == "stays")
