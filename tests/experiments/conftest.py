"""The fixtures of `tests.machine.trials`, under the names that the page's tests know them by."""

from tests.machine.trials import outcome
from tests.machine.trials import trial as realization

__all__ = ["outcome", "realization"]
