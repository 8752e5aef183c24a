"""`attribute evaluate`: everything that a directory of an evaluation holds."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from shiftstate.attribution.evaluation.held_out import HeldOut, Say, hold_out
from shiftstate.attribution.evaluation.pictures import draw_calibration, draw_confusion, draw_lengths
from shiftstate.attribution.evaluation.summary import Probabilities, judge, summarize
from shiftstate.attribution.evaluation.tables import evaluation_markdown
from shiftstate.attribution.labels import render_names
from shiftstate.attribution.library import Library
from shiftstate.files import write_whole


def evaluate_library(
    library: Library, out: Path, words: str, length: int, folds: int | None, workers: int, say: Say
) -> tuple[list[Path], dict[str, Any]]:
    """Hold out, judge, and write: `evaluation.json`, `tables.md`, `texts.csv` and three pictures."""
    held = hold_out(library, out, words, length, folds, workers, say)
    say("weighing and calibrating")
    judged = judge(held)
    evaluation = summarize(held, judged)
    best = judged[evaluation["recommended"]]
    tested = held.pieces.text[held.tested]
    figures = {
        "confusion": draw_confusion(evaluation["authors"], library.names),
        "calibration": draw_calibration(best["pieces"], held.author[tested], evaluation["recommended"]),
        "lengths": draw_lengths(evaluation["models"]),
    }
    contents: dict[str, str | bytes] = {
        "evaluation.json": json.dumps(evaluation, indent=2, ensure_ascii=False) + "\n",
        "tables.md": evaluation_markdown(evaluation),
        "texts.csv": _texts_csv(held, best),
    }
    contents |= {f"{name}.svg": render_names(figure) for name, figure in figures.items()}
    for name, content in contents.items():
        write_whole(out / name, content)
    return [out / name for name in contents], evaluation


def _texts_csv(held: HeldOut, judged: Probabilities) -> str:
    """One held-out text per line: the answer of the recommended model, and how many excerpts are right."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["title", "author", "answer", "probability", "probability_of_author", "excerpts", "excerpts_right"])
    text = held.pieces.text[held.tested]
    names = held.library.names
    for row, one in enumerate(np.unique(text)):
        p, own = judged["texts"][row], judged["pieces"][text == one]
        author = int(held.author[one])
        right = int((own.argmax(1) == author).sum())
        answer = names[int(p.argmax())]
        writer.writerow(
            [held.library.titles[one], names[author], answer, f"{p.max():.4f}", f"{p[author]:.4f}", len(own), right]
        )
    return stream.getvalue()
