"""Regression: outputs are the numbers themselves, of signals or of nodes."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Literal

from torch import Tensor
from torch.nn.functional import huber_loss, l1_loss, mse_loss

from shiftstate.checks import check_name
from shiftstate.tasks.base import Task
from shiftstate.tasks.metrics import REGRESSION_METRICS
from shiftstate.tasks.targets import as_measurements

CRITERIA: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "squared": mse_loss,
    "absolute": l1_loss,
    "huber": huber_loss,
}


class Regression(Task):
    """Minimise the mean of (ŷ − y)², of |ŷ − y|, or of Huber's mixture of both.

    Args:
        metric: the one that decides which epoch is the best on validation data.
        metrics: those to compute beside it, by name; all by default.
        criterion: "squared", "absolute", or "huber": squared up to 1, absolute beyond.
    """

    known_metrics = REGRESSION_METRICS

    def __init__(
        self,
        metric: str = "rmse",
        metrics: Iterable[str] | None = None,
        *,
        criterion: Literal["squared", "absolute", "huber"] = "squared",
    ) -> None:
        super().__init__(metric, metrics)
        self.criterion = check_name("criterion", criterion, CRITERIA)

    def targets(self, y: Any, name: str) -> Tensor:
        """Real numbers."""
        return as_measurements(y, name)

    def target_axes(self, x: Tensor) -> tuple[int, ...]:
        """One number or several per signal, or per node."""
        axes = x.dim() - 1 if self.per_node else 1
        return (axes, axes + 1)

    def flat(self, outputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Both (n) or (n, T); a single number may come with or without its axis."""
        if outputs.shape == (*targets.shape, 1):
            outputs = outputs.squeeze(-1)
        elif targets.shape == (*outputs.shape, 1):
            targets = targets.squeeze(-1)
        if outputs.shape != targets.shape:
            raise ValueError(
                f"the model gives outputs {tuple(outputs.shape)} for targets {tuple(targets.shape)}; expected "
                "one shape; is num_outputs of the readout wrong, or has it outputs per signal where nodes have targets?"
            )
        return outputs, targets

    def check_values(self, outputs: Tensor, targets: Tensor, name: str) -> None:
        """Targets are finite."""
        bad = (~targets.isfinite()).nonzero()
        if len(bad):
            raise ValueError(
                f"{name} holds {len(bad)} values that are not finite (the first is number {int(bad[0][0])}); expected "
                "numbers; leave missing targets out by a mask"
            )

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The mean of the criterion."""
        outputs, targets = self.flat(outputs, targets)
        return CRITERIA[self.criterion](outputs, targets.to(outputs.dtype))


class SignalRegression(Regression):
    """One number or several per signal: outputs (n, T), targets (n) or (n, T). See `Regression`."""

    name: ClassVar[str] = "signal-regression"
    per_node: ClassVar[bool] = False


class NodeRegression(Regression):
    """One number or several per node: outputs (…, N, T), targets (…, N) or (…, N, T). See `Regression`."""

    name: ClassVar[str] = "node-regression"
    per_node: ClassVar[bool] = True
