"""Progress: plain lines where nobody watches, a table where somebody does."""

import io

import pytest
from rich.console import Console

from shiftstate.machine.running.progress import Progress
from shiftstate.studies.paper import STUDY


@pytest.fixture
def planned(trial):
    return [trial(filter=filter, draw=draw) for filter in ("gcnn", "lssm") for draw in range(4)]


def console(terminal):
    return Console(file=io.StringIO(), force_terminal=terminal, width=100)


def test_plain_lines_say_what_finished_how_many_of_how_many_and_the_time_left(planned):
    out = console(terminal=False)
    with Progress(STUDY, planned, out) as progress:
        progress.known(planned[0], 0.2, 3.0)
        progress.started(planned[1])
        progress.finished(planned[1], 0.4, 3.0, "diverged")
    (line,) = out.file.getvalue().splitlines()
    assert line.startswith("[2/8] figure1 gcnn K=4 L=1 graph 0 draw 1: 40.0% (diverged) in 3.0 s; cell mean 30.0%; ")
    assert line.endswith(" left")
    assert "\x1b" not in line


def test_a_terminal_sees_running_work_counts_and_means(planned):
    out = console(terminal=True)
    with Progress(STUDY, planned, out) as progress:
        progress.known(planned[0], 0.2, 3.0)
        progress.finished(planned[1], 0.4, 3.0, "finished")
        progress.started(planned[2])
        out.print(progress._render())
    text = out.file.getvalue()
    assert "2 of 8" in text
    assert "30.0 ± 14.1" in text
    assert "2/4" in text
    assert "0/4" in text
    assert "figure1 gcnn K=4 L=1 graph 0 draw 2" in text


def test_the_time_left_knows_that_cells_differ(planned, monkeypatch):
    """Four gcnn of 1 s are done in 4 s of one worker, and one lssm of 10 s: three more make 30 s."""
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    progress = Progress(STUDY, planned, console(terminal=False))
    for one in planned[:4]:
        progress.finished(one, 0.5, 1.0, "finished")
    progress.finished(planned[4], 0.5, 10.0, "finished")
    clock[0] = 14.0
    assert progress.seconds_left() == pytest.approx(30.0)
    clock[0] = 7.0  # the same in half the time: two at once
    assert progress.seconds_left() == pytest.approx(15.0)


def test_durations_of_an_earlier_run_are_taken_at_the_pace_of_this_one(planned, monkeypatch):
    """Stored were 10 s for a gcnn and 100 s for an lssm; here a gcnn takes 1 s, so the four lssm make 40 s."""
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    progress = Progress(STUDY, [*planned, planned[-1]], console(terminal=False))
    for one in planned[:3]:
        progress.known(one, 0.5, 10.0)
    progress.known(planned[4], 0.5, 100.0)
    progress.finished(planned[3], 0.5, 1.0, "finished")
    clock[0] = 1.0
    assert progress.seconds_left() == pytest.approx(40.0)
