"""The whole: from a command to its files; killed, interrupted, out of room, damaged, started from a CSV."""

import csv
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest

import shiftstate
from shiftstate.errors import SweepError
from shiftstate.machine import conduct as module
from shiftstate.machine.conduct import conduct
from shiftstate.machine.results.store import Store
from shiftstate.machine.running.engines import work
from shiftstate.studies.paper import STUDY, load_preset
from tests.machine.tasks import MARK

RUN = "from shiftstate.cli import main; main()"
STOP = """
from shiftstate.machine import conduct
from tests.machine.tasks import stop_at_draw_1
conduct.work = stop_at_draw_1
"""
STOPPED = "shiftstate: stopped; what was finished is stored, and the same command goes on from there"
ROOT = Path(__file__).parents[2]
FILES = {
    "results.sqlite",
    "summary.json",
    "claims.json",
    "provenance.json",
    "realizations.csv",
    "tables.md",
    "plan.json",
}
FILES |= {"figure1.svg", "figure1.png"}
TINY = ["K=[2,3]", "num_samples=[400,40,40]", "batch_size=20", "block_sizes=[4,4,4]", "draws=2"]


def command(out, *options, code=RUN):
    """The same as the installed `shiftstate reproduce figure1`, on this source."""
    sets = [word for setting in TINY for word in ("--set", setting)]
    return [sys.executable, "-c", code, "reproduce", "figure1", "--preset", "smoke", "--out", str(out), *sets, *options]


def environment(**extra):
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "COLUMNS": "200", **extra}


def complaints(errors):
    """Lines of standard error, but for those that say that kernels are compiled, as on the first run of all."""
    return [line for line in errors.splitlines() if not re.match("shiftstate: compiling the fused .* kernels", line)]


def stored(out):
    if not (out / "results.sqlite").exists():
        return 0
    with closing(sqlite3.connect(out / "results.sqlite", timeout=10)) as database:
        try:
            return database.execute("SELECT count(*) FROM realizations").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


