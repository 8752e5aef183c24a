"""What all layers share: parameters and their draw, checks, and the choice of a kernel."""

import math
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from shiftstate.checks import check_finite, check_name, check_not_scripted, check_whole, no_script
from shiftstate.filters import Step, Taps, choose_kernel, reference
from shiftstate.filters.activations import Activation, activation
from shiftstate.filters.linear import linear
from shiftstate.filters.reference import Observer
from shiftstate.graphs import Shift
from shiftstate.graphs.operators import without_autocast
from shiftstate.layers.draws import draw_uniform
from shiftstate.layers.inputs import check_call
from shiftstate.layers.options import (
    BASES,
    INITS,
    INPUTS,
    KERNELS,
    MIXINGS,
    Basis,
    Init,
    Input,
    Kernel,
    Mixing,
    check_checkpoint,
)
from shiftstate.layers.size import check_parameters, check_states
from shiftstate.layers.tied import at_every_shift, at_the_last
from shiftstate.layers.tracing import Trace, trace
from shiftstate.signatures import check_keywords, constructor_options, current_options, name_methods

SIZES = ("in_channels", "out_channels", "K")
EQUATIONS = ("updates", "outputs", "output_taps", "dense_is_bank", "start", "update", "output", "finish")
"""What a filter's equations are made of. A subclass that changes one of these is another filter."""


