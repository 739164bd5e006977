# --8<-- [start:graph]
import torch

x = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], requires_grad=True)
w = torch.tensor([3.0, 5.0], requires_grad=True)
data = torch.tensor([10.0, 20.0])

first, middle, last = x.split(2)
y = first * data + last * w
z = y.sum()
print(z.grad_fn)
print(z.grad_fn.next_functions)
# --8<-- [end:graph]

# --8<-- [start:count]
bias, weight = torch.zeros(2, requires_grad=True), torch.ones(2, 2, requires_grad=True)
rows = torch.ones(3, 2)

products = torch.addmm(bias, rows, weight)
chosen = torch.where(x > 3, x, -x)
for result in (x.exp(), x * x, x + x, chosen, products):
    print(result.grad_fn.name(), len(result.grad_fn.next_functions))
# --8<-- [end:count]


# --8<-- [start:slots]
def show(node):
    print(node.name())
    for slot, (below, output_nr) in enumerate(node.next_functions):
        print(f"  slot {slot}: {below and below.name()}, output_nr {output_nr}")


show(products.grad_fn)
(bias_node, _), _, (weight_node, _) = products.grad_fn.next_functions
print("bias:", bias_node.variable is bias, "| weight:", weight_node.variable is weight)
# --8<-- [end:slots]

# --8<-- [start:output-nr]
plus = z.grad_fn.next_functions[0][0]
times = plus.next_functions[1][0]
show(times)
# --8<-- [end:output-nr]

# --8<-- [start:same-node]
print(first.output_nr, middle.output_nr, last.output_nr)
print("one node:", first.grad_fn is middle.grad_fn is last.grad_fn)
# --8<-- [end:same-node]

# --8<-- [start:permutation]
_, lower, upper = torch.linalg.lu(torch.eye(2, requires_grad=True))
print(lower.output_nr, upper.output_nr)
# --8<-- [end:permutation]

# --8<-- [start:leaf]
(left, _), (right, _) = (w * w).grad_fn.next_functions
print("one node:", left is right is times.next_functions[1][0])
print("holds w:", left.variable is w, "| w.grad_fn:", w.grad_fn)
print(left.name(), type(left).__name__, left.next_functions)
# --8<-- [end:leaf]

# --8<-- [start:before]
from gradfn_tutorial import trace

before = trace(z, {"x": x, "w": w})
print(before.to_text())
# --8<-- [end:before]

# --8<-- [start:after]
print("w is saved:", times._saved_other is w)
z.backward()
after = trace(z, {"x": x, "w": w})
print("same nodes:", [node.fn for node in after.nodes] == [node.fn for node in before.nodes])
print(x.grad, w.grad)
# --8<-- [end:after]

try:
    # --8<-- [start:saved]
    print("w is saved:", times._saved_other is w)
    # --8<-- [end:saved]
except RuntimeError as error:
    print(f"RuntimeError: {error}")


# --8<-- [start:naive]
def visits(node):
    count = 1
    for below, _ in node.next_functions:
        if below is not None:
            count += visits(below)
    return count


print(len(before), "nodes,", visits(z.grad_fn), "visits")
# --8<-- [end:naive]

# --8<-- [start:ladder]
for rungs in (1, 2, 3, 16):
    ladder = w
    for _ in range(rungs):
        ladder = ladder + ladder
    print(rungs + 1, "nodes,", visits(ladder.grad_fn), "visits")
# --8<-- [end:ladder]

try:
    # --8<-- [start:deep]
    deep = w
    for _ in range(3_000):
        deep = deep + 1
    visits(deep.grad_fn)
    # --8<-- [end:deep]
except RecursionError as error:
    print(f"RecursionError: {error}")


# --8<-- [start:walk]
def nodes_behind(root):
    found, seen = [root], {root}
    for node in found:
        for below, _ in node.next_functions:
            if below is not None and below not in seen:
                seen.add(below)
                found.append(below)
    return found


for result in (z, ladder, deep):
    print(len(nodes_behind(result.grad_fn)), "nodes")
# --8<-- [end:walk]

# --8<-- [start:leaves]
square = x**2
print(square.grad_fn.next_functions[0][0].variable is x)
for node in nodes_behind(z.grad_fn):
    if hasattr(node, "variable"):
        print(node.variable)
print([len(trace(result)) for result in (z, ladder, deep)])
# --8<-- [end:leaves]

# --8<-- [start:draw]
print(trace(deep, {"w": w}).to_text(limit=3))
# --8<-- [end:draw]

# --8<-- [start:free-by-hand]
long = w
for _ in range(100_000):
    long = long + 1

nodes = sorted(nodes_behind(long.grad_fn), key=lambda node: node._sequence_nr())
del long
while nodes:
    nodes.pop()
print("still running")
# --8<-- [end:free-by-hand]

# --8<-- [start:free]
long = w
for _ in range(100_000):
    long = long + 1

graph = trace(long)
print(len(graph))
del long, graph
print("still running")
# --8<-- [end:free]


# --8<-- [start:rebuilt]
def run(batch):
    total = (batch * w).sum()
    while total < 1000:
        total = total * 2
    return total.grad_fn


print("same node:", run(data) is run(data))
print(len(nodes_behind(run(data))), "nodes and", len(nodes_behind(run(data * 10))), "nodes")
# --8<-- [end:rebuilt]

# --8<-- [start:exercise-rows]
matrix = torch.ones(3, 2, requires_grad=True)
row0, row1, row2 = matrix
show((row0 * row2).grad_fn)
show((matrix[0] * matrix[2]).grad_fn)
# --8<-- [end:exercise-rows]

# --8<-- [start:exercise-cat]
show(torch.cat([middle, data, w]).grad_fn)
# --8<-- [end:exercise-cat]

# --8<-- [start:exercise-frozen]
layer = torch.nn.Linear(2, 1)
layer.weight.requires_grad_(False)
for node in nodes_behind(layer(data[None]).grad_fn):
    print(node.name(), hasattr(node, "variable") and node.variable is layer.bias)
# --8<-- [end:exercise-frozen]
