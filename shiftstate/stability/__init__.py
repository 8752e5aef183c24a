"""What happens to the state along the shifts: norms, gates, gradients, reach, response, and a verdict in words."""

from shiftstate.stability.curves import Curve, Gate
from shiftstate.stability.gradients import Gradients
from shiftstate.stability.graph import Drawing, Spectrum
from shiftstate.stability.lens import LayerLens, Lens, Sample, examine
from shiftstate.stability.reach import Reach
from shiftstate.stability.response import Response
from shiftstate.stability.verdict import Verdict

__all__ = [
    "Curve",
    "Drawing",
    "Gate",
    "Gradients",
    "LayerLens",
    "Lens",
    "Reach",
    "Response",
    "Sample",
    "Spectrum",
    "Verdict",
    "examine",
]
