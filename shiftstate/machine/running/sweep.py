"""The sweep: hand trials out, record each as it finishes, give lost ones out again."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TypeVar

from shiftstate.errors import SweepError, keep
from shiftstate.machine.running.engines import Engine, Pool, work

Work = TypeVar("Work")
"""What a worker is given: a trial, or anything else that can be pickled and shown."""
Result = TypeVar("Result")

PATIENCE = 3
"""Pools that may break in a row without a single trial finished: more than that is no accident."""


def sweep(
    trials: Iterable[Work],
    engine: Engine,
    finished: Callable[[Work, Result], None],
    started: Callable[[Work], None] = lambda trial: None,
    task: Callable[[Work], Result] = work,  # type: ignore[assignment]
) -> None:
    """Run all trials; ``finished`` is called in this process, for one after the other, and stores it.

    A killed worker breaks its pool; a new one is opened and what was in flight is handed out again. A
    trial that fails by itself ends the sweep: it would fail again.
    """
    waiting = deque(trials)
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
    waiting: deque[Work],
    pool: Pool,
    finished: Callable[[Work, Result], None],
    started: Callable[[Work], None],
    task: Callable[[Work], Result],
) -> None:
    """Keep the pool busy until nothing waits or it breaks; then what was lost is in ``waiting`` again."""
    flying: dict[Future[Result], Work] = {}
    lost: list[Work] = []
    while flying or (waiting and not lost):
        while waiting and not lost and len(flying) < pool.slots():
            trial = waiting.popleft()
            try:
                flying[pool.executor.submit(task, trial)] = trial
            except pool.lost:
                lost.append(trial)
                break
            started(trial)
        done, _ = wait(flying, return_when=FIRST_COMPLETED)
        for future in done:
            trial = flying.pop(future)
            try:
                outcome = future.result()
            except pool.lost:
                lost.append(trial)
            except Exception as error:
                message = " ".join(str(error).split())
                raise SweepError(f"{trial} failed: {type(error).__name__}: {message}") from error
            else:
                finished(trial, outcome)
                keep()
    waiting.extendleft(reversed(lost))
