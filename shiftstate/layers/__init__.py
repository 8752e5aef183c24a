"""The layers: parameters, initialisation, one call of a filter."""

from shiftstate.layers.base import Layer
from shiftstate.layers.gated import GatedLayer
from shiftstate.layers.gcnn import GCNN
from shiftstate.layers.gsn import GSN
from shiftstate.layers.lssm import LSSM
from shiftstate.layers.rsn import RSN
from shiftstate.layers.size import LargeBankWarning
from shiftstate.layers.tracing import Trace

LAYERS: dict[str, type[Layer]] = {"gcnn": GCNN, "rsn": RSN, "lssm": LSSM, "gsn": GSN}

__all__ = ["GCNN", "GSN", "LAYERS", "LSSM", "RSN", "GatedLayer", "LargeBankWarning", "Layer", "Trace"]