class Layer(nn.Module):
    """A bank of F × G graph filters: y^f = Σ_g filter^{fg}(x^g) + b^f. The base of GCNN, RSN, LSSM and your own.

    A filter is a recurrence over shifts, w_k from S w_{k−1} and x. A subclass names its affine maps in
    `updates` and writes `update`; for each name n the layer then has the weights ``h_nw`` on the state and
    ``h_nx`` on the input, and ``h(n, w, x)`` is h_{k,n,w} w + h_{k,n,x} x. With ``input="first"`` there is no
    ``h_nx``, and ``h(n, w, x)`` is h_{k,n,w} w.

    Args:
        in_channels: G.
        out_channels: F.
        K: the filter order, the number of shifts; 0 or more.
        mixing: how channels mix. "bank": F·G scalar recurrences, summed over g (the paper's). "dense": one
            recurrence with a state in R^F and matrices for weights. "depthwise": x is mixed to F channels
            first, then F scalar recurrences; the one for wide layers.
        bias: whether to add a learned b (F).
        output_activation: σ_y, by name or as a callable.
        kernel: "reference", "fused", or "auto" for the fastest that supports the call.
        checkpoint: keep every so many states for the backward and recompute the rest; "sqrt" for ⌈√K⌉.
        init: the draw of `reset_parameters`.
        input: where x enters. "every": at every shift and in every output, with weights of its own (the paper's).
            "first": as w_0 only, without the weights ``h_·x``; for few labels and many features.
        tied: one set of weights for all shifts, leading axis 1, so that ``layer.K`` can be set to any order after
            training. Only the last state is read: h_ky· = 0 for k < K.
        basis: what a state update sees of its neighbours. "powers": S w_{k−1} (the paper's). "chebyshev":
            2 S w_{k−1} − w_{k−2} from k = 2 on, so that a filter that leaves its state alone has w_k = T_k(S) x:
            nothing dies out on the way for a symmetric S of spectral norm 1, and nothing explodes. For undirected
            graphs: complex eigenvalues make T_k(S) explode.

    Shapes:
        x (..., N, G), shift of N nodes → (..., N, F). No parameter depends on N.
    """

    updates: ClassVar[tuple[str, ...]] = ()
    """Names of the affine maps in the state update."""
    outputs: ClassVar[tuple[str, ...]] = ("y",)
    """Names of the affine maps in the output."""
    output_taps: ClassVar[tuple[str, ...]] = ()
    """Names of weights in the output that apply to the state alone."""
    dense_is_bank: ClassVar[bool] = False
    """Whether dense mixing computes what a bank computes, so that it is one."""

    fused: str | None = None
    """Name of the fused kernel that computes this filter; None for a filter that has none."""
    _fused_equations: ClassVar[tuple[Any, ...]] = ()

    mixing: str
    basis: str
    kernel: str
    checkpoint: int | str | None
    bias: Tensor | None
    mix: Tensor
    project: Tensor

    def __init_subclass__(cls, **arguments: Any) -> None:
        """A kernel stands for the equations of the class that names it: other equations have no kernel."""
        super().__init_subclass__(**arguments)
        name_methods(cls, "__init__", "forward")
        equations = tuple(getattr(cls, name) for name in EQUATIONS)
        if "fused" in vars(cls):
            cls._fused_equations = equations
        elif equations != cls._fused_equations:
            cls.fused = None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        K: int,
        *,
        mixing: Mixing = "bank",
        bias: bool = True,
        output_activation: str | Activation = "relu",
        kernel: Kernel = "auto",
        checkpoint: int | Literal["sqrt"] | None = None,
        init: Init = "paper",
        input: Input = "every",
        tied: bool = False,
        basis: Basis = "powers",
        **unknown: Any,
    ) -> None:
        check_keywords(type(self).__name__, unknown, self.option_names())
        super().__init__()
        self.in_channels = check_whole("in_channels", in_channels, 1)
        self.out_channels = check_whole("out_channels", out_channels, 1)
        self.K = K
        self.mixing = check_name("mixing", mixing, MIXINGS)
        self.kernel = check_name("kernel", kernel, KERNELS)
        self.init = check_name("init", init, INITS)
        self.input = check_name("input", input, INPUTS)
        self.tied = bool(tied)
        self.basis = check_name("basis", basis, BASES)
        self.checkpoint = check_checkpoint(checkpoint)
        activation(output_activation)  # an unknown name raises here, not at the first call
        self.output_activation = output_activation
        shapes = self.parameter_shapes()
        check_parameters(self, shapes)
        self._update_names = self._tap_names(self.updates)
        self._update_names += [name for name in map("b_{}".format, self.updates) if name in shapes]
        self._output_names = [*self._tap_names(self.outputs), *self.output_taps]
        for name, shape in shapes.items():
            self.register_parameter(name, nn.Parameter(torch.empty(shape)))
        self.register_parameter("bias", nn.Parameter(torch.empty(self.out_channels)) if bias else None)
        self.reset_parameters()

    @property
    def K(self) -> int:
        """The filter order, the number of shifts. It can be changed where all shifts share one set of weights."""
        return int(self.__dict__["K"])

    @K.setter
    def K(self, K: int) -> None:
        order, now = check_whole("K", K, 0), self.__dict__.get("K")
        if now is not None and order != now and not self.tied:
            raise ValueError(f"K is {order} for a layer made with K = {now}; expected {now}, or a layer with tied=True")
        self.__dict__["K"] = order

    def update(self, h: Taps, Sw: Tensor, x: Tensor, c: Tensor) -> Step:
        """(w_k, c_k) from S w_{k−1}, x and c_{k−1}: the equation a filter is made of."""
        raise NotImplementedError(f"{type(self).__name__} has no update; a filter is its state update")

    def output(self, h: Taps, w: Tensor, x: Tensor) -> Tensor:
        """y_k = σ_y(h_kyw w_k + h_kyx x)."""
        return activation(self.output_activation)(h("y", w, x))

    def finish(self, total: Tensor) -> Tensor:
        """Y = σ_y(Σ_k y_k)."""
        return activation(self.output_activation)(total)

    def parameter_shapes(self) -> dict[str, tuple[int, ...]]:
        """Every filter parameter's shape, in the order of the paper's letters; leading axis k."""
        F, G = self.out_channels, self.in_channels
        state, signal = self._weight_shapes()
        shapes: dict[str, tuple[int, ...]] = {}
        for maps, count in ((self.updates, self._sets(self.K)), (self.outputs, self._sets(self.K + 1))):
            shapes |= {name: (count, *(state if name[-1] == "w" else signal)) for name in self._tap_names(maps)}
        shapes |= {name: (self._sets(self.K + 1), *state) for name in self.output_taps}
        if self.mixing == "depthwise":
            shapes["mix"] = (G, F)
        elif self.dense_taps() and G != F:
            shapes["project"] = (G, F)
        return shapes

    def _sets(self, count: int) -> int:
        """The leading axis of the weights of so many shifts."""
        return 1 if self.tied else count

    def _tap_names(self, maps: tuple[str, ...]) -> list[str]:
        """The weights of these affine maps: on the state, and on the input where it enters at every shift."""
        ends = "wx" if self.input == "every" else "w"
        return [f"h_{name}{end}" for name in maps for end in ends]

    def _weight_shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Shapes of a weight on the state and of one on the input."""
        F, G = self.out_channels, self.in_channels
        if self.dense_taps():
            return (F, F), (F, G)
        return ((F, 1), (F, 1)) if self.mixing == "depthwise" else ((F, G), (F, G))

    def dense_taps(self) -> bool:
        """Whether weights are matrices between channels rather than one scalar per channel."""
        return self.mixing == "dense" and not self.dense_is_bank

    @torch.no_grad()
    def reset_parameters(self, init: Init | None = None) -> None:
        """Draw all parameters again.

        "paper" (the protocol's): filter weights and bias from U(±1/√(G(K+1))), matrices between channels from
        U(±1/√fan_in), gate biases zero. "alive" also centres the weight of the state on itself so that
        an S of spectral radius 1 hardly shrinks or grows the state, which keeps it alive at high K. "far" centres
        it so that what a single one of two neighbours brings keeps its size, which carries it K hops far; it is made
        for bounded states and, in Chebyshev's basis, for any.
        """
        kind = check_name("init", self.init if init is None else init, INITS)
        draw_uniform(self)
        if kind == "alive":
            self.keep_alive()
        elif kind == "far":
            self.see_far()

    def keep_alive(self) -> None:
        """Move freshly drawn weights to where the state survives many shifts; a no-op unless overridden."""

    def see_far(self) -> None:
        """Move freshly drawn weights to where the front of a signal survives many shifts; a no-op unless overridden."""

    def start(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The input x (N, B, G) as the recurrence sees it, and w_0."""
        if self.dense_taps():
            return x, linear(x, self.project) if hasattr(self, "project") else x  # (N, B, G), (N, B, F)
        # (N, B, F, 1) against weights (F, 1), or (N, B, 1, G) against weights (F, G)
        x = linear(x, self.mix).unsqueeze(-1) if self.mixing == "depthwise" else x.unsqueeze(-2)
        return x, x

    def update_weights(self) -> dict[str, Tensor]:
        """Weights of the state update by parameter name, leading axis K."""
        weights = {name: getattr(self, name) for name in self._update_names}
        return {name: at_every_shift(h, self.K) for name, h in weights.items()} if self.tied else weights

    def output_weights(self) -> dict[str, Tensor]:
        """Weights of the outputs by parameter name, leading axis K + 1; tied ones are 0 before the last."""
        weights = {name: getattr(self, name) for name in self._output_names}
        return {name: at_the_last(h, self.K) for name, h in weights.items()} if self.tied else weights

    def forward(self, x: Tensor, shift: Shift) -> Tensor:
        """Filter x (..., N, G) on the graph of ``shift``: (..., N, F).

        Under autocast the recurrence runs in the dtype of the parameters: rounding errors grow with every shift.
        """
        return self._filter(x, shift)

    def watch(self, x: Tensor, shift: Shift, observe: Observer) -> Tensor:
        """The call by the reference recurrence, with ``observe(k, step, y_k)`` called at every k; nodes come first.

        Gradients flow, so derivatives by any state that was observed can be taken.
        """
        return self._filter(x, shift, observe)

    def _filter(self, x: Tensor, shift: Shift, observe: Observer | None = None) -> Tensor:
        x, precision = self._prepare(x, shift)
        with precision, shift.ranks.calling(self, x):
            N, batch = shift.num_nodes, x.shape[:-2]
            nodes_first = x.movedim(-2, 0)
            if len(batch) != 1:
                nodes_first = nodes_first.reshape(N, math.prod(batch), self.in_channels)
            if observe is None:
                run = choose_kernel(self, nodes_first, shift).run
                y = run(self, nodes_first, shift, self._checkpoint_length())
            else:
                y = reference.run(self, nodes_first, shift, observe=observe)
            y = (y if len(batch) == 1 else y.reshape(N, *batch, self.out_channels)).movedim(0, -2)
            return y if self.bias is None else y + self.bias

    @torch.no_grad()
    def trace(self, x: Tensor, shift: Shift) -> Trace:
        """States, memories, gates and outputs along k for one call; the layer is left as it was."""
        return trace(self, x, shift)

    def kernel_in_use(self, x: Tensor, shift: Shift) -> tuple[str, str]:
        """Which kernel a call with these arguments runs, and why."""
        x, _ = self._prepare(x, shift)
        choice = choose_kernel(self, x, shift)
        return choice.name, choice.why

    def _prepare(self, x: Tensor, shift: Shift) -> tuple[Tensor, AbstractContextManager[Any]]:
        """Check the call; return x and the context that keeps autocast out of the recurrence."""
        check_not_scripted(type(self).__name__)
        precision: AbstractContextManager[Any] = nullcontext()
        parameter = self._any_parameter()
        if isinstance(x, Tensor):
            precision = without_autocast(x.device)
            if not isinstance(precision, nullcontext) and x.dtype.is_floating_point:
                x = x.to(parameter.dtype)
        check_call(x, shift, self.in_channels, parameter)
        check_finite(x)
        check_states(self, x)
        return x, precision

    def __prepare_scriptable__(self) -> Any:
        """What ``torch.jit.script`` asks for first."""
        raise no_script(type(self).__name__)

    def _any_parameter(self) -> Tensor:
        for parameter in self._parameters.values():
            if parameter is not None:
                return parameter
        return next(self.parameters())  # slower; a parametrisation moves parameters to a submodule

    def _checkpoint_length(self) -> int | None:
        if isinstance(self.checkpoint, str):  # "sqrt"
            return max(1, math.ceil(math.sqrt(self.K)))
        return self.checkpoint

    @classmethod
    def option_names(cls) -> tuple[str, ...]:
        """The keyword arguments that this class takes beside its channels and K, as its signature has them."""
        return tuple(constructor_options(cls, SIZES))

    def options(self) -> dict[str, Any]:
        """The keyword arguments that build this layer again, beside its channels and K."""
        options = current_options(self, self.option_names())
        return options | {"bias": self.bias is not None} if "bias" in options else options

    def extra_repr(self) -> str:
        """Channels, K and whatever differs from the defaults."""
        defaults = constructor_options(type(self), SIZES)
        changed = [f"{key}={value!r}" for key, value in self.options().items() if defaults.get(key) != value]
        return ", ".join([f"{self.in_channels}, {self.out_channels}, K={self.K}", *changed])
