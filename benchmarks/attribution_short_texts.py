"""Texts that are shorter than an excerpt: how far the probabilities hold that were learned from whole excerpts.

    python benchmarks/attribution_short_texts.py TEXTS

Three folds of whole texts, calibrated on excerpts of 1,000 words, judged on 1,000, 500, 250 and 125 words; with each
power of the share of words by which the scores are made smaller, the calibration error.
"""

import sys
from pathlib import Path

import numpy as np

from shiftstate.attribution.certainty.calibration import SHORT, cross_calibrate
from shiftstate.attribution.folds import deal, score_fold
from shiftstate.attribution.library import read_library
from shiftstate.attribution.metrics import calibration_error
from shiftstate.attribution.models import MODELS
from shiftstate.attribution.models.linear import log_softmax
from shiftstate.attribution.pieces import cut_texts
from shiftstate.attribution.word_choice import choose_words

LENGTHS = (1000, 500, 250, 125)
POWERS = (0.0, 0.2, SHORT, 0.5)


def main() -> None:
    """Print one line per model and length."""
    library = read_library(Path(sys.argv[1]), lambda line: None)
    folds = deal(library.authors, 3)
    choice = choose_words("auto:300", library, folds)
    cuts = [cut_texts(library.texts, choice.words, length, library.vocabulary.words) for length in LENGTHS]
    size = len(library.names)
    scores = [{name: np.full((len(cut), size), np.nan) for name in MODELS} for cut in cuts]
    for fold in folds:
        scored = score_fold(cuts[0], library.author, size, fold, list(MODELS), choice, cuts[1:])
        for name, found in scored.items():
            for cut, own, one in zip(cuts, scores, found, strict=True):
                own[name][np.isin(cut.text, fold)] = one
    print(
        f"{'model':13} {'words':>5} {'right':>7}  calibration error with power {', '.join(f'{p:.2f}' for p in POWERS)}"
    )
    for names in ([*MODELS], *([name] for name in MODELS)):
        text = cuts[0].text
        judged = cross_calibrate([scores[0][name] for name in names], library.author[text], text)
        for length, cut, own in zip(LENGTHS, cuts, scores, strict=True):
            logarithms = np.full((len(cut), size), np.nan)
            for one, calibration in judged.by_text.items():
                inside = cut.text == one
                logarithms[inside] = calibration.logarithms([own[name][inside] for name in names])
            right = logarithms.argmax(1) == library.author[cut.text]
            sure = [np.exp(log_softmax(logarithms * (length / LENGTHS[0]) ** power)).max(1) for power in POWERS]
            errors = ", ".join(f"{calibration_error(one, right):.3f}" for one in sure)
            title = "combined" if len(names) > 1 else names[0]
            print(f"{title:13} {length:5} {100 * right.mean():5.1f} %  {errors}")


if __name__ == "__main__":
    main()
