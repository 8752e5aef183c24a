"""The plan of a directory: written before a run, read by the page, guessed where there is none."""

import shlex

import pytest

from shiftstate.machine.conduct import conduct
from shiftstate.machine.results.plan import NAME, guess_plan, plan_of, read_plans, write_plan
from shiftstate.studies.paper import load_preset

TINY = [
    "num_samples=[40,20,20]", "epochs=1", "batch_size=20", "block_sizes=[4,4]",
    "figure1.K=4", "graphs=1", "draws=1", "filters=gcnn",
]  # fmt: skip


def test_a_run_writes_its_plan_down(tmp_path, here):
    conduct(["figure1"], load_preset("smoke", overrides=TINY), tmp_path, here)
    (plan,) = read_plans(tmp_path).values()
    assert (plan.preset, plan.planned) == ("smoke", 1)
    assert plan.reading == load_preset("smoke").reading.strip()


def test_the_command_gives_the_same_settings_again(tmp_path):
    toml = tmp_path / "mine.toml"
    toml.write_text('epochs = 7\n[lssm]\nepochs = 9\ninit = "alive"\n[figure1]\nepochs = 8\nK = [4, 64]\n')
    preset = load_preset("paper", toml, ["rsn.bias=true", "learning_rate=[0.1,0.2]"])
    words = shlex.split(plan_of(preset, "figure1").command)
    assert words[:5] == ["shiftstate", "reproduce", "figure1", "--preset", "paper"]
    assert set(words[5::2]) == {"--set"}
    again = load_preset("paper", overrides=words[6::2])
    assert again.trials("figure1") == preset.trials("figure1")
    assert again.trials("table1") == preset.trials("table1")


def test_other_experiments_keep_their_plans(tmp_path):
    write_plan(tmp_path, load_preset("quick"), ["figure1", "table1"])
    write_plan(tmp_path, load_preset("paper"), ["figure1"])
    plans = read_plans(tmp_path)
    assert {name: (plan.preset, plan.planned) for name, plan in plans.items()} == {
        "figure1": ("paper", 900),
        "table1": ("quick", 12),
    }


def test_without_a_plan_the_smallest_preset_that_holds_everything_is_taken():
    paper = load_preset("paper").trials("figure1")
    for stored, preset, planned in ((paper[:36], "quick", 36), (paper[:37], "paper", 900)):
        guess = guess_plan(stored)
        assert guess is not None
        assert (guess.preset, guess.planned) == (preset, planned)


def test_settings_of_no_preset_have_no_guess(trial):
    assert guess_plan([trial(epochs=99)]) is None
    assert guess_plan([]) is None


@pytest.mark.parametrize("text", ["[]", "{", '{"figure1": {}}', '{"figure1": 3}', '{"figure1": {"preset": 1}}'])
def test_a_damaged_plan_is_one_line(tmp_path, text):
    (tmp_path / NAME).write_text(text)
    with pytest.raises(ValueError, match=r"plan\.json cannot be read"):
        read_plans(tmp_path)
