"""The experiments of the paper: Figure 1, Table 1 and Table 2, with its claims and published numbers."""

from collections.abc import Iterable
from pathlib import Path

from shiftstate.machine.presets import Preset, read_presets
from shiftstate.machine.presets import load_preset as load
from shiftstate.machine.study import Study
from shiftstate.studies.paper.authorship import TABLE2
from shiftstate.studies.paper.claims import claims
from shiftstate.studies.paper.published import PUBLISHED
from shiftstate.studies.paper.source_localization import FIGURE1, TABLE1, clusters_found

PRESETS = (
    "smoke",
    "quick",
    "paper",
    "community",
    "tuned",
    "matched",
    "books",
    "library",
    "one_source",
    "baseline_bias",
)

NOTE_OF_GRAPHS = """\
Effects are paired differences of per-graph means, or of standard deviations with a jackknife over graphs; p is
two-sided, after Holm's correction over the claims that could be tested; intervals are not corrected."""
NOTE_OF_UNITS = """\
Effects are paired differences of the means of each unit (graph, split or held-out book), or of standard deviations
with a jackknife over graphs; p is two-sided, by the corrected resampled t-test for table2, after Holm's correction over
the claims of source localization, of table2, and against the baselines, each family for itself; intervals are not
corrected."""


def _unit_word(experiments: Iterable[str]) -> str:
    return "units" if TABLE2.name in experiments else "graphs"


def _claims_note(experiments: Iterable[str]) -> str:
    return NOTE_OF_UNITS if TABLE2.name in experiments else NOTE_OF_GRAPHS


STUDY = Study(
    "paper",
    (FIGURE1, TABLE1, TABLE2),
    presets=read_presets(__name__, PRESETS),
    claims=claims,
    published=PUBLISHED,
    reading="The reading of the paper",
    command="shiftstate reproduce",
    unit_word=_unit_word,
    claims_note=_claims_note,
    claims_about=(
        "The paper's sentences about its results, and what these results say to them. Effects are paired differences "
        "of means, against the strongest rival if there are several; p is two-sided, after Holm's correction over the "
        "claims that could be tested; n counts graphs or, for texts, splits or books."
    ),
    extras=clusters_found,
    names_metric=False,
)


def load_preset(name: str, config: Path | None = None, overrides: Iterable[str] = ()) -> Preset:
    """A preset of the paper's experiments, a user's TOML over it, ``KEY=VALUE`` over both."""
    return load(STUDY, name, config, overrides)
