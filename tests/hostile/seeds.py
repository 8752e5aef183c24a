"""Clean files of every kind that the readers know, for the fuzzer to begin with."""

import io
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from shiftstate.attribution import Attributor
from shiftstate.distributed import partition
from shiftstate.estimators import Forecaster, NodeClassifier
from shiftstate.graphs import Shift
from tests.attribution.books import book
from tests.hostile.clean import NODES, write_clean
from tests.hostile.forms import coo, csr, graphml, mtx
from tests.hostile.judging import called
from tests.hostile.mutating import unsigned

RING = np.stack([np.arange(6), (np.arange(6) + 1) % 6])
PAGE = "<html><head><title>t</title></head><body><p>It was &amp; was not.</p><div>A <b>tale</b></div></body></html>"
TEI = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><p>It was.</p><l>A line</l></body></text></TEI>'
WORDS = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>It was'
    "</w:t></w:r></w:p></w:body></w:document>"
)
EPUB = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile '
    'full-path="c.opf"/></rootfiles></container>',
    "c.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
    'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>',
    "a.xhtml": PAGE,
}


def clean_inputs() -> dict[str, list[bytes]]:
    """Contents by the name of a reader of `tests.hostile.fuzz`."""
    tables = [
        b"source,target,weight\na,b,1\nb,c,2.5\n",
        b"1,2,5\n2,3,5\n",
        b'"a b";c\n"x\ny";1\n',
        b"# c\na\tb\n007\t7\n",
    ]
    frame = pa.table({"source": ["a", "b"], "target": ["b", "c"], "w": [1.5, None]})
    arrays = [_npz(edges=RING), _npz(**csr()), _npz(**coo()), _npz(x=np.eye(4), names=np.array(["a", "b"]))]
    plain = [_npy(np.eye(4)), _npy(RING), _npy(np.array(["a", "b"]))]
    matrices = [mtx(np.eye(5)).encode(), mtx(np.eye(5), symmetry="symmetric").encode()]
    stored = _stored()
    return {
        "table.csv": tables,
        "blocks.csv": tables,
        "graph.csv": tables,
        "graph.txt": [one.replace(b",", b" ") for one in tables],
        "table.parquet": [_parquet(frame)],
        "graph.parquet": [_parquet(frame)],
        "table.npz": [_npz(a=np.arange(3), b=np.array(["x", "y", "z"]))],
        "graph.npz": arrays,
        "matrix.npz": arrays,
        "graph.npy": plain,
        "matrix.npy": plain,
        "graph.mtx": matrices,
        "matrix.mtx": matrices,
        "graph.graphml": [graphml().encode()],
        "text.txt": [b"It was the best of times, it was the worst of times.\n", "Ångström\n".encode("utf-16")],
        "text.html": [PAGE.encode()],
        "text.xml": [TEI.encode()],
        "text.docx": [_zip({"word/document.xml": WORDS})],
        "text.epub": [_zip(EPUB)],
        **stored,
    }  # fmt: skip


def _stored() -> dict[str, list[bytes]]:
    """Files that our own commands write, as small as they come."""
    shift = Shift.from_edges(np.concatenate([RING, RING[::-1]], 1))
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        small: dict[str, Any] = {"K": 1, "epochs": 1, "channels": 2, "layers": 1}
        made = NodeClassifier("gcnn", **small).fit(shift, random.normal(size=(6, 2)), np.arange(6) % 2)
        made.save(folder / "a")
        series = random.normal(size=(40, 6))
        Forecaster("gcnn", history=2, **small).fit(shift, series).save(folder / "b")
        partition(shift, folder / "parts", 1, "blocks")
        texts = [book(author, number, 500) for author in range(2) for number in range(2)]
        Attributor(words="auto:4", length=100).fit(texts, ["ann", "ann", "bob", "bob"]).save(folder / "who")
        return {
            "model.safetensors": [unsigned((folder / name).read_bytes()) for name in ("a", "b")],
            "attribution": [unsigned((folder / "who").read_bytes())],
            "partition.json": [(folder / "parts/partition.json").read_bytes()],
            **_run(folder / "data"),
        }


def _run(folder: Path) -> dict[str, list[bytes]]:
    """The files of a run."""
    folder.mkdir()
    write_clean(folder)
    back = Path.cwd()
    os.chdir(folder)
    try:
        code, _, err = called(list(NODES), folder)
    finally:
        os.chdir(back)
    assert not code, err
    files = {"metrics.json": "metrics.json", "settings.json": "settings.json", "stored graph": "graph.npz"}
    found = {name: [(folder / "run" / file).read_bytes()] for name, file in files.items()}
    return {**found, "run.toml": [(folder / "run.toml").read_bytes()]}


def _npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _parquet(frame: Any) -> bytes:
    buffer = io.BytesIO()
    pa.parquet.write_table(frame, buffer)
    return buffer.getvalue()


def _zip(members: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, text in members.items():
            file.writestr(name, text)
    return buffer.getvalue()