def results(out):
    """Everything in the CSV but for when and how long."""
    with (out / "realizations.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    return [{key: line[key] for key in line if key not in ("seconds", "finished_at")} for line in lines]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """24 realizations by one worker, without any trouble."""
    out = tmp_path_factory.mktemp("uninterrupted")
    done = subprocess.run(
        command(out, "--workers", "1"), env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    return out, done.stdout


@pytest.fixture
def halfway(tmp_path):
    """A run that has stored the first half, 12 of 24, and whose two workers are busy with the next."""
    out = tmp_path / "out"
    process = subprocess.Popen(
        command(out, "--workers", "2", code=STOP + RUN),
        env=environment(**{MARK: str(tmp_path / "mark")}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 300
        while stored(out) < 12 or len(list(tmp_path.glob("mark.*"))) < 2:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        yield process, out
    finally:
        process.kill()
        process.communicate()


def go_on(out):
    done = subprocess.run(
        command(out, "--workers", "2"), env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    return done.stdout


def test_a_run_leaves_the_files_and_says_where_they_are_and_how_the_paper_was_read(uninterrupted):
    out, text = uninterrupted
    assert {path.name for path in out.iterdir()} == FILES | {"lock"}
    assert len(json.loads((out / "summary.json").read_text())) == 6
    assert str(out / "figure1.svg") in text
    assert "The reading of the paper: A smoke test" in text
    assert "[24/24]" in text
    assert "| figure1 | LSSM | 2 | 1 | 4 | " in text
    assert "| LSSM has the best accuracy at K = 16 | not run |" in text


def test_killed_in_mid_sweep_and_continued_equals_uninterrupted_and_no_worker_is_left(uninterrupted, halfway):
    process, out = halfway
    workers = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate()
    gone, alive = psutil.wait_procs(workers, timeout=120)
    assert not alive
    assert len(gone) >= 2
    assert go_on(out).startswith("[13/24]"), "it goes on where it stopped"
    assert results(out) == results(uninterrupted[0]), "two workers there, one here: the same to the last bit"
    for name in ("summary.json", "claims.json", "tables.md", "figure1.svg"):
        assert (out / name).read_bytes() == (uninterrupted[0] / name).read_bytes()


def test_a_second_run_is_refused_and_ctrl_c_ends_the_first_in_one_line_with_the_files_written(halfway):
    process, out = halfway
    second = subprocess.run(command(out), env=environment(), capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert f"in use by another run (process {process.pid})" in second.stderr
    assert second.stderr.count("\n") == 1
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert complaints(errors) == [STOPPED]
    assert {path.name for path in out.iterdir()} >= FILES
    assert [line["n"] for line in json.loads((out / "summary.json").read_text())] == [2] * 6


def test_sigterm_ends_like_ctrl_c_with_its_own_code_and_no_other_word(halfway):
    process, out = halfway
    workers = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 143
    (line,) = complaints(errors)
    assert line.startswith("shiftstate: terminated; what was finished is stored")
    assert {path.name for path in out.iterdir()} >= FILES
    _, alive = psutil.wait_procs(workers, timeout=120)
    assert not alive


@pytest.mark.parametrize("seconds", [0.0, 0.3, 2.0])
def test_ctrl_c_while_workers_start_is_one_line(tmp_path, seconds):
    """A terminal sends it to the whole group, to workers too that have not come to ignore it yet."""
    with subprocess.Popen(
        command(tmp_path, "--workers", "2"),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        deadline = time.monotonic() + 120
        while not (tmp_path / "plan.json").exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    said = STOPPED if stored(tmp_path) else "shiftstate: stopped"
    assert (process.returncode, complaints(errors)) == (130, [said])


def test_a_run_that_was_stopped_before_anything_finished_goes_on(here, tmp_path):
    @contextmanager
    def stopped():
        raise KeyboardInterrupt
        yield

    preset = load_preset("smoke", overrides=[*TINY, "K=2", "filters=gcnn"])
    with pytest.raises(KeyboardInterrupt):
        conduct(["figure1"], preset, tmp_path, stopped)
    assert (tmp_path / "realizations.csv").exists()
    assert conduct(["figure1"], preset, tmp_path, here).stored == 4


def test_a_run_removes_what_a_killed_one_left_half_written(here, tmp_path):
    left = [".plan.json.zl870ay_", ".tables.md.0a1b2c3d.shiftstate-part", ".figure1.svg.1a2b3c4d.shiftstate-part"]
    mine = [".hidden", ".plan.json.backup"]
    for name in (*left, *mine):
        (tmp_path / name).write_text("half")
    preset = load_preset("smoke", overrides=[*TINY, "K=2", "filters=gcnn", "draws=1", "graphs=1"])
    conduct(["figure1"], preset, tmp_path, here)
    assert {path.name for path in tmp_path.iterdir()} & {*left, *mine} == {*mine}


def test_a_training_that_fails_ends_the_run_and_the_finished_ones_are_in_the_files(here, tmp_path, monkeypatch):
    def fail_at_draw_1(trial, directory=None):
        if trial.repetition == 1:
            raise RuntimeError("no memory")
        return work(trial)

    monkeypatch.setattr(module, "work", fail_at_draw_1)
    with pytest.raises(SweepError, match="draw 1 failed: RuntimeError: no memory"):
        conduct(["figure1"], load_preset("smoke", overrides=TINY), tmp_path, here)
    assert {path.name for path in tmp_path.iterdir()} >= FILES
    assert [line["n"] for line in json.loads((tmp_path / "summary.json").read_text())] == [2] * 6


@pytest.mark.parametrize("there", [True, False])
def test_a_run_that_fails_before_anything_is_finished_leaves_no_folder_of_its_own(here, tmp_path, monkeypatch, there):
    def fail(trial, directory=None):
        raise MemoryError("89 GiB")

    if there:
        (tmp_path / "run").mkdir()
        (tmp_path / "run/notes.txt").write_text("mine")
    monkeypatch.setattr(module, "work", fail)
    with pytest.raises(SweepError, match="failed: MemoryError: 89 GiB"):
        conduct(["figure1"], load_preset("smoke", overrides=[*TINY, "K=2"]), tmp_path / "run", here)
    assert (tmp_path / "run/notes.txt").exists() == (tmp_path / "run").exists() == there


def test_readings_stand_beside_the_experiments_they_belong_to(here, tmp_path):
    small = [*TINY, "K=2", "L=1", "graphs=1", "draws=1", "epochs=1", "filters=gcnn"]
    conduct(["figure1"], load_preset("paper", overrides=small), tmp_path, here)
    assert (tmp_path / "tables.md").read_text().startswith("The letter of the paper: ")
    conduct(["table1"], load_preset("community", overrides=small), tmp_path, here)
    text = (tmp_path / "tables.md").read_text()
    assert text.startswith("figure1: The letter of the paper: ")
    assert '\ntable1: "Identify the source community"' in text


def test_the_line_of_chance_is_that_of_the_number_of_blocks(here, tmp_path):
    small = [*TINY, "K=2", "graphs=1", "draws=1", "epochs=1", "filters=gcnn"]
    report = conduct(["figure1"], load_preset("paper", overrides=small), tmp_path, here)
    assert report.chances == {"figure1": pytest.approx(1 / 3), "table1": pytest.approx(1 / 5), "table2": 1 / 2}


def test_a_finished_run_is_not_run_again_and_its_files_do_not_change(uninterrupted, here):
    out = uninterrupted[0]
    before = {name: (out / name).read_bytes() for name in FILES - {"results.sqlite"}}
    report = conduct(["figure1"], load_preset("smoke", overrides=TINY), out, here)
    assert report.stored == 24
    assert {name: (out / name).read_bytes() for name in before} == before


def test_a_run_starts_from_a_committed_csv(uninterrupted, here, tmp_path, capsys):
    lines = (uninterrupted[0] / "realizations.csv").read_text().splitlines(keepends=True)
    (tmp_path / "realizations.csv").write_text("".join(lines[:21]))
    conduct(["figure1"], load_preset("smoke", overrides=TINY), tmp_path, here)
    assert capsys.readouterr().out.startswith("[21/24]")
    assert results(tmp_path) == results(uninterrupted[0])


def test_a_csv_of_another_configuration_is_refused_and_left_as_it_is(uninterrupted, here, tmp_path):
    shutil.copy(uninterrupted[0] / "realizations.csv", tmp_path)
    before = (tmp_path / "realizations.csv").read_bytes()
    with pytest.raises(ValueError, match="with epochs = 2, and this run has 3"):
        conduct(["figure1"], load_preset("smoke", overrides=[*TINY, "epochs=3"]), tmp_path, here)
    assert (tmp_path / "realizations.csv").read_bytes() == before
    with Store(tmp_path, STUDY) as store:
        assert store.results() == [], "nothing of it was taken over, so the right file can take its place"


def test_the_ceiling_of_the_any_task_is_in_the_tables_and_the_figure(here, tmp_path):
    preset = load_preset("community", overrides=[*TINY, "K=2", "graphs=1", "draws=1", "epochs=1", "filters=gcnn"])
    conduct(["figure1"], preset, tmp_path, here)
    assert "Matching templates on the graphs of figure1: " in (tmp_path / "tables.md").read_text()
    assert "matching shapes: " in (tmp_path / "figure1.svg").read_text()


def test_the_command_says_its_version(command):
    assert command("--version")[:2] == (0, f"shiftstate {shiftstate.__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "figur1"], "did you mean 'figure1'"),
        (["reproduce", "figure1", "--preset", "papr"], "did you mean 'paper'"),
        (["reproduce", "figure1", "--set", "epoch=3"], "did you mean 'epochs'"),
        (["reproduce", "figure1", "--set", "epochs"], "expected KEY=VALUE"),
        (["reproduce", "figure1", "--set", "batch_size=20000"], "batch_size is 20000; expected at most 10240"),
        (["reproduce", "figure1", "--config", "absent.toml"], "absent.toml cannot be read"),
        (["reproduce", "figure1", "--set", "foo={}"], "unknown section 'foo'"),
        (["reproduce", "figure1", "--set", "filters=[gcnn,rsn]"], "words in it need quotes"),
        (["reproduce", "figure1", "--set", "device=meta"], "device is 'meta'; expected one that this machine has"),
        (["reproduce", "figure1", "--workers", "0"], "workers is 0"),
        (["reproduce", "figure1", "--workers", "many"], "--workers"),
        (["reproduce", "figure1", "--engine", "dusk"], "did you mean 'dask'"),
        (["reproduce", "figure1", "--scheduler", "tcp://x:1"], "expected it with --engine dask"),
        (["reproduce"], "experiment"),
        (["reproduce", "figure1", "--no-such-option"], "--no-such-option"),
        (["no-such-command"], "no-such-command"),
    ],
)
def test_bad_input_is_exit_code_2_and_one_line(arguments, message, tmp_path, command):
    out = tmp_path / "out"
    options = ["--out", out] if len(arguments) > 1 else []
    code, _, errors = command(*arguments, *options)
    assert code == 2
    assert message in errors
    assert errors.count("\n") == 1
    assert not out.exists(), "bad input leaves nothing behind"


def test_an_out_that_is_a_file_is_refused(tmp_path, command):
    (tmp_path / "out").write_text("")
    code, _, errors = command("reproduce", "figure1", "--out", tmp_path / "out")
    assert (code, errors.count("\n")) == (2, 1)
    assert "cannot be made" in errors


@pytest.mark.parametrize("name", ["lock", "results.sqlite"])
def test_a_directory_in_the_place_of_a_file_is_refused(name, tmp_path, command):
    (tmp_path / name).mkdir()
    code, _, errors = command("reproduce", "figure1", "--preset", "smoke", "--out", tmp_path)
    assert (code, errors.count("\n")) == (2, 1)
    assert "cannot be" in errors
    assert name in errors


def test_a_damaged_store_is_named_by_the_command(tmp_path, command):
    (tmp_path / "results.sqlite").write_bytes(b"this is no database, and never was one" * 50)
    code, _, errors = command("reproduce", "figure1", "--preset", "smoke", "--out", tmp_path)
    assert (code, errors.count("\n")) == (2, 1)
    assert "results.sqlite is damaged" in errors


def test_a_full_disk_is_one_line_and_exit_code_1_and_the_store_stays_whole(tmp_path, monkeypatch, command, here):
    add = Store.add

    def full_at_the_third(self, trial, outcome):
        if len(self.results()) == 2:
            raise sqlite3.OperationalError("database or disk is full")
        add(self, trial, outcome)

    monkeypatch.setattr(Store, "add", full_at_the_third)
    monkeypatch.setattr("shiftstate.machine.running.engines.make_engine", lambda *arguments: here)
    sets = [word for setting in TINY for word in ("--set", setting)]
    arguments = ["reproduce", "figure1", "--preset", "smoke", "--out", tmp_path, *sets]
    code, _, errors = command(*arguments)
    assert code == 1
    (line,) = complaints(errors)
    assert line.startswith("shiftstate: database or disk is full; what was finished is stored")
    with Store(tmp_path, STUDY) as store:
        assert len(store.results()) == 2


def test_smoke_runs_both_experiments_in_under_a_minute_of_one_core(tmp_path):
    def spent():  # processor time: what a busy machine does meanwhile does not count
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = spent()
    start = [sys.executable, "-c", RUN, "reproduce", "all", "--preset", "smoke"]
    done = subprocess.run([*start, "--out", tmp_path], env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    assert spent() - before < 60
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert len(summary) == 15
    assert {line["n"] for line in summary} == {2}
    assert {path.name for path in tmp_path.iterdir()} >= FILES | {"table1.svg", "table1.png"}
