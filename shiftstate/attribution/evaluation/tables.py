"""An evaluation as tables in Markdown."""

from collections.abc import Mapping
from html import escape
from typing import Any

COLUMNS = {
    "excerpts": "accuracy_excerpts",
    "books": "accuracy_books",
    "macro F1": "macro_f1",
    "c@1": "c_at_1",
    "F0.5u": "f05u",
    "AUC": "auc",
    "Brier": "brier",
    "Cllr": "cllr",
    "calibration error": "calibration_error",
    "the same, books": "calibration_error_books",
}


def evaluation_markdown(evaluation: Mapping[str, Any]) -> str:
    """Models, lengths, the sure nine tenths, authors and verification."""
    models = evaluation["models"]
    lines = [
        f"# {evaluation['texts_held_out']} held-out texts of {evaluation['num_authors']} authors",
        "",
        f"{evaluation['excerpts_held_out']:,} excerpts of {evaluation['length']:,} words, {evaluation['words']} words "
        f"in the list, {evaluation['folds']} folds. Recommended: **{evaluation['recommended']}**. "
        f"{evaluation['why'][0].upper()}{evaluation['why'][1:]}.",
        "",
        f"Networks add {evaluation['networks_add']['points']:+.1f} points to frequencies (95 % interval over texts "
        f"{evaluation['networks_add']['interval'][0]:+.1f} to {evaluation['networks_add']['interval'][1]:+.1f}): "
        f"{evaluation['networks_add']['verdict']}. {_graph_adds(evaluation)}",
        "",
        "## Models",
        "",
        f"| model | {' | '.join(COLUMNS)} |",
        f"|---|{'---|' * len(COLUMNS)}",
    ]
    for name, measures in models.items():
        cells = [f"{measures[key]:.3f}" for key in COLUMNS.values()]
        low, high = measures["accuracy_excerpts_interval"]
        cells[0] += f" ({low:.3f}–{high:.3f})"
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "## Without the least sure tenth", ""]
    lines += ["| model | all excerpts | the sure nine tenths | margin |", "|---|---|---|---|"]
    for name, measures in models.items():
        everything, sure = measures["accuracy_excerpts"], measures["accuracy_sure_nine_tenths"]
        lines.append(f"| {name} | {100 * everything:.1f} % | {100 * sure:.1f} % | {100 * (sure - everything):+.1f} |")
    lengths = next(iter(models.values()))["accuracy_by_length"]
    lines += ["", "## Words of a text", "", f"| model | {' | '.join(lengths)} |", f"|---|{'---|' * len(lengths)}"]
    for name, measures in models.items():
        cells = [f"{100 * value:.1f} %" for value in measures["accuracy_by_length"].values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        "",
        "## Authors",
        "",
        "| author | texts | excerpts right | books right | most often taken for |",
        "|---|---|---|---|---|",
    ]
    for author, one in sorted(evaluation["authors"].items(), key=lambda item: item[1]["accuracy_excerpts"]):
        taken = ", ".join(f"{_cell(name)} {100 * share:.0f} %" for name, share in list(one["taken_for"].items())[:2])
        lines.append(
            f"| {_cell(author)} | {one['texts']} | {100 * one['accuracy_excerpts']:.0f} % | "
            f"{100 * one['accuracy_books']:.0f} % | {taken} |"
        )
    return "\n".join([*lines, *_verification(evaluation), *_strangers(evaluation), *_two_hands(evaluation)]) + "\n"


def _cell(name: str) -> str:
    """A name that neither ends a cell nor is markup."""
    return escape(name, quote=False).replace("|", "\\|")


def _graph_adds(evaluation: Mapping[str, Any]) -> str:
    one = evaluation["networks_add"]["filter_over_no_graph"]
    return (
        f"The filter's graph alone adds {one['points']:+.1f} ({one['interval'][0]:+.1f} to {one['interval'][1]:+.1f})."
    )


def _verification(evaluation: Mapping[str, Any]) -> list[str]:
    if not evaluation["verification"]:
        return []
    names = ["auc", "c_at_1", "f05u", "f1", "brier", "overall"]
    lines = ["", "## Verification: the same author or not", ""]
    lines += [f"{int(evaluation['verification']['pairs'])} pairs of texts, by the words of each (at most).", ""]
    lines += ["| words | AUC | c@1 | F0.5u | F1 | Brier (1 − error) | mean |", "|---|---|---|---|---|---|---|"]
    for words, one in evaluation["verification"]["by_length"].items():
        lines.append(f"| {int(words):,} | {' | '.join(f'{one[name]:.3f}' for name in names)} |")
    return lines


def _strangers(evaluation: Mapping[str, Any]) -> list[str]:
    if not evaluation["strangers"]:
        return []
    lines = ["", "## Perhaps none of these", ""]
    lines += ["Texts whose author was taken away, and texts whose author is there, by their words (at most).", ""]
    lines += ["| words | strangers found | own texts refused | AUC |", "|---|---|---|---|"]
    for one in evaluation["strangers"]:
        found, refused = 100 * one["strangers_found"], 100 * one["own_refused"]
        lines.append(f"| {one['words']:,} | {found:.0f} % | {refused:.0f} % | {one['auc']:.3f} |")
    return lines


def _two_hands(evaluation: Mapping[str, Any]) -> list[str]:
    one = evaluation["two_hands"]
    if not one["joined"]:
        return []
    return [
        "",
        "## Two hands",
        "",
        f"A change of hand is named in {one['changes_named']} of {one['texts']} held-out texts. Where halves of two "
        f"authors' texts were joined, it is found within two excerpts, with both authors, in {one['changes_found']} of "
        f"{one['joined']}.",
    ]
