"""The page itself: template, style, scripts, data and the chart library in one file that asks nobody for anything."""

import base64
import gzip
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from shiftstate.machine.page.contract import PageData

SCRIPTS = (
    "tools/dom.js",
    "tools/numbers.js",
    "tools/charts.js",
    "tools/graph.js",
    "tools/experiments.js",
    "sections/run.js",
    "sections/results.js",
    "sections/claims.js",
    "sections/trainings.js",
    "sections/curves.js",
    "sections/lens_curves.js",
    "sections/lens.js",
    "sections/network.js",
    "sections/about.js",
    "main.js",
)
"""Joined in this order into one script."""

UNSAFE = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""What could end a script element, or a line of JavaScript, from inside a JSON string."""


def chart_library() -> str | None:
    """Plotly's JavaScript, as its Python package ships it; None if plotly is not installed."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        return None
    return str(get_plotlyjs())


def render(data: PageData, lenses: Sequence[Mapping[str, Any]], library: str | None) -> str:
    """The page as HTML.

    Data stand in it as JSON and reach the document as text only, so that a name is never markup. The policy in its
    head allows these scripts only, by their hashes, and no request at all. The library is compressed: it is three
    quarters of the page otherwise.
    """
    script = "\n".join(["(() => {", '"use strict";', *map(_asset, SCRIPTS), "})();", ""])
    parts = {
        "POLICY": _policy(*(one for one in (script, library) if one)),
        "TITLE": html.escape(str(data["title"])),
        "STYLE": _asset("page.css"),
        "LIBRARY": _packed(library or ""),
        "DATA": embed(data),
        "LENSES": "\n".join(
            f'<script type="application/json" id="lens-{place}">{embed(lens)}</script>'
            for place, lens in enumerate(lenses)
        ),
        "SCRIPT": script,
    }
    return re.sub(r"@@([A-Z]+)@@", lambda match: parts[match[1]], _asset("page.html"))


def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def embed(value: Any) -> str:
    """JSON that stays inside its script element whatever it holds."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = text.encode("utf-8", "replace").decode()  # a file name may hold what is no character
    return re.sub(f"[{''.join(UNSAFE)}]", lambda match: UNSAFE[match[0]], text)


def _asset(name: str) -> str:
    return resources.files("shiftstate.machine.page").joinpath("assets", *name.split("/")).read_text("utf-8")


def _policy(*scripts: str) -> str:
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
