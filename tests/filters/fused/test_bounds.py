"""Sizes and indices that do not belong together are refused before a kernel is entered: no read is out of bounds."""

import pytest
import torch

import shiftstate as ss
from shiftstate.graphs.operators import Sparse
from shiftstate.layers import LAYERS
from shiftstate.layers.options import MIXINGS
from tests.filters.fused.comparison import RECURRENT, filter_arguments, pair, ragged, signal

N, B, G, F, K = 6, 4, 2, 3, 3
FIRST_AND_OUTPUT = [(kind, name) for kind in RECURRENT for name in (f"h_{LAYERS[kind].updates[0]}w", "h_yw", "h_yx")]


def arguments(kind="lssm", mixing="bank", layout="sparse", **options):
    layer, _ = pair(kind, G, F, K, mixing=mixing, **options)
    return filter_arguments(layer, signal(N, B, G), ragged(N, layout=layout))


def backward_arguments(**options):
    given = arguments(**options)
    y, *kept = torch.ops.shiftstate.filter(**given)
    del given["keep"]
    return given | {"need_x": True, "dy": torch.ones_like(y), "y": y, "kept": kept}


def swapped(index, change):
    """The arguments with one tensor of a list changed."""

    def apply(tensors):
        return [*tensors[:index], change(tensors[index]), *tensors[index:][1:]]

    return apply


def raised(amount):
    return lambda tensor: tensor + amount


