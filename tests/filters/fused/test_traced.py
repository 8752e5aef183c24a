"""Fused filters inside traced graphs, the operators by torch's own checks, and the second derivative they refuse."""

import shutil

import pytest
import torch

import shiftstate as ss
from shiftstate.layers.options import MIXINGS
from shiftstate.testing.inputs import graph
from tests.filters.fused import comparison
from tests.filters.fused.comparison import (
    KINDS,
    RECURRENT,
    assert_same,
    cycle,
    filter_arguments,
    label,
    pair,
    ragged,
    results,
    signal,
)

VARIANTS = [
    (kind, options | {"checkpoint": 2} if options else {})
    for kind, options in comparison.VARIANTS + comparison.CHEBYSHEV
]


@pytest.fixture(autouse=True)
def _fresh():
    torch.compiler.reset()


def compiled(layer, backend="aot_eager"):
    call = torch.compile(layer, backend=backend, fullgraph=True)
    call.named_parameters = layer.named_parameters
    return call


@pytest.mark.parametrize(("mixing", "layout"), [("bank", "sparse"), ("dense", "dense"), ("depthwise", "sparse")])
@pytest.mark.parametrize(("kind", "options"), VARIANTS, ids=label)
def test_a_compiled_layer_is_one_graph_and_gives_the_same(kind, options, mixing, layout):
    layer, reference = pair(kind, 2, 3, 3, mixing=mixing, **options)
    shift, x = graph(layout=layout), signal(2, 8, 2)
    assert_same(results(compiled(layer), x, shift), results(reference, x, shift))


@pytest.mark.parametrize("kind", KINDS)
def test_a_compiled_layer_whose_input_needs_no_gradient_gives_the_same(kind):
    layer, reference = pair(kind, 2, 3, 3, mixing="depthwise")
    shift, x = graph(layout="sparse"), signal(2, 8, 2)
    for side in (compiled(layer), reference):
        side(x, shift).sum().backward()
    found = {name: parameter.grad for name, parameter in layer.named_parameters()}
    assert_same(found, {name: parameter.grad for name, parameter in reference.named_parameters()})


@pytest.mark.parametrize("kind", RECURRENT)
@pytest.mark.parametrize("mixing", MIXINGS)
def test_a_compiled_layer_has_no_gradient_for_weights_that_no_shift_uses(kind, mixing):
    layer, reference = pair(kind, 2, 3, 0, mixing=mixing)
    for side in (compiled(layer), reference):
        side(signal(2, 8, 2), graph()).sum().backward()
    assert [p.grad is None for p in layer.parameters()] == [p.grad is None for p in reference.parameters()]
    assert getattr(layer, f"h_{layer.updates[0]}w").grad is None


def test_a_compiled_layer_without_gradients_gives_the_same():
    layer, reference = pair("lssm", 2, 3, 3)
    shift, x = graph(layout="sparse"), signal(2, 8, 2)
    with torch.no_grad():
        torch.testing.assert_close(compiled(layer)(x, shift), reference(x, shift))


def test_the_fused_operator_is_in_the_graph():
    program = torch.export.export(ss.LSSM(1, 2, 3, kernel="fused"), (torch.randn(2, 4, 1), cycle(4, torch.float32)))
    targets = [str(node.target) for node in program.graph.nodes]
    assert targets.count("shiftstate.filter.default") == 1
    assert "aten.tanh.default" not in targets


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")  # inductor's own
@pytest.mark.skipif(shutil.which("g++") is None and shutil.which("clang++") is None, reason="needs a C++ compiler")
def test_inductor_gives_the_same():
    layer, reference = pair("lssm", 2, 3, 3, mixing="depthwise")
    shift, x = graph(layout="sparse"), signal(2, 8, 2)
    assert_same(results(compiled(layer, "inductor"), x, shift), results(reference, x, shift))


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_exported_network_with_fused_layers_is_saved_and_read_back(kind, layout, tmp_path):
    readout = ss.FlattenReadout(num_nodes=4, num_outputs=2)
    network = ss.Network(kind, [1, 2, 3], 2, readout, kernel="fused", mixing="depthwise").eval()
    shift, x = cycle(4, torch.float32, layout), torch.randn(3, 4, 1)
    program = torch.export.export(network, (x, shift))
    torch.export.save(program, tmp_path / "network.pt2")
    again = torch.export.load(tmp_path / "network.pt2").module()
    torch.testing.assert_close(again(2 * x, shift), network(2 * x, shift))


