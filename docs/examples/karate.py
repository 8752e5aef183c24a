"""Zachary's karate club: a third of its members tell their side, a filter over the friendships finds the others'."""

import networkx as nx
import torch
from torch_geometric.utils import from_networkx

from shiftstate.pyg import LSSMConv  # was: from torch_geometric.nn import TAGConv

torch.manual_seed(0)
club = nx.karate_club_graph()
edge_index, members = from_networkx(club).edge_index, torch.arange(len(club))
side = torch.tensor([int(club.nodes[member]["club"] == "Officer") for member in club])
known, unknown = members[members % 3 == 0], members[members % 3 != 0]
told = torch.zeros(len(club), 1).index_fill(0, known, 1) * (2 * side[:, None] - 1)  # −1 or 1, and 0 where unknown

conv = LSSMConv(1, 2, K=4, cached=True, gate_bias=True, init="alive", output_activation="identity")
optimizer = torch.optim.Adam(conv.parameters(), lr=0.02)
for _ in range(200):
    hidden = known[torch.randperm(len(known))[:6]]  # learn to find half of them from the other half
    logits = conv(told.index_fill(0, hidden, 0), edge_index)
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(logits[hidden], side[hidden]).backward()
    optimizer.step()
right = (conv(told, edge_index).argmax(1) == side)[unknown].sum()
print(f"{right} of {len(unknown)} members found on their side")
