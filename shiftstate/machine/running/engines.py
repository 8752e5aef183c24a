"""Where trials run: processes of this machine, or a Dask cluster. Both are concurrent.futures executors."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from shiftstate.checks import check_name, check_whole
from shiftstate.machine.run import Outcome, one_thread, run
from shiftstate.machine.trial import Trial

ENGINES = ("local", "dask")


@dataclass(frozen=True)
class Pool:
    """An executor, and what the sweep has to know about it."""

    executor: Executor
    slots: Callable[[], int]
    """How many trials to keep in flight."""
    lost: tuple[type[BaseException], ...]
    """Exceptions by which a future says that its worker is gone, rather than that its work failed."""


Engine = Callable[[], AbstractContextManager[Pool]]
"""Opens a pool; called again whenever the last one broke."""


def work(trial: Trial, directory: Path | None = None) -> Outcome:
    """What a worker does. One thread: the same sums in the same order, however many workers there are.

    Args:
        trial: what to run.
        directory: of the results, where prepared data lie if the experiment's are given by path.
    """
    source = trial.experiment.source
    prepared = source.file(directory, trial.settings) if source is not None and directory is not None else None
    with one_thread():
        return run(trial, prepared)


def make_engine(name: str = "local", workers: int | None = None, scheduler: str | None = None) -> Engine:
    """The engine of this name.

    Args:
        name: "local", or "dask" (needs the extra ``shiftstate[dask]``).
        workers: processes on this machine; as many as it has cores by default.
        scheduler: the address of a running Dask scheduler; without one a cluster is started on this machine.
    """
    check_name("engine", name, ENGINES)
    if scheduler is not None and name != "dask":
        raise ValueError(f"a scheduler was given with engine {name!r}; expected it with --engine dask")
    if scheduler is not None and workers is not None:
        raise ValueError("workers were given with a scheduler; expected one of them: a cluster brings its own workers")
    count = check_whole("workers", workers if workers is not None else _cores(), 1)
    if name == "local":
        return lambda: _processes(count)
    distributed = _import_dask()  # asked for before anything is run
    return lambda: _dask(distributed, count, scheduler)


def check_devices(planned: Iterable[Trial]) -> None:
    """Refuse devices that this machine does not have; workers elsewhere have to see for themselves."""
    for device in {one.settings.training.device for one in planned}:
        try:
            torch.zeros(1, device=device).item()
        except (AssertionError, NotImplementedError, RuntimeError) as error:
            reason = str(error).splitlines()[0]
            raise ValueError(f"device is {device!r}; expected one that this machine has ({reason})") from None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _later(*signals: signal.Signals) -> Iterator[None]:
    """These signals wait until the block is done."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Processes(ProcessPoolExecutor):
    """A pool whose workers are deaf to Ctrl-C from birth: they inherit it blocked, until `_begin_worker` ignores it."""

    def submit(self, *arguments: Any, **keywords: Any) -> Future[Any]:
        with _later(signal.SIGINT):
            return super().submit(*arguments, **keywords)  # starts a worker where one is missing


@contextmanager
def _processes(workers: int) -> Iterator[Pool]:
    before = {child.pid for child in multiprocessing.active_children()}
    context = multiprocessing.get_context("spawn")
    executor: _Processes | None = None
    try:
        # A queue that is cut off while it is made leaves its semaphores behind. A signal that waited is raised at the
        # end of this block, inside the try, so that the pool is shut down then too.
        with _later(signal.SIGINT, signal.SIGTERM):
            executor = _Processes(workers, mp_context=context, initializer=_begin_worker)
        yield Pool(executor, lambda: workers, (BrokenExecutor,))
    except BaseException:
        # Nobody waits for what is in flight, nor may it run on: it will be given out again.
        for child in multiprocessing.active_children():
            if child.pid not in before:
                child.kill()
        raise
    finally:
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)


def _begin_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent.join()
    os._exit(1)


def _import_dask() -> Any:
    try:
        return import_module("distributed")
    except ImportError:
        raise ValueError("engine 'dask' needs Dask; expected it installed: pip install 'shiftstate[dask]'") from None


@contextmanager
def _dask(distributed: Any, workers: int, scheduler: str | None) -> Iterator[Pool]:
    with ExitStack() as stack:
        if scheduler is None:
            cluster = distributed.LocalCluster(workers, threads_per_worker=1, processes=True, dashboard_address=None)
            client = stack.enter_context(distributed.Client(stack.enter_context(cluster)))
        else:
            client = stack.enter_context(_connect(distributed.Client, scheduler))

        def slots() -> int:  # two for every thread of the cluster as it is now, so that none waits for the next
            return 2 * max(1, sum(map(int, client.nthreads().values())))

        yield Pool(client.get_executor(pure=False), slots, (distributed.KilledWorker, CancelledError))


def _connect(client: Any, scheduler: str) -> Any:
    try:
        return client(scheduler, timeout="10s")
    except (OSError, ValueError, TimeoutError) as error:
        raise ValueError(
            f"no Dask scheduler answers at {scheduler!r} ({type(error).__name__}); "
            "expected an address such as tcp://host:8786: is it running?"
        ) from None
