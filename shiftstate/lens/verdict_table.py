"""The verdicts of a lens as a table for a terminal."""

from rich.table import Table

from shiftstate.lens.examination import Lens


def verdict_table(lens: Lens) -> Table:
    """One line for every layer."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("layer", "filter", "K", "verdict", "from k", "‖w_K‖ / ‖w_0‖", "by shift", "gates", "sees 99 % in"):
        table.add_column(name, justify="right" if name in ("K", "from k", "by shift") else "left")
    for layer in lens.layers:
        verdict, norm = layer.verdict, layer.states.norm
        gates = ", ".join(f"{name} {float(gate.mean.mean()):.2f}" for name, gate in layer.gates.items())
        hops = -1 if layer.reach is None else layer.reach.sees()
        table.add_row(
            layer.name,
            layer.filter,
            str(layer.K),
            verdict.word,
            "" if verdict.since is None else str(verdict.since),
            f"{float(norm[-1] / norm[0]):.3g}",
            f"× {verdict.rate:.3g}",
            gates or "–",
            f"{hops} hops" if hops >= 0 else "–",
        )
    return table
