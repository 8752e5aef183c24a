"""Progress: a live table on a terminal, plain lines elsewhere."""

import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean, stdev
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from shiftstate.machine.study import Study
from shiftstate.machine.trial import Cell, Trial


class Progress:
    """What runs, how many of how many, the time left, and the mean of every cell as it fills."""

    def __init__(self, study: Study, planned: Iterable[Trial], console: Console | None = None) -> None:
        self.study, self.metric = study, study.metric
        self.console = console or Console()
        self.planned: dict[Cell, int] = defaultdict(int)
        for trial in planned:
            self.planned[trial.cell] += 1
        self.scores: dict[Cell, list[float]] = defaultdict(list)
        self.seconds: dict[Cell, list[float]] = defaultdict(list)
        self._stored_seconds: dict[Cell, list[float]] = defaultdict(list)  # by earlier runs, perhaps on other machines
        self.running: dict[Trial, float] = {}
        self._began = time.monotonic()
        self._worked = 0.0  # seconds of training in this run, all workers together
        self._lock = threading.Lock()  # a terminal is drawn by a thread of its own
        self._live = Live(console=self.console, get_renderable=self._render, refresh_per_second=2, transient=True)

    def __enter__(self) -> "Progress":
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.console.is_terminal:
            self._live.stop()
            self.console.print(self._cells())

    def started(self, trial: Trial) -> None:
        """A worker has it, or had it and lost it and another has it now."""
        with self._lock:
            self.running[trial] = time.monotonic()

    def known(self, trial: Trial, score: float, seconds: float) -> None:
        """It was stored before this run began."""
        with self._lock:
            self.scores[trial.cell].append(score)
            self._stored_seconds[trial.cell].append(seconds)

    def finished(self, trial: Trial, score: float, seconds: float, outcome: str) -> None:
        """It is stored now."""
        with self._lock:
            self.running.pop(trial, None)
            self._worked += seconds
            self.scores[trial.cell].append(score)
            self.seconds[trial.cell].append(seconds)
        if not self.console.is_terminal:
            mean = fmean(self.scores[trial.cell])
            note = "" if outcome == "finished" else f" ({outcome})"
            self.console.print(
                f"[{self.done}/{self.total}] {trial}: {self._show(score)}{note} in {seconds:.1f} s; "
                f"cell mean {self._show(mean)}; {_duration(self.seconds_left())} left",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )

    @property
    def done(self) -> int:
        """Trials that are stored."""
        return sum(map(len, self.scores.values()))

    @property
    def total(self) -> int:
        """Trials that are planned."""
        return sum(self.planned.values())

    def seconds_left(self) -> float:
        """By the mean duration of each cell in this run; those of earlier runs are taken at the pace of this one.

        Cells without any are taken to be like the others' mean.
        """
        fresh = {cell: fmean(values) for cell, values in self.seconds.items()}
        stored = {cell: fmean(values) for cell, values in self._stored_seconds.items()}
        both = fresh.keys() & stored.keys()
        pace = sum(fresh[cell] for cell in both) / max(sum(stored[cell] for cell in both), 1e-9) if both else 1.0
        known = {cell: pace * seconds for cell, seconds in stored.items()} | fresh
        usual = fmean(known.values()) if known else 0.0
        work = sum(known.get(cell, usual) * (count - len(self.scores[cell])) for cell, count in self.planned.items())
        now = time.monotonic()
        begun = sum(now - start for start in self.running.values())
        at_once = (self._worked + begun) / max(now - self._began, 1e-9)
        return max(0.0, work - begun) / max(at_once, 1e-9)

    def _render(self) -> RenderableType:
        with self._lock:
            return self._screen()

    def _screen(self) -> RenderableType:
        now = time.monotonic()
        lines = [Text(f"  {one}  {_duration(now - start)}", style="dim") for one, start in self.running.items()]
        head = Table.grid(padding=(0, 2))
        left = f"{_duration(self.seconds_left())} left" if self.done else "starting"
        head.add_row(f"{self.done} of {self.total}", ProgressBar(self.total, self.done, width=40), left)
        return Group(self._cells(), head, *lines)

    def _show(self, score: float) -> str:
        return f"{self.metric.show(score)}{self.metric.unit}"

    def _cells(self) -> Table:
        """One row for every model, one column for every place that a model can have."""
        places = {self._beside(cell, None): cell for cell in sorted(self.planned, key=self.study.order)}
        table = Table(box=None, padding=(0, 2), title=f"{self.metric.title} after the last epoch", title_justify="left")
        table.add_column("")
        for place, cell in places.items():
            table.add_column(self._heading(place, cell), justify="right")
        for name in dict.fromkeys(cell[self.study[cell.experiment].model] for cell in self.planned):
            table.add_row(name, *(self._cell(self._beside(place, name)) for place in places))
        return table

    def _beside(self, cell: Cell, name: str | None) -> Cell:
        return cell.at(**{self.study[cell.experiment].model: name})

    def _heading(self, place: Cell, cell: Cell) -> str:
        experiment = self.study[cell.experiment]
        axes = [axis for axis in experiment.axes if axis.name != experiment.model]
        words = [str(place[axis.name]) for axis in axes if axis.kind is str]
        numbers = [f"{axis.name}={place[axis.name]}" for axis in axes if axis.kind is not str]
        below = "baselines" if cell[experiment.model] in experiment.baselines else " ".join(numbers)
        return " ".join([experiment.name, *words]) + f"\n{below}"

    def _cell(self, cell: Cell) -> str:
        values = self.scores[cell]
        if cell not in self.planned:
            return ""
        spread = f" ± {self.metric.show(stdev(values))}" if len(values) > 1 else ""
        mean = f"{self.metric.show(fmean(values))}{spread}" if values else "–"
        return f"{mean}  [dim]{len(values)}/{self.planned[cell]}[/dim]"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
