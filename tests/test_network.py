"""Network: what it computes, and that a file gives back exactly what was put into it or is refused."""

import json
import os
import stat

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import shiftstate as ss
from tests.example_filters import GRU
from tests.example_graphs import cycle

CYCLE = cycle(4, dtype=torch.float32)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def saved(path, **changes):
    """A file whose configuration differs from its network's in the keys given."""
    network = ss.Network("gcnn", [1, 2], 3)
    write(path, network.state_dict(), json.dumps({**network.config(), **changes}))


def write(path, tensors, config, version="1"):
    save_file(tensors, path, {"shiftstate.format": version, "shiftstate.network": config})


def test_a_network_applies_the_nonlinearity_after_every_layer_and_the_readout_last():
    net = ss.Network("rsn", [1, 3, 2], 2, readout=ss.NodeReadout(4), activation="tanh")
    x = torch.randn(5, 4, 1)
    first, second = net.layers
    expected = net.readout(torch.tanh(second(torch.tanh(first(x, CYCLE)), CYCLE)), CYCLE)
    assert torch.equal(net(x, CYCLE), expected)
    assert expected.shape == (5, 4, 4)


def test_without_a_readout_the_last_signal_is_returned():
    assert ss.Network("gcnn", [1, 3], 2)(torch.randn(4, 1), CYCLE).shape == (4, 3)


def test_reset_parameters_draws_layers_and_readout_anew_and_follows_the_seed():
    net = ss.Network("lssm", [1, 2], 2, readout=ss.FlattenReadout(4, 3))
    before = {name: value.clone() for name, value in net.state_dict().items()}
    torch.manual_seed(1)
    net.reset_parameters()
    once = {name: value.clone() for name, value in net.state_dict().items()}
    torch.manual_seed(1)
    net.reset_parameters()
    assert all(torch.equal(value, once[name]) for name, value in net.state_dict().items())
    assert all(not torch.equal(value, before[name]) for name, value in once.items())


@pytest.mark.parametrize("readout", [None, ss.FlattenReadout, ss.PoolReadout, ss.NodeReadout])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_file_gives_back_weights_dtype_and_configuration(path, readout, dtype):
    made = {
        None: lambda: None,
        ss.FlattenReadout: lambda: ss.FlattenReadout(4, 5),
        ss.PoolReadout: lambda: ss.PoolReadout(5, pool="sum"),
        ss.NodeReadout: lambda: ss.NodeReadout(5),
    }[readout]()
    net = ss.Network("lssm", [1, 3, 2], 2, made, "leaky_relu", gate_bias=True, mixing="depthwise", init="alive")
    net = net.to(dtype)
    net.save(path)
    again = ss.Network.load(path)
    assert again.config() == net.config()
    assert repr(again) == repr(net)
    for name, value in net.state_dict().items():
        assert again.state_dict()[name].dtype == dtype
        assert torch.equal(again.state_dict()[name], value)
    x = torch.randn(2, 4, 1).to(dtype)
    assert torch.equal(again(x, CYCLE.to(dtype)), net(x, CYCLE.to(dtype)))
    assert all(parameter.requires_grad for parameter in again.parameters())


def test_counts_from_numpy_are_saved_as_numbers(path):
    ss.Network("gcnn", [np.int64(1), np.int64(2)], np.int64(3)).save(path)
    assert ss.Network.load(path).config()["channels"] == [1, 2]


def test_loading_leaves_the_random_state_alone(path):
    ss.Network("lssm", [1, 2], 3, readout=ss.PoolReadout(2), init="alive").save(path)
    before = torch.get_rng_state()
    ss.Network.load(path)
    assert torch.equal(before, torch.get_rng_state())


def test_a_loaded_network_does_not_follow_later_writes_to_its_file(path):
    net = ss.Network("gcnn", [1, 2], 3)
    net.save(path)
    again = ss.Network.load(path)
    with open(path, "r+b") as file:
        file.write(b"\0" * path.stat().st_size)
    assert torch.equal(again.layers[0].h, net.layers[0].h)


def test_a_file_has_the_permissions_of_any_new_file(path):
    (path.parent / "other").touch()
    ss.Network("gcnn", [1, 2], 3).save(path)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((path.parent / "other").stat().st_mode)


def test_a_file_is_plain_safetensors(path):
    net = ss.Network("gcnn", [1, 2], 3)
    net.save(path)
    assert load_file(path).keys() == net.state_dict().keys()


