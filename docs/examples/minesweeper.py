"""Find the mines: LSSM, RSN, GCNN and PyTorch Geometric's TAGConv on the minesweeper graph, at an equal budget.

The graph is a board of 100 × 100 cells, each joined to its eight neighbours (Platonov et al., ICLR 2023). Half of the
cells show how many of their neighbours are mines, the others show nothing; the network says of every cell whether it
is one. All four filters sit in the same network and get the same number of parameters (their width follows from it),
the same number of trials (`--search`), the same epochs and the same ten splits. The score is the area under the ROC
curve, in per cent, at the epoch with the best score on the validation nodes.
"""

import argparse
import csv
import json
import platform
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch_geometric
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.nn import TAGConv
from torch_geometric.utils import to_torch_csr_tensor

import shiftstate as ss
from shiftstate.pyg import GCNNConv, LSSMConv, RSNConv

SOURCE = "https://github.com/yandex-research/heterophilous-graphs/raw/main/data/minesweeper.npz"
CONVS = {"lssm": LSSMConv, "rsn": RSNConv, "gcnn": GCNNConv, "tagconv": TAGConv}
PARAMETERS = 15_500
EPOCHS = 250
LOOK_EVERY = 10  # epochs between two looks at the validation nodes


@dataclass(frozen=True)
class Setting:
    """What a search may choose; ``options`` go to the filter as they are."""

    filter: str
    blocks: int = 6
    K: int = 2
    shift: str = "row"
    dropout: float = 0.2
    lr: float = 0.03
    options: dict[str, Any] = field(default_factory=dict)


OPEN_GATES = {"gate_bias": True, "init": "alive", "output_activation": "identity"}
FIRST = {
    "lssm": Setting("lssm", options=OPEN_GATES),
    "rsn": Setting("rsn", options={"init": "alive"}),
    "gcnn": Setting("gcnn"),
    "tagconv": Setting("tagconv"),
}
"""Where the search starts."""

OWN_TRIAL: dict[str, dict[str, Any]] = {
    "lssm": {"options": {**OPEN_GATES, "output_activation": "relu"}},
    "rsn": {"options": {"init": "alive", "state_activation": "leaky_relu", "output_activation": "identity"}},
    "gcnn": {"options": {"mixing": "depthwise"}},
    "tagconv": {"shift": "symmetric"},
}
"""The one trial that differs between filters."""

STARTS: list[dict[str, Any]] = [
    {},
    {"output_activation": "identity"},
    {"gate_bias": True, "init": "alive"},
    OPEN_GATES,
]
"""Where an LSSM can start from, the paper's way first (`--gates`)."""

CHOSEN = {
    "lssm": replace(FIRST["lssm"], lr=0.06),
    "rsn": replace(FIRST["rsn"], **OWN_TRIAL["rsn"]),
    "gcnn": FIRST["gcnn"],
    "tagconv": replace(FIRST["tagconv"], **OWN_TRIAL["tagconv"]),
}
"""The best of the search by validation score: what the final runs take."""


def trials(filter: str) -> list[Setting]:
    """What the search tries, one change at a time: four settings for every filter."""
    changes: list[dict[str, Any]] = [{}, {"lr": 0.06}, {"dropout": 0.1}, OWN_TRIAL[filter]]
    return [replace(FIRST[filter], **change) for change in changes]


@dataclass(frozen=True)
class Board:
    """Signals x (N, 7), labels y (N), edges both ways (2, E), and masks by name, one row for each split."""

    x: Tensor
    y: Tensor
    edge_index: Tensor
    masks: dict[str, Tensor]

    @classmethod
    def load(cls, path: Path) -> "Board":
        with np.load(path) as file:
            data = {key: torch.from_numpy(file[key]) for key in file.files}
        once = data["edges"].T
        masks = {name: data[f"{name}_masks"] for name in ("train", "val", "test")}
        return cls(data["node_features"], data["node_labels"].float(), torch.cat([once, once.flip(0)], 1), masks)

    def graph(self, setting: Setting) -> ss.Shift | Tensor:
        """S as the filter takes it: ours a Shift, TAGConv the same matrix as a CSR tensor."""
        shift = ss.Shift.from_edges(self.edge_index, num_nodes=len(self.x)).normalized(setting.shift)
        if setting.filter != "tagconv":
            return shift
        (source, target), weight = shift.edges()
        return to_torch_csr_tensor(torch.stack([target, source]), weight, size=len(self.x))


