"""The sweep: hand realizations out, record each as it finishes, give lost ones out again."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait

from shiftstate.errors import SweepError
from shiftstate.experiments.config import Realization
from shiftstate.experiments.engines import Engine, Pool, work
from shiftstate.experiments.realization import Outcome

PATIENCE = 3
"""Pools that may break in a row without a single realization finished: more than that is no accident."""


def sweep(
    realizations: Iterable[Realization],
    engine: Engine,
    finished: Callable[[Realization, Outcome], None],
    started: Callable[[Realization], None] = lambda realization: None,
    task: Callable[[Realization], Outcome] = work,
) -> None:
    """Run all realizations; ``finished`` is called in this process, for one after the other.

    A killed worker breaks its pool; a new one is opened and what was in flight is handed out again. A
    realization that fails by itself ends the sweep: it would fail again.
    """
    waiting = deque(realizations)
    broken = 0
    while waiting:
        left = len(waiting)
        with engine() as pool:
            _drain(waiting, pool, finished, started, task)
        broken = broken + 1 if len(waiting) == left else 0
        if broken == PATIENCE:
            raise SweepError(
                f"workers died {PATIENCE} times in a row with nothing finished, last at {waiting[0]}; "
                "expected them to live: is there enough memory? try fewer workers"
            )


def _drain(
    waiting: deque[Realization],
    pool: Pool,
    finished: Callable[[Realization, Outcome], None],
    started: Callable[[Realization], None],
    task: Callable[[Realization], Outcome],
) -> None:
    """Keep the pool busy until nothing waits or it breaks; then what was lost is in ``waiting`` again."""
    flying: dict[Future[Outcome], Realization] = {}
    lost: list[Realization] = []
    while flying or (waiting and not lost):
        while waiting and not lost and len(flying) < pool.slots():
            realization = waiting.popleft()
            try:
                flying[pool.executor.submit(task, realization)] = realization
            except pool.lost:
                lost.append(realization)
                break
            started(realization)
        done, _ = wait(flying, return_when=FIRST_COMPLETED)
        for future in done:
            realization = flying.pop(future)
            try:
                outcome = future.result()
            except pool.lost:
                lost.append(realization)
            except Exception as error:
                message = " ".join(str(error).split())
                raise SweepError(f"{realization} failed: {type(error).__name__}: {message}") from error
            else:
                finished(realization, outcome)
    waiting.extendleft(reversed(lost))
