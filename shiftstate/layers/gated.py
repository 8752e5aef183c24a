"""What filters with gates share: learned biases inside the gates."""

from typing import Any

from shiftstate.layers.base import Layer


class GatedLayer(Layer):
    """A layer whose affine maps may have biases: h_knw w + h_knx x + b_kn for each name n of `updates`.

    Takes the arguments of `Layer`, and:

    Args:
        gate_bias: whether to add them. They are called ``b_n`` and shaped like the input weights ((K, F) with
            dense mixing), and the draw "paper" sets them to zero.
    """

    def __init__(self, in_channels: int, out_channels: int, K: int, *, gate_bias: bool = False, **options: Any) -> None:
        self.gate_bias = bool(gate_bias)
        super().__init__(in_channels, out_channels, K, **options)

    def parameter_shapes(self) -> dict[str, tuple[int, ...]]:
        """The weights, and the gate biases shaped like the input weights."""
        shapes = super().parameter_shapes()
        if self.gate_bias:
            signal = (self.out_channels,) if self.dense_taps() else self._weight_shapes()[1]
            shapes |= {f"b_{name}": (self._sets(self.K), *signal) for name in self.updates}
        return shapes