class Block(nn.Module):
    """x ← dropout(relu(norm(filter(x, S) + x A))): the noise falls on all of x, not only on what the filter adds."""

    def __init__(self, setting: Setting, channels: int) -> None:
        super().__init__()
        options = {"normalize": False} if setting.filter == "tagconv" else setting.options  # S comes normalised
        self.conv = CONVS[setting.filter](channels, channels, setting.K, **options)
        self.linear = nn.Linear(channels, channels)
        self.norm = nn.BatchNorm1d(channels)
        self.dropout = nn.Dropout(setting.dropout)

    def forward(self, x: Tensor, graph: ss.Shift | Tensor) -> Tensor:
        y: Tensor = self.dropout(functional.relu(self.norm(self.conv(x, graph) + self.linear(x))))
        return y


class Minesweeper(nn.Module):
    """Features (N, 7) → channels, the blocks, and one logit for each cell (N)."""

    def __init__(self, setting: Setting, channels: int, features: int) -> None:
        super().__init__()
        self.encode = nn.Linear(features, channels)
        self.blocks = nn.ModuleList(Block(setting, channels) for _ in range(setting.blocks))
        self.decode = nn.Sequential(nn.BatchNorm1d(channels), nn.Linear(channels, 1))

    def forward(self, x: Tensor, graph: ss.Shift | Tensor) -> Tensor:
        x = self.encode(x)
        for block in self.blocks:
            x = block(x, graph)
        logits: Tensor = self.decode(x)
        return logits.squeeze(-1)


def count(net: nn.Module) -> int:
    return sum(parameter.numel() for parameter in net.parameters())


def width(setting: Setting, parameters: int, features: int) -> int:
    """The number of channels with which the network comes closest to so many parameters."""
    one, two, three = (count(Minesweeper(setting, channels, features)) for channels in (1, 2, 3))
    square = (three - 2 * two + one) // 2  # the count is a c² + b c + d, so three networks tell all
    linear = two - one - 3 * square
    sizes = {c: square * (c * c - 1) + linear * (c - 1) + one for c in range(1, 1025)}
    return min(sizes, key=lambda c: abs(sizes[c] - parameters))


def roc_auc(logits: Tensor, y: Tensor) -> float:
    """The share of pairs of a mine and a free cell in which the mine has the higher logit, ties counted half."""
    _, place, number = logits.unique(return_inverse=True, return_counts=True)
    rank = (number.cumsum(0) - (number - 1) / 2)[place].double()  # from 1; equal logits share their mean rank
    mines, free = int(y.sum()), int((1 - y).sum())
    return 100 * (rank[y == 1].sum().item() - mines * (mines + 1) / 2) / (mines * free)


def train(board: Board, setting: Setting, channels: int, split: int, epochs: int) -> dict[str, Any]:
    """Train on one split; the row of results."""
    torch.manual_seed(split)
    net, graph = Minesweeper(setting, channels, board.x.shape[1]), board.graph(setting)
    masks = {name: rows[split] for name, rows in board.masks.items()}
    optimizer = torch.optim.Adam(net.parameters(), setting.lr)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, setting.lr, total_steps=epochs, pct_start=0.1)
    best = {"epoch": 0, "val": 0.0, "test": 0.0}
    start = time.process_time()
    for epoch in range(1, epochs + 1):
        net.train()
        logits = net(board.x, graph)[masks["train"]]
        loss = functional.binary_cross_entropy_with_logits(logits, board.y[masks["train"]])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if epoch % LOOK_EVERY == 0 or epoch == epochs:
            net.eval()
            with torch.no_grad():
                logits = net(board.x, graph)
            scores = {name: roc_auc(logits[masks[name]], board.y[masks[name]]) for name in ("val", "test")}
            if scores["val"] > best["val"]:
                best = {"epoch": epoch, **scores}
    return {
        "filter": setting.filter,
        "split": split,
        "val": round(best["val"], 3),
        "test": round(best["test"], 3),
        "best_epoch": best["epoch"],
        "epochs": epochs,
        "channels": channels,
        "parameters": count(net),
        "cpu_seconds": round(time.process_time() - start, 1),
        "setting": json.dumps(asdict(setting)),
    }


def read(file: Path) -> list[dict[str, str]]:
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def append(file: Path, row: dict[str, Any]) -> None:
    """Store one finished run at once: a search or a record that was stopped goes on from there."""
    fresh = not file.exists()
    with file.open("a", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(row), lineterminator="\n")
        if fresh:
            writer.writeheader()
        writer.writerow(row)


