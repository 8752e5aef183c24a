"""How a graph is cut into parts, and the folder that holds them."""
