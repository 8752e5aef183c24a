"""A node task on a partitioned graph in plain PyTorch: torchrun --nproc-per-node 2 docs/examples/distributed.py DIR

The sum of all processes' losses is minimised. So each adds up its own nodes, and divides by the number of all nodes;
the gradients of the weights are then the same in every process, and so are the weights after each step.
"""

import sys

import numpy as np
import torch
import torch.distributed as dist

import shiftstate as ss

N, folder = 2000, sys.argv[1]
dist.init_process_group("gloo")
if dist.get_rank() == 0:  # usually done before, by `shiftstate partition`
    random = np.random.default_rng(0)
    u = random.integers(N, size=8 * N)
    v = np.where(random.random(8 * N) < 0.95, u // 200 * 200 + random.integers(200, size=8 * N), random.integers(N))
    shift = ss.Shift.from_edges(np.stack([np.r_[u, v], np.r_[v, u]]), num_nodes=N, layout="sparse")
    ss.distributed.partition(shift.normalized("row"), folder, parts=dist.get_world_size(), method="blocks")
dist.barrier()
shift = ss.distributed.load(folder)
kind = shift.nodes // 200 % 2  # what is to be learned: the parity of a node's community
x = torch.randn(N, 4, generator=torch.Generator().manual_seed(0))
x = shift.take(x) + kind[:, None]  # each process keeps its own rows
torch.manual_seed(0)  # the same weights in every process
net = ss.Network("lssm", channels=[4, 16], K=4, readout=ss.NodeReadout(2), mixing="depthwise")
optimizer = torch.optim.Adam(net.parameters(), 0.02)
for _ in range(30):
    loss = torch.nn.functional.cross_entropy(net(x, shift), kind, reduction="sum") / shift.total_nodes
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total = shift.ranks.total(loss.detach())
right = shift.ranks.total((net(x, shift).argmax(-1) == kind).sum())
if dist.get_rank() == 0:
    net.save(f"{folder}/model.safetensors")
    print(f"loss {total:.6f}, accuracy {int(right) / shift.total_nodes:.3f}")
dist.destroy_process_group()
