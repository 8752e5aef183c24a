"""A training that is stopped and goes on from its file ends where an unbroken one ends, bit for bit."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

import shiftstate as ss
from shiftstate.training.checkpoints import Checkpoints

SHIFT = ss.Shift.from_edges([[0, 1, 2], [1, 2, 0]])


def toy(count, seed):
    x = torch.randn(count, 3, 1, generator=torch.Generator().manual_seed(seed))
    return SimpleNamespace(x=x, y=x[..., 0].argmax(-1))


DATA = SimpleNamespace(train=toy(60, 0), valid=toy(30, 1), test=toy(30, 2))
OPTIONS = {"epochs": 6, "batch_size": 20, "learning_rate": 0.05, "schedule": "cosine", "keep_best": True}


def train(checkpoints=None, stop=None, channels=4, **options):
    def progress(epoch):
        if epoch.number == stop:
            raise KeyboardInterrupt

    torch.manual_seed(0)
    model = ss.Network("gcnn", [1, channels], K=2, readout=ss.FlattenReadout(num_nodes=3, num_outputs=3))
    fit = ss.fit(model, SHIFT, DATA, progress=progress, checkpoints=checkpoints, **{**OPTIONS, **options})
    return model.state_dict(), fit


def same(first, second):
    assert all(torch.equal(first[0][name], tensor) for name, tensor in second[0].items())
    assert replace(first[1], seconds=0) == replace(second[1], seconds=0)


@pytest.mark.parametrize("stop", [1, 2, 5, 6])
def test_a_stopped_training_goes_on_bit_for_bit(tmp_path, stop):
    whole = train()
    with pytest.raises(KeyboardInterrupt):
        train(Checkpoints(tmp_path / "c.safetensors", minutes=0), stop=stop)
    assert (tmp_path / "c.safetensors").exists() == (stop > 1)
    same(train(Checkpoints(tmp_path / "c.safetensors", minutes=0, resume=True)), whole)


def test_checkpoints_leave_the_training_as_it_is_and_a_finished_one_is_not_repeated(tmp_path):
    file = tmp_path / "c.safetensors"
    same(train(Checkpoints(file)), train())
    assert file.exists(), "the last epoch is kept, however short the training"
    again = train(Checkpoints(file, resume=True), stop=1)  # no epoch is left to be stopped in
    assert again[1].losses == train()[1].losses
    with pytest.raises(KeyboardInterrupt):
        train(Checkpoints(file), stop=1)  # without resume it begins anew


def test_the_file_is_written_when_it_is_time(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(Checkpoints(tmp_path / "c.safetensors", minutes=10), stop=6)
    assert not (tmp_path / "c.safetensors").exists()


def test_a_file_of_other_settings_or_of_another_network_is_refused(tmp_path):
    file = tmp_path / "c.safetensors"
    train(Checkpoints(file, settings={"K": 2, "data": "towns"}))
    with pytest.raises(ValueError, match=r"is of a training with K = 2; expected K = 3, or another path"):
        train(Checkpoints(file, resume=True, settings={"K": 3, "data": "towns"}))
    with pytest.raises(ValueError, match="is of a training with data = 'towns'; expected data = None"):
        train(Checkpoints(file, resume=True, settings={"K": 2}))
    with pytest.raises(ValueError, match=r"the checkpoint does not fit this model .*; expected the same network"):
        train(Checkpoints(file, resume=True, settings={"K": 2, "data": "towns"}), channels=5)