def run(board: Board, file: Path, settings: Sequence[Setting], splits: Sequence[int], options: Any) -> None:
    """Train what the file does not hold yet, split after split, so that filters can be compared early."""
    for split in splits:
        for setting in settings:
            channels = width(setting, options.parameters, board.x.shape[1])
            key = (json.dumps(asdict(setting)), str(channels), str(split), str(options.epochs))
            if key in {tuple(row[name] for name in ("setting", "channels", "split", "epochs")) for row in read(file)}:
                continue
            row = train(board, setting, channels, split, options.epochs)
            if options.search:
                del row["test"]  # what is chosen here must not know it
            append(file, row)
            print(
                f"{setting.filter:8} split {split}   validation {row['val']:5.2f}   {row['channels']} channels, "
                f"{row['parameters']:,} parameters   {row['cpu_seconds']:.0f} s",
                flush=True,
            )


def summarize(out: Path, epochs: int) -> str:
    """Write summary.json and table.md from all that is stored of the chosen settings; the table."""
    rows = [row for row in read(out / "results.csv") if row["epochs"] == str(epochs)]
    base = {row["split"]: float(row["test"]) for row in rows if row["filter"] == "tagconv"}
    summary = []
    for filter, setting in CHOSEN.items():
        mine = [row for row in rows if row["setting"] == json.dumps(asdict(setting))]
        if not mine:
            continue
        scores = {name: [float(row[name]) for row in mine] for name in ("test", "val", "cpu_seconds")}
        summary.append(
            {
                "filter": filter,
                "splits": len(mine),
                "mean": round(statistics.mean(scores["test"]), 2),
                "std": round(statistics.stdev(scores["test"]), 2) if len(mine) > 1 else None,
                "above_tagconv": sum(float(row["test"]) > base.get(row["split"], 100) for row in mine),
                "mean_validation": round(statistics.mean(scores["val"]), 2),
                "channels": int(mine[0]["channels"]),
                "parameters": int(mine[0]["parameters"]),
                "epochs": int(mine[0]["epochs"]),
                "cpu_seconds": round(sum(scores["cpu_seconds"])),
                "setting": json.loads(mine[0]["setting"]),
            }
        )
    versions = {
        "shiftstate": ss.__version__,
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
    }
    text = json.dumps({"machine": versions, "rows": summary}, indent=1)
    (out / "summary.json").write_text(text + "\n", encoding="utf-8")
    lines = [
        "| filter | test ROC AUC | validation | above TAGConv | channels | parameters | CPU s a run |",
        "|---" * 7 + "|",
    ]
    for row in summary:
        spread = "" if row["std"] is None else f" ± {row['std']:.2f}"
        lines.append(
            f"| {row['filter']} | {row['mean']:.2f}{spread} | {row['mean_validation']:.2f} | "
            f"{row['above_tagconv']} of {row['splits']} splits | "
            f"{row['channels']} | {row['parameters']:,} | {row['cpu_seconds'] / row['splits']:.0f} |"
        )
    table = "\n".join(lines) + "\n"
    (out / "table.md").write_text(table, encoding="utf-8")
    return table


def read_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("minesweeper.npz"), help="the file; default: %(default)s")
    parser.add_argument("--out", type=Path, default=Path("runs/minesweeper"), help="results; default: %(default)s")
    parser.add_argument("--filters", nargs="+", choices=CONVS, default=list(CONVS))
    parser.add_argument("--splits", nargs="+", type=int, help="default: all; the first one with --search")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="default: %(default)s")
    parser.add_argument("--parameters", type=int, default=PARAMETERS, help="of each network; default: %(default)s")
    parser.add_argument("--search", action="store_true", help="run the trials, on validation nodes alone")
    parser.add_argument("--gates", action="store_true", help="train the LSSM from each of four starts instead")
    options = parser.parse_args(argv)
    if not options.data.is_file():
        parser.error(f"--data {options.data} is not there; get it with: curl -LO {SOURCE}")
    return options


def main(argv: Sequence[str] | None = None) -> None:
    """Search, or train the chosen settings on all splits and report."""
    options = read_arguments(argv)
    board = Board.load(options.data)
    options.out.mkdir(parents=True, exist_ok=True)
    splits = options.splits or ([0] if options.search else range(len(board.masks["train"])))
    if options.search:
        settings = [setting for several in zip(*map(trials, options.filters), strict=True) for setting in several]
        run(board, options.out / "search.csv", settings, splits, options)
    elif options.gates:
        settings = [Setting("lssm", options=start) for start in STARTS]
        run(board, options.out / "gates.csv", settings, splits, options)
    else:
        run(board, options.out / "results.csv", [CHOSEN[filter] for filter in options.filters], splits, options)
        print(summarize(options.out, options.epochs))


if __name__ == "__main__":
    main()
