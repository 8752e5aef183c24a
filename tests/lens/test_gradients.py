"""Gradient flow against autograd on states that are written out, for every filter."""

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.testing import assert_close

import shiftstate as ss
from shiftstate.lens import examine
from shiftstate.testing.inputs import graph
from tests.lens.subjects import SUBJECTS, cycle, make, signal


def flow(model, x, shift, *args, **options):
    return examine(model, x, shift, *args, with_reach=False, **options)


def test_the_gradient_by_every_state_of_a_gcnn_in_closed_form():
    S = signal(5, 5) / 2
    shift, x, layer = ss.Shift.from_matrix(S), signal(5, 1), make("gcnn", channels=(1, 1), K=4)
    r = signal(5, 1, seed=9)
    seen = flow(layer, x, shift, loss=lambda y, target: (r * y).sum()).layers[0].gradients
    h = layer.h.detach().flatten()
    powers = [torch.linalg.matrix_power(S, j) for j in range(5)]
    by_state = [sum(h[j] * powers[j - k].T @ r for j in range(k, 5)).norm() for k in range(5)]
    assert_close(seen.states, torch.stack(by_state))
    assert_close(seen.parameters["h"], torch.stack([(r * (powers[k] @ x)).sum().abs() for k in range(5)]).detach())
    assert_close(seen.outputs, r.norm().expand(5))


def test_the_gradient_by_every_state_of_an_rsn_on_explicit_states():
    shift, x, layer = graph(), signal(2, 8, 1), make("rsn-tanh", channels=(1, 1), K=3)
    S, p = shift.to_dense(), {name: value.detach().flatten() for name, value in layer.named_parameters()}
    states, outputs = [x.clone().requires_grad_()], []
    for k in range(4):
        if k:
            state = torch.tanh(p["h_ww"][k - 1] * (S @ states[-1]) + p["h_wx"][k - 1] * x)
            states.append(state)
        outputs.append(torch.nn.functional.leaky_relu(p["h_yw"][k] * states[-1] + p["h_yx"][k] * x))
    y = torch.nn.functional.leaky_relu(sum(outputs)) + p["bias"]
    wanted = torch.autograd.grad(y.square().sum(), [*states, *outputs])
    seen = flow(layer, x, shift, loss=lambda y, target: y.square().sum()).layers[0].gradients
    assert_close(seen.states, torch.stack([one.norm() for one in wanted[:4]]))
    assert_close(seen.outputs, torch.stack([one.norm() for one in wanted[4:]]))


@pytest.mark.parametrize(("kind", "mixing"), SUBJECTS)
def test_the_gradient_by_every_weight_is_that_of_a_plain_backward(kind, mixing):
    layer, x, shift = make(kind, mixing), signal(5, 8, 2), graph()
    target = signal(5, 8, 3, seed=5)
    seen = flow(layer, x, shift, target).layers[0]
    loss = torch.nn.functional.mse_loss(layer(x, shift), target)
    by_shift = {**layer.update_weights(), **layer.output_weights()}
    assert seen.gradients.parameters.keys() == by_shift.keys()
    for name, gradient in zip(by_shift, torch.autograd.grad(loss, list(by_shift.values())), strict=True):
        assert_close(seen.gradients.parameters[name], gradient.flatten(1).norm(dim=1), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(("kind", "mixing"), SUBJECTS)
def test_the_gradient_by_a_state_predicts_what_moving_it_does_to_the_loss(kind, mixing):
    layer, x, shift, K = make(kind, mixing), signal(2, 8, 2), graph(), 4
    r = signal(2, 8, 3, seed=6)
    kept = {}

    def loss_with(k=None, direction=None):
        """The loss with w_k moved along a direction on its way into shift k + 1 and y_k."""
        update = layer.update
        calls = iter(range(1, K + 1))

        def moved(h, Sw, x, c):
            step = update(h, Sw, x, c)
            if next(calls) != k:
                return step
            kept["w"] = step.w
            if direction is None:
                return step
            w = step.w + direction
            return step._replace(w=w, c=w if step.c is step.w else step.c)

        layer.update = moved
        try:
            return (r * layer.watch(x, shift, lambda *_: None)).sum()
        finally:
            del layer.update

    seen = flow(layer, x, shift, loss=lambda y, target: (r * y).sum()).layers[0].gradients.states
    for k in (1, K):
        with torch.no_grad():
            loss_with(k)
            shape = kept["w"].shape
            basis = torch.eye(shape.numel(), dtype=torch.float64).reshape(-1, *shape)
            slopes = [(loss_with(k, 1e-5 * e) - loss_with(k, -1e-5 * e)) / 2e-5 for e in basis]
        assert_close(seen[k], torch.stack(slopes).norm(), rtol=1e-4, atol=1e-9)


def test_a_classifier_is_judged_by_its_cross_entropy_through_all_layers():
    torch.manual_seed(0)
    net = ss.Network("rsn", [1, 3, 2], 3, ss.FlattenReadout(num_nodes=8, num_outputs=4)).double()
    x, y, shift = signal(6, 8, 1), torch.tensor([0, 1, 2, 3, 0, 1]), graph()
    lens = flow(net, x, shift, y)
    loss = cross_entropy(net(x, shift), y)
    assert lens.loss == pytest.approx(loss.item())
    assert lens.loss_kind == "cross-entropy"
    for seen, layer in zip(lens.layers, net.layers, strict=True):
        (gradient,) = torch.autograd.grad(loss, layer.h_ww, retain_graph=True)
        assert_close(seen.gradients.parameters["h_ww"], gradient.flatten(1).norm(dim=1))


def test_a_target_of_the_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="one class for each output"):
        flow(make("gcnn"), signal(5, 8, 2), graph(), torch.zeros(5, dtype=torch.long))
    with pytest.raises(ValueError, match="expected the output's"):
        flow(make("gcnn"), signal(5, 8, 2), graph(), torch.zeros(5, 8, 1).double())


def test_the_memory_of_an_lssm_carries_what_its_state_does_not():
    layer = make("lssm-biases", channels=(1, 1), K=20)
    with torch.no_grad():
        for name in ("h_cw", "h_fw", "h_fx", "h_uw", "h_ww"):
            getattr(layer, name).zero_()
        layer.b_f.fill_(8.0)
        layer.h_yw[:-1].zero_()
    seen = flow(layer, signal(3, 8, 1), cycle(8)).layers[0].gradients
    assert bool((seen.states[1:-1] == 0).all())
    assert seen.memories[0] > 0.5 * seen.memories[-1] > 0
