"""Configurations: what the presets say, who beats whom, and what is refused."""

import hashlib
import json
from dataclasses import FrozenInstanceError

import pytest

from shiftstate.machine.settings import change, flat
from shiftstate.machine.trial import parse_trial
from shiftstate.studies.paper import PRESETS, STUDY, load_preset
from shiftstate.studies.paper.source_localization import SourceSettings


def only(preset, experiment="figure1", filter="gcnn"):
    return next(one for one in preset.trials(experiment) if one.model == filter)


@pytest.mark.parametrize(
    ("preset", "figure1", "table1"),
    [
        ("smoke", 18, 12),
        ("quick", 36, 12),
        ("paper", 900, 150),
        ("community", 225, 150),
        ("tuned", 90, 30),
        ("matched", 120, 80),
        ("library", 900, 150),
        ("one_source", 45, 30),
        ("baseline_bias", 45, 30),
    ],
)
def test_presets_have_the_cells_and_numbers_of_the_issue(preset, figure1, table1):
    loaded = load_preset(preset)
    for experiment, count in (("figure1", figure1), ("table1", table1)):
        realizations = loaded.trials(experiment)
        assert len({one.id for one in realizations}) == len(realizations) == count
        cells = {(one["K"], one["L"]) for one in realizations}
        assert cells == ({(4, 1), (16, 1), (32, 1)} if experiment == "figure1" else {(4, 2), (4, 4)})


def test_the_paper_preset_is_the_papers_protocol():
    settings = only(load_preset("paper")).settings
    assert settings == change(
        SourceSettings(),
        block_sizes=(10,) * 5,
        p=0.8,
        q=0.2,
        source="hub",
        standardize=False,
        max_time=50,
        num_samples=(10240, 2560, 2560),
        dtype="float32",
        channels=4,
        mixing="bank",
        bias=False,
        gate_bias=False,
        init="paper",
        epochs=40,
        batch_size=100,
        learning_rate=(0.001,),
        schedule="constant",
        weight_decay=0.0,
        clip=0.0,
    )


def test_quick_is_the_beginning_of_paper_so_that_a_quick_run_can_be_continued():
    for experiment in STUDY.names:
        assert set(load_preset("quick").trials(experiment)) < set(load_preset("paper").trials(experiment))


def test_community_differs_from_paper_in_source_and_standardisation_alone():
    paper, community = (only(load_preset(name)).settings for name in ("paper", "community"))
    assert community == change(paper, source="any", standardize=True)


def test_library_differs_from_paper_in_the_conventions_of_the_authors_library_alone():
    paper, library = (only(load_preset(name)).settings for name in ("paper", "library"))
    assert library == change(paper, source="clusters", bias=True, max_time=49)


def test_one_source_and_baseline_bias_each_differ_from_library_in_one_setting():
    library, one = (only(load_preset(name)).settings for name in ("library", "one_source"))
    assert one == change(library, source="one")
    for name in ("gcnn", "rsn", "lssm"):
        ours = only(load_preset("baseline_bias"), filter=name).settings
        assert ours == change(library, bias=name == "gcnn")


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_says_how_it_reads_the_paper(name):
    assert len(load_preset(name).reading) > 80


def test_every_cells_first_realizations_come_first():
    realizations = load_preset("quick").trials("figure1")
    assert {one.unit for one in realizations[:9]} == {0}
    assert len({one.cell for one in realizations[:9]}) == 9
    assert realizations[0]["K"] == 32


