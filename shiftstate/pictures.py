"""Figures of Matplotlib as the bytes of a file."""

import io

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def render(figure: Figure, kind: str) -> bytes:
    """The figure as "svg" or "png", the same bytes for the same figure."""
    FigureCanvasAgg(figure)
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "shiftstate", "svg.fonttype": "none"}):
        figure.savefig(buffer, format=kind, dpi=160, metadata={"Date": None} if kind == "svg" else {"Software": None})
    return buffer.getvalue()
