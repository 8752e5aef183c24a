"""The layers: parameters, initialisation, one call of a filter."""

from shiftstate.layers.base import Layer, Trace
from shiftstate.layers.gcnn import GCNN
from shiftstate.layers.lssm import LSSM
from shiftstate.layers.rsn import RSN

LAYERS: dict[str, type[Layer]] = {"gcnn": GCNN, "rsn": RSN, "lssm": LSSM}

__all__ = ["GCNN", "LAYERS", "LSSM", "RSN", "Layer", "Trace"]
