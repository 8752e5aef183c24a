"""Does the graph help? A model beside models without the graph: scores, intervals, and one sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shiftstate.estimators.base import Estimator
from shiftstate.estimators.graph_help.intervals import Lead, over_seeds
from shiftstate.estimators.graph_help.verdict import plain, sentence
from shiftstate.tasks import Metric


@dataclass(frozen=True)
class Contender:
    """One model: its validation score, and its test score for every seed."""

    name: str
    title: str
    valid: float
    tests: tuple[float, ...]

    @property
    def test(self) -> float:
        """The mean over seeds."""
        return float(np.mean(self.tests))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the mean over seeds; None for one seed, or for a model without chance."""
        return over_seeds(self.tests)


@dataclass(frozen=True)
class Comparison:
    """A model beside models without the graph, all on the same test data."""

    metric: Metric
    model: Contender
    others: tuple[Contender, ...]
    leads: dict[str, Lead]
    """By how much the model is better than each of the others, with 95 % intervals; below 0 if it is worse."""
    estimators: tuple[Estimator, ...]
    """The fitted model for every seed."""
    by_horizon: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """Of forecasts: the test scores of the model ("model") and the others at every horizon, the mean over seeds."""

    @property
    def rival(self) -> Contender:
        """The best model without the graph, by its validation score."""
        best = self.others[0]
        for other in self.others[1:]:
            best = other if self.metric.better(other.valid, than=best.valid) else best
        return best

    @property
    def lead(self) -> float:
        """By how much the model is better than its rival."""
        return self.leads[self.rival.name].value

    @property
    def low(self) -> float:
        """The lower end of the lead's interval."""
        return self.leads[self.rival.name].low

    @property
    def high(self) -> float:
        """The upper end of the lead's interval."""
        return self.leads[self.rival.name].high

    @property
    def verdict(self) -> str:
        """One sentence."""
        lead = (self.lead, self.low, self.high)
        return sentence(self.metric, self.rival.name, self.rival.title, lead, self.rival.test)

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        interval = self.model.interval
        return {
            "metric": self.metric.name,
            "direction": self.metric.direction,
            "test": {
                "mean": self.model.test,
                "seeds": list(self.model.tests),
                "interval": None if interval is None else list(interval),
            },
            "baselines": {other.name: other.test for other in self.others},
            "rival": self.rival.name,
            "lead": self.lead,
            "interval": [self.low, self.high],
            "leads": {name: [lead.value, lead.low, lead.high] for name, lead in self.leads.items()},
            "by_horizon": {name: list(scores) for name, scores in self.by_horizon.items()},
            "verdict": self.verdict,
        }

    def table(self) -> str:
        """One line per model, the best first, with the interval over seeds where there is one."""
        everyone = [self.model, *self.others]
        ordered = sorted(everyone, key=lambda one: one.test, reverse=self.metric.direction == "higher")
        width = max(len(one.title) for one in everyone)
        lines = [
            f"{one.title:{width}}  {plain(self.metric, one.test)}{self._spread(one)}{self._each(one)}"
            for one in ordered
        ]
        return "\n".join([f"{self.metric.title} on test data", *lines])

    def _spread(self, one: Contender) -> str:
        interval = one.interval
        return "" if interval is None else f"  ({plain(self.metric, interval[0])} … {plain(self.metric, interval[1])})"

    def _each(self, one: Contender) -> str:
        """Scores at every horizon, where there are several."""
        scores = [plain(self.metric, score) for score in self.by_horizon.get(one.name, ())]
        return f"  by horizon: {', '.join(scores)}" if len(scores) > 1 else ""
