"""Error messages of torch, what they mean on the graph, and how to repair what raised them."""