@pytest.mark.parametrize("fault", ["serialise", "write", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(path, monkeypatch, fault, error):
    old = ss.Network("gcnn", [1, 2], 3)
    old.save(path)

    def fail(*args, **kwargs):
        raise error

    if fault == "serialise":
        monkeypatch.setattr("shiftstate.model_file.to_bytes", fail)
    elif fault == "write":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ValueError if isinstance(error, OSError) else type(error)):
        ss.Network("lssm", [1, 2], 3).save(path)
    monkeypatch.undo()
    assert os.listdir(path.parent) == [path.name]
    assert torch.equal(ss.Network.load(path).layers[0].h, old.layers[0].h)


def test_a_users_filter_is_saved_by_name_and_loaded_with_its_class(path):
    net = ss.Network(GRU, [1, 2], 3)
    net.save(path)
    again = ss.Network.load(path, filter=GRU)
    x = torch.randn(4, 1)
    assert torch.equal(again(x, CYCLE), net(x, CYCLE))


def test_a_users_filter_without_its_class_is_refused_with_the_way_out(path):
    ss.Network(GRU, [1, 2], 3).save(path)
    with pytest.raises(ValueError, match=r"holds a network of 'GRU' filters; .*Network.load\(path, filter=...\)"):
        ss.Network.load(path)


def test_the_class_of_another_filter_is_refused(path):
    ss.Network("lssm", [1, 2], 3).save(path)
    with pytest.raises(ValueError, match=r"holds a network of 'lssm' filters; expected 'GRU', as given"):
        ss.Network.load(path, filter=GRU)


def test_a_library_class_is_the_same_as_its_name(path):
    ss.Network(ss.RSN, [1, 2], 3).save(path)
    assert isinstance(ss.Network.load(path).layers[0], ss.RSN)
    assert isinstance(ss.Network.load(path, filter=ss.RSN).layers[0], ss.RSN)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"activation": torch.relu}, "activation"),
        ({"state_activation": torch.relu}, "state_activation"),
        ({"output_activation": torch.nn.functional.silu}, "output_activation"),
    ],
)
def test_a_callable_activation_works_but_cannot_be_saved(path, options, named):
    net = ss.Network("rsn", [1, 2], 2, **options)
    assert net(torch.randn(4, 1), CYCLE).shape == (4, 2)
    with pytest.raises(
        ValueError, match=f"^{named} is a callable, which a file cannot hold; expected an activation by"
    ):
        net.save(path)
    assert not path.exists()


def test_options_that_json_cannot_hold_are_refused(path):
    class Odd(GRU):
        def options(self):
            return {**super().options(), "odd": {1, 2}}

    with pytest.raises(
        ValueError, match=r"^the configuration cannot be written \(.*set.*\); expected names and numbers"
    ):
        ss.Network(Odd, [1, 2], 2).save(path)


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(30, "Read-only file system")])
def test_a_place_where_nothing_may_be_written_is_refused(path, monkeypatch, error):
    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr("builtins.open", fail)
    with pytest.raises(ValueError, match=rf"cannot be written \({error.strerror}\); expected a path in a writable fol"):
        ss.Network("gcnn", [1, 2], 2).save(path)
    assert not path.exists()


def test_a_folder_in_place_of_a_new_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"cannot be written \(Is a directory\); expected a path in a writable folder"):
        ss.Network("gcnn", [1, 2], 2).save(tmp_path)


@pytest.mark.parametrize("wrong", [None, 3, b"model.safetensors", ["model"], object()])
def test_what_is_no_path_is_refused(wrong):
    message = r"^path is .*; expected the path of a file, such as 'model.safetensors'$"
    with pytest.raises(ValueError, match=message):
        ss.Network("gcnn", [1, 2], 2).save(wrong)
    with pytest.raises(ValueError, match=message):
        ss.Network.load(wrong)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_weight_that_is_not_finite_is_refused_by_name(path, value, dtype):
    net = ss.Network("lssm", [1, 2], 2, readout=ss.NodeReadout(2)).to(dtype)
    with torch.no_grad():
        net.layers[0].h_fx[1, 0, 0] = value
    message = r"holds 1 of 4 values in 'layers.0.h_fx' that are NaN or infinite; expected finite weights; did training"
    with pytest.raises(ValueError, match=f"^the network {message}"):
        net.save(path)
    assert not path.exists()
    write(path, net.state_dict(), json.dumps(net.config()))
    with pytest.raises(ValueError, match=f"model.safetensors {message}"):
        ss.Network.load(path)


def test_dropout_sets_features_before_every_layer_to_zero_in_training_only():
    """A filter that only passes its input on shows what it was given: entries of 0 and of 1/(1 − p)."""
    net = ss.Network("gcnn", [1, 1, 1], 0, bias=False, activation="identity", dropout=0.25)
    torch.nn.init.ones_(net.layers[0].h)
    torch.nn.init.ones_(net.layers[1].h)
    ring = torch.arange(4000)
    shift, x = ss.Shift.from_edges(torch.stack([ring, ring.roll(1)])), torch.ones(4000, 1)
    assert torch.equal(net.eval()(x, shift), x)
    twice = net.train()(x, shift)
    torch.testing.assert_close(twice.unique(), torch.tensor([0.0, 1 / 0.75**2]))
    assert abs(float((twice == 0).float().mean()) - (1 - 0.75**2)) < 0.03  # 4 standard deviations


