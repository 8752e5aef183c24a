"""The machine: runs, resumes, stores, judges, tabulates, draws and shows any study.

What a study fills in is imported from here: `Study`, `Experiment` and their parts.
"""

from shiftstate.machine.arrays import array_file, load_arrays
from shiftstate.machine.judging.claims import Claim, beats, best, steadiest
from shiftstate.machine.presets import read_presets
from shiftstate.machine.run import Outcome, count_parameters, drawing, nearest_channels
from shiftstate.machine.settings import Training, added
from shiftstate.machine.study import (
    Axis,
    Count,
    Experiment,
    Landmark,
    Measure,
    Picture,
    Requirement,
    Source,
    Study,
)
from shiftstate.machine.trial import Cell, Trial

__all__ = [
    "Axis",
    "Cell",
    "Claim",
    "Count",
    "Experiment",
    "Landmark",
    "Measure",
    "Outcome",
    "Picture",
    "Requirement",
    "Source",
    "Study",
    "Training",
    "Trial",
    "added",
    "array_file",
    "beats",
    "best",
    "count_parameters",
    "drawing",
    "load_arrays",
    "nearest_channels",
    "read_presets",
    "steadiest",
]