def checked(op, /, *arguments, **named):
    outcome = torch.library.opcheck(op, arguments, named, raise_exception=False)
    assert set(outcome.values()) == {"SUCCESS"}, outcome


@pytest.mark.parametrize(
    ("mixing", "layout", "checkpoint", "basis"),
    [
        ("bank", "sparse", None, "powers"),
        ("bank", "dense", 2, "powers"),
        ("depthwise", "sparse", 2, "chebyshev"),
        ("dense", "dense", None, "powers"),
    ],
)
@pytest.mark.parametrize("kind", RECURRENT)
def test_the_filter_operators_keep_torchs_rules(kind, mixing, layout, checkpoint, basis):
    layer, _ = pair(kind, 2, 3, 3, mixing=mixing, checkpoint=checkpoint, basis=basis)
    given = filter_arguments(layer, signal(8, 2, 2), graph(layout=layout))
    trained = given | {"weights": [weight.clone().requires_grad_() for weight in given["weights"]]}
    checked(torch.ops.shiftstate.filter.default, **trained | {"x": given["x"].clone().requires_grad_()})
    y, *kept = torch.ops.shiftstate.filter(**given)
    del given["keep"]
    given |= {"need_x": True, "dy": signal(*y.shape), "y": y, "kept": kept}
    checked(torch.ops.shiftstate.filter_backward.default, **given)


def test_the_other_operators_keep_torchs_rules():
    operator, x, h = list(ragged(8).operator), signal(8, 5).requires_grad_(), signal(4, 5).requires_grad_()
    for chebyshev in (False, True):
        checked(torch.ops.shiftstate.polynomial.default, x, h, operator, chebyshev)
        for need_x in (False, True):
            given = (signal(8, 5), x.detach(), h.detach(), operator, need_x, chebyshev)
            checked(torch.ops.shiftstate.polynomial_backward.default, *given)
    checked(torch.ops.shiftstate.spmm.default, *operator, x)


# A GCNN of bank or dense mixing is built from products that torch differentiates any number of times.
ONCE = [("gcnn", "depthwise"), *((kind, mixing) for kind in RECURRENT for mixing in MIXINGS)]


@pytest.mark.parametrize(("kind", "mixing"), ONCE)
def test_a_second_derivative_is_refused_and_names_the_kernel_that_has_one(kind, mixing):
    layer, reference = pair(kind, 2, 3, 2, mixing=mixing)
    shift, x = graph(), signal(2, 8, 2).requires_grad_()

    def penalty(side):
        y = side(x, shift)
        gradients = torch.autograd.grad(y.square().sum(), (x, *side.parameters()), create_graph=True)
        return sum(gradient.square().sum() for gradient in gradients)

    penalty(reference).backward()
    with pytest.raises(RuntimeError, match=r'no second derivative.* build the layer with kernel="reference"'):
        penalty(layer).backward()


@pytest.mark.parametrize("mixing", ["bank", "dense"])
def test_a_gcnn_that_is_only_products_has_second_derivatives(mixing):
    seconds = []
    for side in pair("gcnn", 2, 3, 2, mixing=mixing):
        x = signal(2, 8, 2).requires_grad_()
        (first,) = torch.autograd.grad(side(x, graph(layout="sparse")).square().sum(), x, create_graph=True)
        seconds.append(torch.autograd.grad(first.square().sum(), x)[0])
    torch.testing.assert_close(*seconds)


@pytest.mark.parametrize(("kind", "mixing"), ONCE)
def test_a_first_derivative_under_create_graph_is_the_same(kind, mixing):
    layer, reference = pair(kind, 2, 3, 2, mixing=mixing)
    shift, x = graph(), signal(2, 8, 2).requires_grad_()
    found, expected = (
        torch.autograd.grad(side(x, shift).sum(), (x, *side.parameters()), create_graph=create)
        for side, create in ((layer, True), (reference, False))
    )
    names = ["x", *dict(layer.named_parameters())]
    detached = [gradient.detach() for gradient in found]
    assert_same(dict(zip(names, detached, strict=True)), dict(zip(names, expected, strict=True)))
    assert all(gradient.requires_grad for gradient in found[:2])


def test_the_traced_operator_refuses_a_second_derivative_too():
    layer, _ = pair("lssm", 2, 3, 2)
    given = filter_arguments(layer, signal(8, 2, 2), graph())
    x = given["x"].clone().requires_grad_()
    y = torch.ops.shiftstate.filter(**given | {"x": x})[0]
    (gradient,) = torch.autograd.grad(y.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match='kernel="reference"'):
        gradient.sum().backward()