def test_without_dropout_nothing_random_is_drawn():
    net, before = ss.Network("gcnn", [1, 2], 2), torch.get_rng_state()
    net(torch.randn(4, 1, generator=torch.Generator().manual_seed(0)), CYCLE)
    assert torch.equal(before, torch.get_rng_state())


def test_dropout_is_saved_and_a_file_from_before_has_none(path):
    net = ss.Network("gcnn", [1, 2], 3, dropout=0.5)
    net.save(path)
    assert ss.Network.load(path).dropout == 0.5
    older = {key: value for key, value in net.config().items() if key != "dropout"}
    write(path, net.state_dict(), json.dumps(older))
    assert ss.Network.load(path).dropout == 0.0


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"nowhere is not a folder; expected the path of a file in one that exists"):
        ss.Network("gcnn", [1, 2], 2).save(tmp_path / "nowhere" / "model.safetensors")


def test_a_file_that_is_not_there_is_refused(path):
    with pytest.raises(ValueError, match=r"model.safetensors does not exist; expected a file written by Network.save"):
        ss.Network.load(path)


def test_a_folder_in_place_of_a_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"is a folder; expected a file written by Network.save"):
        ss.Network.load(tmp_path)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.99])
def test_a_truncated_file_is_refused(path, share):
    ss.Network("lssm", [1, 4], 3).save(path)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(ValueError, match=r"cannot be read as safetensors \(.*\); is it truncated"):
        ss.Network.load(path)


def test_a_file_of_another_program_is_refused(path):
    save_file({"weight": torch.zeros(2)}, path)
    with pytest.raises(ValueError, match=r"holds no network configuration; expected a file written by Network.save"):
        ss.Network.load(path)


@pytest.mark.parametrize("version", ["2", "10", "9" * 5000])
def test_a_newer_version_is_refused(path, version):
    write(path, {"weight": torch.zeros(2)}, "{}", version)
    with pytest.raises(
        ValueError, match=rf"has format {version[:20]}; expected 1; was it written by a newer shiftstate"
    ):
        ss.Network.load(path)


@pytest.mark.parametrize("version", ["", "one", "-1", "1.0", "²"])
def test_a_version_that_is_no_number_is_refused(path, version):
    write(path, {"weight": torch.zeros(2)}, "{}", version)
    with pytest.raises(ValueError, match=r"holds no network configuration"):
        ss.Network.load(path)


@pytest.mark.parametrize("change", [{"K": 4}, {"channels": [1, 3]}, {"filter": "rsn", "options": {}}, {"K": 10**10}])
def test_weights_of_another_architecture_are_refused(path, change):
    saved(path, **change)
    with pytest.raises(ValueError, match=r"holds 'layers.0.\w+' with shape .*; expected .* put together from two"):
        ss.Network.load(path)


def test_a_missing_and_an_added_tensor_are_refused(path):
    net = ss.Network("gcnn", [1, 2], 3)
    weights, config = net.state_dict(), json.dumps(net.config())
    write(path, {"layers.0.h": weights["layers.0.h"]}, config)
    with pytest.raises(ValueError, match=r"holds 'layers.0.bias' with shape None; expected \(2,\)"):
        ss.Network.load(path)
    write(path, {**weights, "extra": torch.zeros(1)}, config)
    with pytest.raises(ValueError, match=r"holds 'extra' with shape \(1,\); expected None"):
        ss.Network.load(path)


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64])
def test_weights_of_mixed_or_whole_number_dtypes_are_refused(path, dtype):
    net = ss.Network("gcnn", [1, 2], 3)
    weights = net.state_dict()
    weights["layers.0.h"] = weights["layers.0.h"].to(dtype)
    write(path, weights, json.dumps(net.config()))
    with pytest.raises(ValueError, match=r"holds weights of torch.float32, torch.*; expected one floating dtype"):
        ss.Network.load(path)


@pytest.mark.parametrize("text", ["", "{", "nonsense", "[" * 100_000])
def test_a_configuration_that_is_not_json_is_refused(path, text):
    write(path, {"weight": torch.zeros(1)}, text)
    with pytest.raises(ValueError, match=r"holds a configuration that is not JSON"):
        ss.Network.load(path)


@pytest.mark.parametrize("text", ["[]", "null", "3", '"gcnn"', "{}", '{"filter": "gcnn"}'])
def test_a_configuration_with_missing_keys_is_refused(path, text):
    write(path, {"weight": torch.zeros(1)}, text)
    with pytest.raises(
        ValueError, match=r"holds the configuration .*; expected K, activation, channels, filter, options"
    ):
        ss.Network.load(path)


