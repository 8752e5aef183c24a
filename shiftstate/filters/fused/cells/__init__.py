"""The filters that have fused kernels: every module of this folder is one, and defines it as `CELL`.

A layer names its cell in its class attribute ``fused``.
"""

import pkgutil
from importlib import import_module

from shiftstate.filters.fused.cell import Kernels

CELLS: dict[str, Kernels] = {
    module.name: import_module(f"{__name__}.{module.name}").CELL for module in pkgutil.iter_modules(__path__)
}
