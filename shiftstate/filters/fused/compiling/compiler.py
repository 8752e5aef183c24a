"""How the kernels are compiled: once, cached on disk, without the assumptions that would hide a NaN."""

import hashlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event
from numba.core.compiler import CompilerBase, DefaultPassBuilder

# Fused multiply-add, no care for the sign of zero, x / y as x · (1/y). Not nnan and ninf, which let a NaN pass for a
# number, and not reassoc, which would make a sum depend on the vector width.
FASTMATH = {"contract", "nsz", "arcp"}


class NoAlias(CompilerBase):
    """Numba's pipeline, told that no two arrays of a kernel's arguments overlap.

    Without it LLVM has to check a dozen arrays against each other before every loop, gives up, and emits scalar code:
    the LSSM's backward is then eight times as slow. Every kernel's caller hands in disjoint arrays.
    """

    def define_pipelines(self) -> list[Any]:
        """The ordinary pipeline, with the flag set."""
        self.state.flags.noalias = True
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


def stamp_of(folder: Path) -> str:
    """A fingerprint of all kernels together."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


STAMP = stamp_of(Path(__file__).parents[1])


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call for each combination of types; release the GIL; keep the result on disk."""
    options: dict[str, Any] = {"nogil": True, "fastmath": FASTMATH, "error_model": "numpy", "pipeline_class": NoAlias}
    try:
        dispatcher: Any = njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to write: neither beside the package nor in the home
        return njit(**options)(function)
    # Numba looks at a function's own file alone; a kernel holds the code of others too, and is stale when they change.
    file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if file is not None:
        file._source_stamp = STAMP
    return dispatcher


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile into the kernels that call it."""
    return njit(forceinline=True, fastmath=FASTMATH, error_model="numpy")(function)


_ready: set[tuple[Any, ...]] = set()


class _Compilations(event.Listener):
    """Notices whether anything is compiled; what comes from the cache is not."""

    any = False

    def on_start(self, event: Any) -> None:
        """A compilation begins."""
        self.any = True

    def on_end(self, event: Any) -> None:
        """A compilation ends."""


_silent = nullcontext()
_announcing = threading.local()


def announced(what: str, *variant: Any) -> AbstractContextManager[None]:
    """Say on standard error, once for each variant, that kernels are being compiled if that takes over a second.

    Inside another announcement nothing is said: the kernels belong to what is being announced already.
    """
    key = (what, *variant)
    return _silent if key in _ready or getattr(_announcing, "now", False) else _announce(key)


@contextmanager
def _announce(key: tuple[Any, ...]) -> Iterator[None]:
    compilations = _Compilations()

    def announce() -> None:
        if compilations.any:
            print(f"shiftstate: compiling the fused {key[0]} kernels (once; then cached)", file=sys.stderr, flush=True)

    timer = threading.Timer(1.0, announce)
    timer.daemon = True
    timer.start()
    _announcing.now = True
    try:
        with event.install_listener("numba:compile", compilations):
            yield
        _ready.add(key)
    finally:
        _announcing.now = False
        timer.cancel()
