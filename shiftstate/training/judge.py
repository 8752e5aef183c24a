"""What decides on the best epoch."""

from dataclasses import dataclass, field

from torch import Tensor, nn

from shiftstate.graphs import Shift
from shiftstate.tasks import Task
from shiftstate.training.parts import Part


@dataclass
class Judge:
    """Looks at the validation data, and keeps what belongs to the best epoch."""

    model: nn.Module
    shift: Shift
    task: Task
    valid: Part
    test: Part | None
    keep_best: bool
    at_once: int | None
    best_epoch: int = 0
    looks: dict[int, float] = field(default_factory=dict)
    """Validation scores by epoch."""
    best_scores: dict[str, float] | None = None
    """Test scores of the best epoch, once they are known."""
    weights: dict[str, Tensor] = field(default_factory=dict)
    """The model after the best epoch, if it is kept."""

    def look(self, number: int) -> float:
        """The validation score after this epoch."""
        outputs = self.valid.evaluated(self.model, self.shift, self.at_once)
        score = self.looks[number] = self.task.score(*self.valid.judged(outputs))
        if self.best_epoch == 0 or self.task.better(score, self.looks[self.best_epoch]):
            self.best_epoch = number
            if self.test is not None:
                shared = self.test.x is self.valid.x
                self.best_outputs = self._tested(outputs if shared else None)
                self.best_scores = None
            if self.keep_best:
                self.weights = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}
        return score

    def scores(self) -> tuple[dict[str, float], dict[str, float]]:
        """Test scores of the last and of the best model; the best is put back if it was kept."""
        last, best = {}, {}
        if self.test is not None:
            last, best = self.task.scores(*self._tested(None)), self.best()
        if self.keep_best:
            self.model.load_state_dict(self.weights)
        return last, best

    def best(self) -> dict[str, float]:
        """Test scores of the best model; computed when they are asked for."""
        if self.test is None:
            return {}
        if self.best_scores is None:
            self.best_scores = self.task.scores(*self.best_outputs)
        return self.best_scores

    def _tested(self, outputs: Tensor | None) -> tuple[Tensor, Tensor]:
        assert self.test is not None
        if outputs is None:
            outputs = self.test.evaluated(self.model, self.shift, self.at_once)
        return self.test.judged(outputs)
