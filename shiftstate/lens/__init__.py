"""What happens to the state along the shifts: norms, gates, gradients, reach, response, and a verdict in words."""

from shiftstate.lens.curves import Curve, Gate
from shiftstate.lens.examination import LayerLens, Lens, Sample, examine
from shiftstate.lens.gradients import Gradients
from shiftstate.lens.graph import Drawing, Spectrum
from shiftstate.lens.over_draws import Dependence, dependence
from shiftstate.lens.reach import Reach
from shiftstate.lens.response import Response
from shiftstate.lens.verdict import Verdict

__all__ = [
    "Curve",
    "Dependence",
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
    "dependence",
    "examine",
]