def test_later_sources_beat_earlier_ones_and_narrower_sections_wider_ones(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("epochs = 7\nlearning_rate = 0.1\n[lssm]\nepochs = 9\n[figure1]\ngraphs = 3\n")
    preset = load_preset("smoke", file, ["learning_rate=[0.5, 0.25]", "table1.bias=true", "source=any"])
    assert flat(only(preset).settings)["epochs"] == 7
    assert flat(only(preset, filter="lssm").settings)["epochs"] == 9
    assert flat(only(preset).settings)["learning_rate"] == (0.5, 0.25)
    assert (flat(only(preset).settings)["bias"], flat(only(preset, "table1").settings)["bias"]) == (False, True)
    assert flat(only(preset).settings)["source"] == "any"
    assert max(one.unit for one in preset.trials("figure1")) == 2


def test_a_wide_setting_of_the_user_beats_a_narrow_one_of_the_preset():
    preset = load_preset("paper", overrides=["graphs=2", "draws=1"])
    assert len(preset.trials("figure1")) == 18


def test_a_filters_section_holds_for_the_same_filter_of_another_size():
    preset = load_preset("matched", overrides=["gcnn.init=alive"])
    assert flat(only(preset, filter="gcnn:lssm").settings)["init"] == "alive"
    assert flat(only(preset, filter="lssm").settings)["init"] == "paper"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("epoch=3", "unknown setting 'epoch'.* did you mean 'epochs'"),
        ("figur1.epochs=3", "unknown section 'figur1'.* did you mean 'figure1'"),
        ("lssm.graphs=3", "unknown setting 'graphs'"),
        ("epochs=x", "epochs is 'x'; expected a whole number"),
        ("epochs=1.5", "epochs is 1.5; expected a whole number"),
        ("epochs=true", "epochs is True; expected a whole number"),
        ("epochs=0", "epochs is 0; expected a whole number of at least 1"),
        ("bias=1", "bias is 1; expected true or false"),
        ("p=1.5", "p is 1.5; expected a number from 0 to 1"),
        ("q=nan", "q is nan; expected a number from 0 to 1"),
        ("learning_rate=[]", "learning_rate is \\[\\]"),
        ("learning_rate=-1", "learning_rate is \\[-1.0\\]"),
        ("learning_rate=inf", "learning_rate is \\[inf\\]"),
        ("source=hubs", "unknown source 'hubs'.* did you mean 'hub'"),
        ("filters=gcn", "unknown filter 'gcn'.* did you mean 'gcnn'"),
        ("K=[4, 4]", "K is \\[4, 4\\]; expected one or more different values"),
        ("L=0", "L is 0; expected a whole number of at least 1"),
        ("num_samples=[10, 10]", "expected three"),
        ("block_sizes=50", "block_sizes is \\[50\\]; expected two or more"),
        ("batch_size=401", "batch_size is 401; expected at most 400"),
        ("device=gpu", "device is 'gpu'; expected a device of torch"),
        ("seed=9223372036854775808", "seed is 9223372036854775808; expected less than"),
        ("q=0", "q is 0.0; expected more: blocks without an edge between them are never connected"),
        ("gcnn.p=0.9", "p = 0.9 for gcnn and 0.8 for rsn; expected one for all: filters are compared on the same data"),
        ("lssm.seed=1", "figure1 has seed = 0 for gcnn and 1 for lssm"),
        ("epochs", "expected KEY=VALUE"),
        ("=3", "expected KEY=VALUE"),
    ],
)
def test_bad_settings_are_refused_in_one_line(override, message):
    with pytest.raises(ValueError, match=message) as error:
        load_preset("smoke", overrides=[override])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"), [("epochs = ", "is not valid TOML"), ("reading = 'x'", "unknown setting 'reading'")]
)
def test_a_bad_file_of_settings_is_named(tmp_path, text, message):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=message):
        load_preset("smoke", file)
    with pytest.raises(ValueError, match=r"absent\.toml cannot be read"):
        load_preset("smoke", tmp_path / "absent.toml")


def test_a_configuration_is_frozen_and_comes_back_from_json_the_same(trial):
    one = trial(learning_rate=(0.1, 0.2))
    assert parse_trial(STUDY, one.to_json()) == one
    assert json.loads(one.to_json())["learning_rate"] == [0.1, 0.2]
    with pytest.raises(FrozenInstanceError):
        one.unit = 5


def test_a_stored_configuration_with_an_unknown_key_is_refused(trial):
    config = {**json.loads(trial().to_json()), "dropout": 0.5}
    with pytest.raises(ValueError, match="unknown setting 'dropout'"):
        parse_trial(STUDY, json.dumps(config))


def test_the_id_depends_on_every_part_of_the_configuration(trial):
    others = [trial(graph=1), trial(draw=1), trial(K=5), trial(seed=1), trial(bias=True)]
    assert len({trial().id, *(one.id for one in others)}) == 6
    assert trial().id == trial().id


@pytest.mark.parametrize(
    ("preset", "experiment", "first", "digest"),
    [
        ("paper", "figure1", "732b702cc2e31a09", "7f896bc51ea795b9"),
        ("paper", "table1", "bfc897b07e1e11d1", "cc9807cc9748b7f4"),
        ("community", "figure1", "4afb0e8200c97260", "ad4c61a8d0b8e48c"),
        ("community", "table1", "91c1a483070276da", "ca4357b5388356d3"),
        ("tuned", "figure1", "b6369d11389c5efe", "e2067ce256d2e94c"),
        ("tuned", "table1", "ee00df1af939d714", "00fb45c663104e01"),
        ("tuned", "table2", "918d1852f146421c", "65441b683b768cda"),
        ("matched", "figure1", "1167575958401d1d", "ec493493af222592"),
        ("matched", "table1", "621d20797b949db7", "435d05ec54413368"),
        ("paper", "table2", "999b0571713026b1", "8bf8e79e80194eb1"),
        ("books", "table2", "4dc31dcfec22d9a2", "9a1429584d4860e1"),
    ],
)
def test_names_and_configurations_of_recorded_results_never_change(preset, experiment, first, digest):
    realizations = load_preset(preset).trials(experiment)
    assert realizations[0].id == first
    written = "".join(one.id + one.to_json() for one in realizations)
    assert hashlib.sha256(written.encode()).hexdigest()[:16] == digest, "recorded results would be lost"


@pytest.mark.parametrize("change", [{"author": "poe"}, {"draw": -1}, {"graph": "first"}])
def test_configurations_that_no_experiment_has_are_refused(trial, change):
    config = json.loads(trial().to_json()) | change
    with pytest.raises(ValueError, match=next(iter(change))):
        parse_trial(STUDY, json.dumps(config))
