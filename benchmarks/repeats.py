"""What it saves to filter equal signals once: epochs of source localization with and without, side by side.

    python benchmarks/repeats.py

Late signals S^t δ of one source are equal in float32, so a batch repeats itself: at `hub` it has one source a block, at
`any` ten. Both ways take the same steps except for rounding. One thread; the best of several epochs counts.
"""

import torch

from shiftstate.machine.trial import Trial
from shiftstate.studies.paper import load_preset
from shiftstate.studies.paper.networks import build
from shiftstate.studies.paper.source_localization import source_data
from shiftstate.training import fit

EPOCHS = 4


def best_epoch(trial: Trial, share_equal: bool) -> float:
    """Seconds of the fastest epoch, validation included."""
    data = source_data(trial)
    seconds = []
    for _ in range(EPOCHS):
        model = build(trial, data)
        done = fit(
            model,
            data.shift,
            data,
            epochs=1,
            batch_size=trial.settings.training.batch_size,
            learning_rate=1e-3,
            share_equal=share_equal,
        )
        seconds.append(done.seconds)
    return min(seconds)


def main() -> None:
    """The paper's cells under both readings of the source."""
    torch.set_num_threads(1)
    for preset in ("paper", "community"):
        cells = [one for one in load_preset(preset).trials("figure1") if (one.unit, one.repetition) == (0, 0)]
        x = source_data(cells[0]).train.x
        print(f"{preset}: {len(x)} training signals, {len(torch.unique(x, dim=0))} of them different")
        for one in cells:
            each, shared = best_epoch(one, share_equal=False), best_epoch(one, share_equal=True)
            print(f"  {one['filter']} K={one['K']}: {each:.2f} s an epoch, once {shared:.2f} s: {each / shared:.2f}x")


if __name__ == "__main__":
    main()
