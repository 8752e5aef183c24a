"""The answers as one page: no script, no other file."""

from collections.abc import Sequence
from html import escape

from shiftstate.attribution.answers.rolling import draw_rolling
from shiftstate.attribution.answers.verdict import HANDS, NONE, UNDECIDED, Reasons, TextVerdict
from shiftstate.attribution.attributor import Attributor
from shiftstate.attribution.labels import render_names

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h2 { margin-top: 2.5rem; } table { border-collapse: collapse; }
td, th { padding: .15rem .8rem .15rem 0; text-align: left; }
.answer { font-size: 1.25rem; } .bar { background: #3b76b8; height: .7rem; display: inline-block; }
.columns { display: flex; flex-wrap: wrap; gap: 2rem; } svg { max-width: 100%; height: auto; } .note { color: #a33; }
"""


def verdict_page(attributor: Attributor, verdicts: Sequence[TextVerdict]) -> str:
    """All verdicts of one call."""
    held = attributor.held_out_[attributor.recommended_]
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Who wrote this?</title>",
        f"<style>{STYLE}</style></head><body><h1>Who wrote this?</h1>",
        f"<p>{len(attributor.classes_)} authors, {len(attributor.titles_)} texts, {len(attributor.listed_)} words. "
        f"Model: <b>{escape(attributor.recommended_)}</b>. With whole texts held out, in excerpts of "
        f"{attributor.length:,} words, {escape(attributor.why_)}; calibration error "
        f"{held['calibration_error']:.3f}.</p>",
        *(_section(verdict) for verdict in verdicts),
        "<h2>What the numbers mean</h2><p>Probabilities are among the authors of the model only, and are calibrated on "
        "held-out texts of the same authors. A text of another genre, time or translator is not covered. "
        f"“{UNDECIDED}” means that no author reaches the probability asked for; “{NONE}” that the excerpts fit the "
        "first author less well than nineteen in twenty texts fit their own author. The fit is the geometric mean of "
        f"the first author's probabilities over all excerpts. “{HANDS}” means that one author fits the first part of "
        "the text and another one the rest, each with a probability of 0.99 or more.</p></body></html>",
    ]
    return "\n".join(parts)


def _section(verdict: TextVerdict) -> str:
    rows = [
        f"<tr><td>{escape(author)}</td><td>{escape(in_digits(p))}</td><td>{100 * verdict.votes[author]:.0f} %</td>"
        f"<td><span class='bar' style='width:{16 * p:.2f}rem'></span></td></tr>"
        for author, p in list(verdict.probabilities.items())[:10]
    ]
    models = [
        f"<tr><td>{escape(name)}</td><td>{escape(author)}</td><td>{escape(in_digits(p))}</td></tr>"
        for name, (author, p) in verdict.by_model.items()
    ]
    first, second = list(verdict.probabilities)[:2]
    notes = "".join(f"<p class='note'>{escape(note)}</p>" for note in verdict.notes)
    picture = render_names(draw_rolling(verdict)).decode()
    picture = picture[picture.index("<svg") :]
    return (
        f"<h2>{escape(verdict.title)}</h2><p class='answer'><b>{escape(verdict.headline)}</b></p>"
        f"<p>{verdict.words:,} words, {excerpts_of(verdict)}. {escape(stranger_sentence(verdict))}</p>{notes}"
        f"<table><tr><th>author</th><th>probability</th><th>votes</th><th></th></tr>{''.join(rows)}</table>"
        f"<h3>Along the text</h3>{picture}"
        f"<h3>What speaks for {escape(first)} and against, beside {escape(second)}</h3><div class='columns'>"
        f"{_reasons('words for', verdict.words_for)}{_reasons('words against', verdict.words_against)}"
        f"{_reasons('pairs for', verdict.pairs_for)}{_reasons('pairs against', verdict.pairs_against)}</div>"
        f"<h3>What each model says</h3><table><tr><th>model</th><th>author</th><th>probability</th></tr>"
        f"{''.join(models)}</table>"
    )


def in_digits(p: float) -> str:
    """A probability with three digits; never 0 or 1, which no evidence reaches."""
    return "> 0.999" if p > 0.9995 else "< 0.001" if p < 0.0005 else f"{p:.3f}"


def excerpts_of(verdict: TextVerdict) -> str:
    """How many excerpts the text has, in words."""
    return "1 excerpt" if verdict.pieces == 1 else f"{verdict.pieces} excerpts"


def stranger_sentence(verdict: TextVerdict) -> str:
    """In words, whether it may be none of the authors."""
    author = next(iter(verdict.probabilities))
    nearest = (
        f"{author} stays the nearest in {100 * verdict.impostor_score:.0f} % of the rounds with half of the words."
    )
    if verdict.short:
        return f"The text is too short to say whether it may be none of them. {nearest}"
    if verdict.fit_threshold is None or verdict.strangers_as_high is None:
        return f"There are too few authors to say whether it may be none of them. {nearest}"
    return (
        f"Fit of {author}: {verdict.fit:.2f}. One in twenty texts by the authors themselves, or fewer, fit less well "
        f"than {verdict.fit_threshold:.2f}; {100 * verdict.strangers_as_high:.0f} % of texts by strangers fit as well. "
        f"{nearest}"
    )


def _reasons(title: str, reasons: Reasons) -> str:
    rows = "".join(f"<tr><td>{escape(name)}</td><td>{value:+.4f}</td></tr>" for name, value in reasons)
    return f"<div><b>{title}</b><table>{rows}</table></div>"
