"""Names of authors in pictures, whatever signs and script they are written in."""

import warnings

from matplotlib.figure import Figure

from shiftstate.pictures import render


def plain(name: str) -> str:
    """A name that Matplotlib takes as it is: $ is no formula, and _ at the start does not hide it."""
    escaped = name.replace("$", r"\$")
    return f"\u200b{escaped}" if escaped.startswith("_") else escaped


def render_names(figure: Figure) -> bytes:
    """The figure as SVG; its text is drawn by the reader's fonts, so letters that are missing here do no harm."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        return render(figure, "svg")