WRONG = {
    "x of fewer nodes": ("x", lambda x: x[1:]),
    "x of more nodes": ("x", lambda x: torch.cat([x, x])),
    "x of other channels": ("x", lambda x: torch.cat([x, x], -1)),
    "x without an axis": ("x", lambda x: x[0]),
    "x in float32": ("x", lambda x: x.float()),
    "x of integers": ("x", lambda x: x.long()),
    "a weight in float32": ("weights", swapped(0, torch.Tensor.float)),
    "a weight of fewer shifts": ("weights", swapped(0, lambda h: h[1:])),
    "a weight of fewer channels": ("weights", swapped(1, lambda h: h[:, 1:])),
    "output weights of fewer shifts": ("weights", swapped(-1, lambda h: h[1:])),
    "weights in another order": ("weights", lambda weights: weights[::-1]),
    "too few weights": ("weights", lambda weights: weights[1:]),
    "no weights": ("weights", lambda weights: []),
    "an unknown filter": ("spec", lambda spec: "gru" + spec.removeprefix(spec.split()[0])),
    "a filter that is no recurrence": ("spec", lambda spec: "gcnn" + spec.removeprefix(spec.split()[0])),
    "an unknown activation": ("spec", lambda spec: spec.replace("relu", "swish")),
    "an activation too few": ("spec", lambda spec: spec.rpartition(" ")[0]),
    "a negative checkpoint": ("spec", lambda spec: spec.replace(" 0 0 ", " 0 -1 ")),
    "an option that is no number": ("spec", lambda spec: spec.replace(" 0 0 ", " 0 x ")),
    "no options": ("spec", lambda spec: spec.split()[0]),
    "nothing": ("spec", lambda spec: ""),
    "no operator": ("operator", lambda operator: []),
    "half an operator": ("operator", lambda operator: operator[:3]),
}
WRONG_ROWS = {
    "a column too large": swapped(1, raised(N)),
    "a negative column": swapped(1, raised(-N)),
    "a column of Sᵀ too large": swapped(4, raised(N)),
    "columns that are not integers": swapped(1, torch.Tensor.double),
    "rows that are not integers": swapped(3, torch.Tensor.double),
    "too few columns": swapped(1, lambda col: col[1:]),
    "too few values": swapped(2, lambda values: values[1:]),
    "too few values of Sᵀ": swapped(5, lambda values: values[1:]),
    "a row too few": swapped(0, lambda crow: crow[1:]),
    "rows that begin late": swapped(0, raised(1)),
    "rows that end early": swapped(3, lambda crow: crow.clamp(max=3)),
    "rows that go back": swapped(0, lambda crow: torch.cat([crow[:1], crow[1:-1].flip(0), crow[-1:]])),
    "values in float32": swapped(2, torch.Tensor.float),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("mixing", ["bank", "dense"])
@pytest.mark.parametrize("kind", RECURRENT)
def test_the_operator_refuses(kind, mixing, wrong):
    given, (name, change) = arguments(kind, mixing), WRONG[wrong]
    torch.ops.shiftstate.filter(**given)
    with pytest.raises(ValueError, match=r"\w"):
        torch.ops.shiftstate.filter(**given | {name: change(given[name])})
    torch.ops.shiftstate.filter(**given)


@pytest.mark.parametrize("wrong", WRONG_ROWS)
@pytest.mark.parametrize("mixing", ["bank", "dense"])
def test_rows_of_s_that_do_not_fit_are_refused(mixing, wrong):
    given = backward_arguments(mixing=mixing)
    operator = WRONG_ROWS[wrong](given["operator"])
    with pytest.raises(ValueError, match=r"^(the compressed rows of S|S holds)"):
        torch.ops.shiftstate.filter_backward(**given | {"operator": operator})
    layer, _ = pair("lssm", G, F, K, mixing=mixing)
    shift = ss.Shift(Sparse(*operator), torch.tensor([0, N]))
    with pytest.raises(ValueError, match=r"compressed rows of S|expected one dtype|x has shape"):
        layer(signal(B, N, G), shift)


@pytest.mark.parametrize("mixing", ["bank", "depthwise"])
@pytest.mark.parametrize("wrong", [name for name in WRONG_ROWS if name != "a row too few"])
def test_a_gcnn_refuses_them_too(wrong, mixing):
    layer, _ = pair("gcnn", G, F, K, mixing=mixing)
    operator = WRONG_ROWS[wrong](list(ragged(N).operator))
    with pytest.raises(ValueError, match=r"compressed rows of S|expected one dtype"):
        layer(signal(B, N, G), ss.Shift(Sparse(*operator), torch.tensor([0, N])))


def test_a_dense_s_of_another_size_is_refused():
    given = arguments(layout="dense")
    for matrix in (given["operator"][0][1:], given["operator"][0][1:, 1:], given["operator"][0].float()):
        with pytest.raises(ValueError, match=r"^S "):
            torch.ops.shiftstate.filter(**given | {"operator": [matrix]})


@pytest.mark.parametrize("checkpoint", [None, 2])
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("kind", RECURRENT)
def test_the_backward_refuses_states_and_gradients_of_other_sizes(kind, mixing, checkpoint):
    given = backward_arguments(kind=kind, mixing=mixing, checkpoint=checkpoint)
    assert len(torch.ops.shiftstate.filter_backward(**given)) == len(given["weights"]) + 2
    kept = given["kept"]
    wrong = [{"kept": []}, {"kept": [*kept, kept[0]]}, {"kept": [kept[0][..., 1:], *kept[1:]]}]
    wrong += [{"kept": [*kept[:-1], kept[-1][1:]]}, {"kept": [kept[0].float(), *kept[1:]]}]
    wrong += [{"dy": given["dy"][1:]}, {"dy": given["dy"].float()}, {"y": given["y"][:, 1:]}, {"x": given["x"][:, 1:]}]
    for changed in wrong:
        with pytest.raises(ValueError, match="expected"):
            torch.ops.shiftstate.filter_backward(**given | changed)


def test_the_polynomial_refuses_sizes_that_do_not_fit():
    x, h, operator = signal(N, 5), signal(K + 1, 5), list(ragged(N).operator)
    torch.ops.shiftstate.polynomial(x, h, operator, False)
    for wrong in (
        (x[1:], h),
        (x[:, 1:], h),
        (x, h[:, 1:]),
        (x, h[:0]),
        (x.float(), h),
        (x[0], h),
        (x.long(), h.long()),
    ):
        with pytest.raises(ValueError, match="expected"):
            torch.ops.shiftstate.polynomial(*wrong, operator, False)
    torch.ops.shiftstate.polynomial_backward(x, x, h, operator, True, False)
    for dy in (x[1:], x[:, 1:], x.float(), x[0]):
        with pytest.raises(ValueError, match="expected"):
            torch.ops.shiftstate.polynomial_backward(dy, x, h, operator, True, False)


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize(("kind", "name"), FIRST_AND_OUTPUT)
def test_a_parameter_replaced_by_one_of_another_shape_is_refused(kind, name, mixing):
    layer, _ = pair(kind, G, F, K, mixing=mixing)
    layer(signal(B, N, G), ragged(N))
    for change in (lambda h: h[1:], lambda h: h[:, 1:], lambda h: torch.cat([h, h], -1), lambda h: h[0]):
        other, _ = pair(kind, G, F, K, mixing=mixing)
        setattr(other, name, torch.nn.Parameter(change(getattr(layer, name).detach())))
        with pytest.raises(ValueError, match=r"weights .* were given; expected|does not have the axes|x has shape"):
            other(signal(B, N, G), ragged(N))


@pytest.mark.parametrize(
    ("kind", "mixing"), [*((kind, mixing) for kind in RECURRENT for mixing in MIXINGS), ("gcnn", "bank")]
)
def test_a_shift_changed_before_the_backward_is_noticed(kind, mixing):
    shift = ragged(N)
    y = pair(kind, F, G, K, mixing=mixing)[0](signal(B, N, F), shift)
    shift.operator.t_col[0] = 10**6
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
