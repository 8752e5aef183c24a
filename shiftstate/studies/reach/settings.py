"""What a training of the ring studies depends on."""

from dataclasses import dataclass, field

from shiftstate import machine as m


@dataclass(frozen=True)
class Rings:
    """How many rings are drawn."""

    seed: int = 0
    train: int = 16_000
    valid: int = 500
    test: int = 1_000


@dataclass(frozen=True)
class FilterOptions:
    """The options of our filters: the far-sighted form."""

    init: str = "far"
    basis: str = "chebyshev"
    mixing: str = "dense"
    tied: bool = True
    input: str = "every"
    gates: bool = True
    """False freezes all gates open."""


@dataclass(frozen=True)
class ReachArchitecture(FilterOptions):
    """What all models share, and the options of our filters."""

    parameters: int = 4_000
    order_share: float = 1.0
    """K of filters and depth of message passing, as a share of the distance d."""
    warm_up: tuple[int, ...] = ()
    """Shorter distances to learn first, each for some steps, with the model cut to as many hops where it can be."""
    warm_up_signals: int = 4_000
    """Drawn anew for each of these distances, and seen once."""


@dataclass(frozen=True)
class ReachSettings:
    """Everything that a training on rings depends on."""

    data: Rings = field(default=Rings())
    architecture: ReachArchitecture = field(default=ReachArchitecture())
    training: m.Training = field(
        default=m.Training(epochs=1, batch_size=40, learning_rate=(0.002, 0.006), schedule="onecycle", clip=1.0)
    )
