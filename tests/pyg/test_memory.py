"""Wide layers fit: Cora's shape, 1,433 → 64 channels on 2,708 nodes, trains in less than 2 GB."""

import json
import subprocess
import sys

import pytest

from shiftstate.bench import memory

TRAIN = """
import json, sys, warnings
warnings.filterwarnings("ignore", category=DeprecationWarning)
import torch
from shiftstate import pyg
from shiftstate.bench.memory import Peak, resident_bytes
torch.manual_seed(0)
torch.set_num_threads(1)
conv = getattr(pyg, sys.argv[1])(1433, 64)
x, edges = torch.rand(2708, 1433), torch.randint(0, 2708, (2, 10556))
weight = torch.ones(10556, requires_grad=sys.argv[2] == "weights")
optimizer = torch.optim.Adam(conv.parameters())
losses = []
with Peak() as peak:
    for _ in range(3):
        optimizer.zero_grad()
        loss = (conv(x, edges, weight) - 1).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
print(json.dumps({"peak": peak.most, "losses": losses, "weights": weight.grad is not None}))
"""


@pytest.mark.skipif(not memory.supported(), reason="this system does not tell a process its resident size")
@pytest.mark.parametrize(
    ("name", "trained"), [("GCNNConv", "layer"), ("GCNNConv", "weights"), ("RSNConv", "layer"), ("LSSMConv", "weights")]
)
def test_a_wide_layer_trains_in_less_than_2_gigabytes(name, trained):
    command = [sys.executable, "-c", TRAIN, name, trained]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["peak"] < 2e9
    assert result["losses"][-1] < result["losses"][0]
    assert result["weights"] == (trained == "weights")