def test_a_configuration_with_unknown_keys_is_refused(path):
    saved(path, command="rm -rf")
    with pytest.raises(ValueError, match=r"holds the configuration K, activation, channels, command"):
        ss.Network.load(path)


HOSTILE = [
    ({"channels": [1, 10**30]}, r"expected less than 2\^63"),
    ({"channels": 3}, "cannot be built: channels is 3"),
    ({"channels": [1, -2]}, "channels is -2; expected a whole number of at least 1"),
    ({"channels": [1, None]}, "channels is None"),
    ({"K": -1}, "K is -1"),
    ({"K": True}, "K is True"),
    ({"K": "3"}, "K is '3'"),
    ({"options": [1]}, "cannot be built"),
    ({"options": {"nonsense": 1}}, "cannot be built: .*nonsense"),
    ({"options": {"mixing": ["bank"]}}, r"unknown mixing \['bank'\]"),
    ({"options": {"checkpoint": -5}}, "checkpoint is -5"),
    ({"activation": {"__class__": "os.system"}}, "unknown activation"),
    ({"filter": ["gcnn"]}, r"holds a network of \['gcnn'\] filters"),
    ({"filter": "os.system"}, "holds a network of 'os.system' filters; expected one of 'gcnn', 'rsn', 'lssm', 'gsn'"),
    ({"readout": "pool"}, "cannot be built"),
    ({"readout": {"kind": "poool", "num_outputs": 1}}, "unknown readout 'poool'.*did you mean 'pool'"),
    ({"readout": {"kind": "pool"}}, "cannot be built: .*num_outputs"),
    ({"dropout": "much"}, "dropout is 'much'"),
    ({"dropout": 1.0}, "dropout is 1.0"),
    ({"readout": {"kind": "flatten", "num_nodes": 10**9, "num_outputs": 10**9}}, "readout.linear"),
]


@pytest.mark.parametrize(("change", "message"), HOSTILE, ids=lambda value: str(value)[:40])
def test_a_hostile_configuration_is_refused_in_one_line(path, change, message):
    saved(path, **change)
    with pytest.raises(ValueError, match=message) as caught:
        ss.Network.load(path)
    assert "\n" not in str(caught.value)


def test_a_huge_network_of_a_users_filter_is_refused_not_a_crash(path):
    net = ss.Network(GRU, [1, 2], 3)
    write(path, net.state_dict(), json.dumps({**net.config(), "channels": [1, 10**15]}))
    with pytest.raises(ValueError, match=r"cannot be built"):
        ss.Network.load(path, filter=GRU)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"filter": "lsmm"},
            "unknown filter 'lsmm'; expected one of 'gcnn', 'rsn', 'lssm', 'gsn'; did you mean 'lssm'",
        ),
        ({"filter": 3}, "unknown filter 3"),
        ({"filter": torch.nn.Linear}, "unknown filter <class"),
        ({"channels": [1]}, r"channels is \[1\]; expected at least two: of the input and of one layer"),
        ({"channels": 4}, "channels is 4; expected at least two"),
        ({"channels": [1, 0]}, "channels is 0; expected a whole number of at least 1"),
        ({"channels": [1.0, 2]}, "channels is 1.0; expected a whole number"),
        ({"K": -1}, "K is -1; expected a whole number of at least 0"),
        ({"activation": "rellu"}, "unknown activation 'rellu'.*did you mean 'relu'"),
        ({"dropout": -0.1}, "dropout is -0.1; expected a share from 0 to less than 1"),
        ({"dropout": 1}, "dropout is 1; expected a share"),
        ({"dropout": True}, "dropout is True; expected a share"),
        ({"dropout": float("nan")}, "dropout is nan; expected a share"),
        (
            {"readout": ss.PoolReadout},
            r"^readout is the class PoolReadout; expected one made of it: PoolReadout\(num_out",
        ),
        ({"readout": "pool"}, "^readout is a str; expected one of FlattenReadout, PoolReadout, NodeReadout, or None$"),
        ({"readout": torch.nn.Linear(2, 2)}, "^readout is a Linear; expected one of FlattenReadout"),
        ({"mixing": "banc"}, "unknown mixing 'banc'.*did you mean 'bank'"),
        (
            {"input": "first"},
            "'gcnn' has no option 'input'; expected some of mixing, bias, .*; rsn, lssm, gsn have it$",
        ),
        (
            {"mixign": "bank"},
            "'gcnn' has no option 'mixign'; expected some of mixing, bias, kernel, checkpoint, init, basis$",
        ),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        ss.Network(**{"filter": "gcnn", "channels": [1, 2], "K": 2, **arguments})
