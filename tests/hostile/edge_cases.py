"""Nasty graphs: edge lists, matrices and GraphML that are damaged, and clean ones in unusual forms."""

from typing import Any

import numpy as np

from tests.hostile.changes import Change, Evil, archive, array, both, cell, cells, edit, parquet, put, swap
from tests.hostile.clean import NODES
from tests.hostile.forms import (
    ADJACENCY,
    NUMBERED,
    POINTERS,
    RING,
    bomb,
    coo,
    csr,
    csv_of,
    dictionary,
    either,
    ends,
    graphml,
    mtx,
    npy_header,
    refused,
    same,
    table,
)
from tests.hostile.judging import Case
from tests.own_data.towns import N

CSV = "edges.csv"


def like(file: str, name: str, change: Change, *more: str) -> Case:
    """The clean graph in another file."""
    return same(NODES, file, name, change, "--edges", file, *more)


def bad(file: str, name: str, change: Change, *more: str, says: str = "") -> Case:
    """A graph that cannot be meant."""
    return refused(NODES, file, name, change, "--edges", file, *more, says=says)


def beside(name: str, value: Any) -> Change:
    """One more column of the edge list, with this value in every row."""
    return cells(CSV, lambda rows: [[*row, str(value) if place else name] for place, row in enumerate(rows)])


def arrow(make: Any) -> Change:
    """The edges as Parquet with columns of Arrow."""
    return parquet("edges.parquet", make, CSV)


def _lists(made: Any) -> Any:
    import pyarrow as pa

    return table({"source": pa.array([[str(one)] for one in made["source"]]), "target": made["target"]})


def _structs(made: Any) -> Any:
    import pyarrow as pa

    return table({"source": pa.array([{"a": str(one)} for one in made["source"]]), "target": made["target"]})


def _nothing(made: Any) -> Any:
    return table({"source": [None] * N, "target": made["target"]})


def damaged(change: Any) -> Change:
    """The edges as Parquet, with the bytes of the file changed."""
    return both(arrow(lambda made: made), edit("edges.parquet", change))


def entities(declared: str, used: str) -> Change:
    """GraphML in which a node's name is an entity."""
    body = graphml().partition("?>")[2].replace("town5", f"&{used};", 1)
    return put("edges.graphml", f"<!DOCTYPE graphml [{declared}]>{body}")


MULTIPLIED = "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))

TEXTS = [
    same(NODES, CSV, "semicolons", swap(CSV, ",", ";")),
    same(NODES, CSV, "tabs", swap(CSV, ",", "\t")),
    same(NODES, CSV, "lines that end as on Windows", swap(CSV, "\n", "\r\n")),
    same(NODES, CSV, "a byte order mark", edit(CSV, lambda data: b"\xef\xbb\xbf" + data)),
    same(NODES, CSV, "no line feed at the end", edit(CSV, bytes.rstrip)),
    same(NODES, CSV, "empty lines at the end", edit(CSV, lambda data: data + b"\n\n\n")),
    same(NODES, CSV, "comments before it", edit(CSV, lambda data: b"# made by us\n# twice\n" + data)),
    same(NODES, CSV, "everything in quotation marks", cells(CSV, lambda rows: None, quoting=1)),
    same(NODES, CSV, "every edge in both directions", cells(CSV, lambda rows: rows + [r[::-1] for r in rows[1:]])),
    same(NODES, CSV, "edges repeated", cells(CSV, lambda rows: rows + rows[1:8])),
    same(NODES, CSV, "other names of columns", swap(CSV, "source,target", "from,to", 1)),
    same(NODES, CSV, "unknown names of columns", swap(CSV, "source,target", "alpha,beta", 1)),
    same(NODES, CSV, "columns the other way round", cells(CSV, lambda rows: [row[::-1] for row in rows])),
    same(NODES, CSV, "rows in another order", cells(CSV, lambda rows: [rows[0], *rows[:0:-1]])),
    same(NODES, CSV, "weights of one", beside("weight", 1)),
    same(NODES, CSV, "weights of one as 1e0", beside("weight", "1e0")),
    same(NODES, CSV, "another column", beside("note", "old")),
    same(NODES, CSV, "an empty column", beside("note", "")),
    either(NODES, CSV, "a weight of 0x1", both(beside("weight", 1), cell(CSV, 6, 2, "0x1"))),
    either(NODES, CSV, "blanks after commas", swap(CSV, ",", ", ")),
    either(NODES, CSV, "UTF-16", edit(CSV, lambda data: data.decode().encode("utf-16"))),
    either(NODES, CSV, "a comment in the midst", swap(CSV, "town5,", "# five\ntown5,", 1)),
    either(NODES, CSV, "an empty line in the midst", swap(CSV, "\ntown5,", "\n\ntown5,", 1)),
    like("edges.tsv", "tabs", cells(CSV, lambda rows: None, "edges.tsv", delimiter="\t")),
    like("edges.txt", "blanks", cells(CSV, lambda rows: None, "edges.txt", delimiter=" ")),
    like("matrix.csv", "a matrix without names", put("matrix.csv", csv_of(ADJACENCY))),
    like("matrix.csv", "a matrix with names above", put("matrix.csv", csv_of(ADJACENCY, header=True))),
    like("matrix.csv", "a matrix with names on both sides", put("matrix.csv", csv_of(ADJACENCY, True, True))),
    # towns named by numbers: without names of columns the first row is an edge
    same(NODES, CSV, "numbers", NUMBERED),
    same(NODES, CSV, "numbers without a header", both(NUMBERED, cells(CSV, lambda rows: rows[1:]))),
    same(NODES, CSV, "numbers and ones without a header",
         both(NUMBERED, cells(CSV, lambda rows: [[*row, "1"] for row in rows[1:]]))),
    same(NODES, CSV, "as many columns as rows",
         both(NUMBERED, cells(CSV, lambda rows: [[*row, *(f"{'c' * (not i)}{j}" for j in range(N - 2))]
                                                 for i, row in enumerate(rows)]))),
    same(NODES, CSV, "positions from 0", cells(CSV, lambda rows: [r if not i else [str(i - 1), str(i % N)]
                                                                 for i, r in enumerate(rows)])),
    same(NODES, CSV, "positions from 1", cells(CSV, lambda rows: [r if not i else [str(i), str(i % N + 1)]
                                                                 for i, r in enumerate(rows)])),
    refused(NODES, CSV, "weights that add up to more than float32 holds",
            both(beside("weight", "3e38"), cells(CSV, lambda rows: rows + rows[1:])), says="add up"),
    bad("edges.txt", "a weight of 70 digits", put("edges.txt", f"town1 town2 3\ntown2 town3 {'1' * 70}\n")),
    refused(NODES, CSV, "a header only", put(CSV, "source,target\n")),
    refused(NODES, CSV, "one column", cells(CSV, lambda rows: [row[:1] for row in rows]), says="column"),
    refused(NODES, CSV, "cut in a row", edit(CSV, lambda data: data[: data.rindex(b",") + 1])),
    refused(NODES, CSV, "a row too short", swap(CSV, "town5,town6", "town5", 1), says="row 7"),
    refused(NODES, CSV, "a row too long", swap(CSV, "town5,town6", "town5,town6,1", 1), says="row 7"),
    refused(NODES, CSV, "an empty end", cell(CSV, 6, 1, ""), says="row 7"),
    refused(NODES, CSV, "a stranger", cell(CSV, 6, 1, "village"), says="village"),
    refused(NODES, CSV, "a name with a blank", cell(CSV, 6, 1, "town6 x"), says="town6 x"),
    refused(NODES, CSV, "a name in capitals", cell(CSV, 6, 1, "TOWN6"), says="TOWN6"),
    refused(NODES, CSV, "two columns of one name", swap(CSV, "source,target", "source,source", 1), says="source"),
    refused(NODES, CSV, "text in Latin-1", edit(CSV, lambda data: data.replace(b"town5", b"t\xffwn5")), says="UTF-8"),
    refused(NODES, CSV, "a column of sources that is not there", lambda f: None, "--source", "nope", says="nope"),
    refused(NODES, CSV, "a column of targets that is not there", lambda f: None, "--destination", "nope", says="nope"),
    refused(NODES, CSV, "a column of weights that is not there", lambda f: None, "--weight", "nope", says="nope"),
    refused(NODES, CSV, "source and destination the same column", lambda f: None, "--source", "source",
            "--destination", "source", says="source"),
    refused(NODES, CSV, "the sources are the weights", lambda f: None, "--weight", "source", says="source"),
    *(refused(NODES, CSV, f"a weight of {value or 'nothing'}", both(beside("weight", 1), cell(CSV, 6, 2, value)),
              says="weight") for value in ("", "nan", "inf", "-inf", "1e999", "heavy", "1,5", "1+2j", "1e39", "1_0")),
]  # fmt: skip

CUT = bytes.fromhex("504b0506") + bytes(18)

ARRAYS = [
    like("edges.npz", "positions (2, E)", array("edges.npz", lambda: {"edges": RING})),
    like("edges.npz", "positions (E, 2)", array("edges.npz", lambda: {"edges": RING.T})),
    like("edges.npz", "unsigned positions", array("edges.npz", lambda: {"edges": RING.astype(np.uint64)})),
    like("edges.npz", "positions and weights", array("edges.npz", lambda: {"edges": RING, "weight": np.ones(N)})),
    like("edges.npy", "positions of 16 bits", array("edges.npy", lambda: RING.astype(np.int16))),
    like("edges.npy", "a dense matrix", array("edges.npy", lambda: ADJACENCY)),
    like("edges.npy", "a matrix by columns", array("edges.npy", lambda: np.asfortranarray(ADJACENCY))),
    like("edges.npy", "a matrix of the other byte order", array("edges.npy", lambda: ADJACENCY.astype(">f4"))),
    like("edges.npy", "a matrix of yes and no", array("edges.npy", lambda: ADJACENCY.astype(bool))),
    like("edges.npz", "a CSR matrix", array("edges.npz", csr)),
    like("edges.npz", "a COO matrix", array("edges.npz", coo)),
    bad("edges.npz", "pointers beyond the data", array("edges.npz", lambda: csr(indptr=POINTERS * 1000))),
    bad("edges.npz", "pointers that jump", array("edges.npz", lambda: csr(indptr=np.r_[0, 10**9, POINTERS[2:]]))),
    bad("edges.npz", "pointers that go back", array("edges.npz", lambda: csr(indptr=np.r_[POINTERS[:-2], -5, 48]))),
    bad("edges.npz", "pointers below zero", array("edges.npz", lambda: csr(indptr=POINTERS - 10**6))),
    bad("edges.npz", "too few pointers", array("edges.npz", lambda: csr(indptr=POINTERS[:5]))),
    bad("edges.npz", "no pointers", array("edges.npz", lambda: csr(indptr=POINTERS[:0]))),
    bad("edges.npz", "pointers of halves", array("edges.npz", lambda: csr(indptr=POINTERS / 2))),
    bad("edges.npz", "pointers in a square", array("edges.npz", lambda: csr(indptr=np.zeros((5, 5), int)))),
    bad("edges.npz", "indices beyond the shape", array("edges.npz", lambda: csr(indices=np.full(48, 10**9)))),
    bad("edges.npz", "indices below zero", array("edges.npz", lambda: csr(indices=np.full(48, -7)))),
    bad("edges.npz", "too few indices", array("edges.npz", lambda: csr(indices=np.zeros(3, np.int32)))),
    bad("edges.npz", "too few values", array("edges.npz", lambda: csr(data=np.ones(3)))),
    bad("edges.npz", "values that are words", array("edges.npz", lambda: csr(data=np.full(48, "a")))),
    bad("edges.npz", "values that are complex", array("edges.npz", lambda: csr(data=np.full(48, 1j)))),
    bad("edges.npz", "values that are not finite", array("edges.npz", lambda: csr(data=np.full(48, np.nan)))),
    bad("edges.npz", "a shape of three", array("edges.npz", lambda: csr(shape=np.array([24, 24, 24])))),
    bad("edges.npz", "a shape below zero", array("edges.npz", lambda: csr(shape=np.array([-24, -24])))),
    bad("edges.npz", "a shape of nothing", array("edges.npz", lambda: csr(shape=np.array([0, 0])))),
    bad("edges.npz", "a shape that is not square", array("edges.npz", lambda: csr(shape=np.array([24, 99])))),
    bad("edges.npz", "a COO matrix of shape 2^40", array("edges.npz", lambda: coo(shape=np.array([2**40] * 2)))),
    bad("edges.npz", "a COO matrix of shape 2^62", array("edges.npz", lambda: coo(shape=np.array([2**62] * 2)))),
    bad("edges.npz", "a COO row beyond the shape", array("edges.npz", lambda: coo(row=np.full(48, 2**33)))),
    bad("edges.npz", "a COO row below zero", array("edges.npz", lambda: coo(row=np.full(48, -1)))),
    bad("edges.npz", "a format that is not known", array("edges.npz", lambda: csr(format=b"nope"))),
    bad("edges.npz", "a format that is a number", array("edges.npz", lambda: csr(format=3))),
    bad("edges.npz", "a diagonal matrix without offsets", array("edges.npz", lambda: csr(format=b"dia"))),
    bad("edges.npz", "blocks without blocks", array("edges.npz", lambda: csr(format=b"bsr"))),
    bad("edges.npz", "an edge beyond the nodes", array("edges.npz", lambda: {"edges": RING + 1}), says="24"),
    bad("edges.npz", "an edge of node 2^62", array("edges.npz", lambda: {"edges": RING + 2**62})),
    bad("edges.npz", "an edge of node -1", array("edges.npz", lambda: {"edges": RING - 1}), says="-1"),
    bad("edges.npz", "an edge of an unsigned node", array("edges.npz", lambda: {"edges": RING + np.uint64(2**63)})),
    bad("edges.npz", "no edges", array("edges.npz", lambda: {"edges": RING[:, :0]})),
    bad("edges.npz", "halves of nodes", array("edges.npz", lambda: {"edges": RING + 0.5})),
    bad("edges.npz", "weights of another length", array("edges.npz", lambda: {"edges": RING, "weight": np.ones(5)})),
    bad("edges.npz", "weights that are not finite",
        array("edges.npz", lambda: {"edges": RING, "weight": np.full(N, np.inf)})),
    bad("edges.npz", "no arrays", array("edges.npz", dict)),
    bad("edges.npz", "arrays of other names", array("edges.npz", lambda: {"foo": RING, "bar": RING})),
    bad("edges.npz", "an object", array("edges.npz", lambda: {"edges": np.array([Evil()], dtype=object)})),
    bad("edges.npz", "an end of an archive only", put("edges.npz", CUT)),
    bad("edges.npz", "a bomb of 2 GB", put("edges.npz", bomb("edges.npy", 2 * 10**9))),
    bad("edges.npz", "a bomb that claims to be small", put("edges.npz", bomb("edges.npy", 2 * 10**9, 1000))),
    bad("edges.npz", "a member that is no array", archive("edges.npz", edges__npy=b"hello")),
    bad("edges.npz", "a member with a shape of 2^60", archive("edges.npz", edges__npy=npy_header(f"({2**60},)"))),
    bad("edges.npy", "an object", array("edges.npy", lambda: np.array([Evil()], dtype=object))),
    bad("edges.npy", "a shape of 2^60", put("edges.npy", npy_header(f"({2**60},)"))),
    bad("edges.npy", "a shape of 2^200", put("edges.npy", npy_header(f"({2**200},)"))),
    bad("edges.npy", "a shape below zero", put("edges.npy", npy_header("(-5, 5)"))),
    bad("edges.npy", "a shape that is code", put("edges.npy", npy_header("(open('executed','w'),)"))),
    bad("edges.npy", "a shape nested deeply", put("edges.npy", npy_header("(" * 9000 + ")" * 9000))),
    bad("edges.npy", "a kind that is not known", put("edges.npy", npy_header("(5,)", "<q99"))),
    bad("edges.npy", "a kind of 2 GB", put("edges.npy", npy_header("(1,)", "<U500000000"))),
    bad("edges.npy", "fewer values than its shape", put("edges.npy", npy_header("(24, 24)", data=bytes(80)))),
    bad("edges.npy", "one dimension", array("edges.npy", lambda: np.ones(24))),
    bad("edges.npy", "three dimensions", array("edges.npy", lambda: np.ones((3, 24, 24)))),
    bad("edges.npy", "no dimension", array("edges.npy", lambda: np.array(3.0))),
    bad("edges.npy", "words", array("edges.npy", lambda: np.full((24, 24), "a"))),
    bad("edges.npy", "dates", array("edges.npy", lambda: np.full((24, 24), np.datetime64("2020-01-01")))),
    bad("edges.npy", "complex numbers", array("edges.npy", lambda: ADJACENCY + 1j)),
    bad("edges.npy", "NaN", array("edges.npy", lambda: np.where(ADJACENCY > 0, np.nan, 0))),
    bad("edges.npy", "numbers beyond float32", array("edges.npy", lambda: ADJACENCY * 1e300)),
    bad("edges.npy", "a matrix of another size", array("edges.npy", lambda: np.ones((7, 7)))),
    bad("edges.npy", "fields", array("edges.npy", lambda: np.zeros((24, 24), [("a", "f8"), ("b", "i4")]))),
]  # fmt: skip

MTX = "%%MatrixMarket matrix coordinate real general\n"

OTHERS = [
    like("edges.parquet", "strings", arrow(lambda made: made)),
    like("edges.parquet", "large strings", arrow(ends("large_string"))),
    like("edges.parquet", "views of strings", arrow(ends("string_view"))),
    like("edges.parquet", "dictionaries", arrow(dictionary)),
    like("edges.mtx", "a general matrix", put("edges.mtx", mtx(ADJACENCY))),
    like("edges.mtx", "whole numbers", put("edges.mtx", mtx(ADJACENCY, "integer"))),
    like("edges.mtx", "a symmetric matrix", put("edges.mtx", mtx(np.tril(ADJACENCY), symmetry="symmetric"))),
    like("edges.graphml", "GraphML", put("edges.graphml", graphml())),
    bad("edges.parquet", "a column of lists", arrow(_lists), says="source"),
    bad("edges.parquet", "a column of structures", arrow(_structs), says="source"),
    bad("edges.parquet", "a column of bytes", arrow(ends("binary"))),
    bad("edges.parquet", "a column of nothing", arrow(_nothing), says="source"),
    bad("edges.parquet", "no rows", arrow(lambda made: made.slice(0, 0))),
    bad("edges.parquet", "no columns", arrow(lambda made: made.select([]))),
    bad("edges.parquet", "cut in the midst", damaged(lambda b: b[: len(b) // 2])),
    bad("edges.parquet", "a foot that lies", damaged(lambda b: b[:-8] + b"\xff\xff\xff\x7fPAR1")),
    bad("edges.parquet", "zeros in the midst", damaged(lambda b: b[:4] + bytes(200) + b[204:])),
    bad("edges.mtx", "a size only", put("edges.mtx", MTX + "24 24 48\n")),
    bad("edges.mtx", "no size", put("edges.mtx", MTX)),
    bad("edges.mtx", "a size of 2^60", put("edges.mtx", MTX + f"{2**60} {2**60} 1\n1 1 1\n")),
    bad("edges.mtx", "a size below zero", put("edges.mtx", MTX + "-4 -4 1\n1 1 1\n")),
    bad("edges.mtx", "2^60 entries", put("edges.mtx", MTX + f"24 24 {2**60}\n1 1 1\n")),
    bad("edges.mtx", "an entry beyond the size", put("edges.mtx", MTX + "24 24 1\n25 1 1\n")),
    bad("edges.mtx", "an entry at 0", put("edges.mtx", MTX + "24 24 1\n0 1 1\n")),
    bad("edges.mtx", "a word", put("edges.mtx", MTX + "24 24 1\n1 1 one\n")),
    bad("edges.mtx", "NaN", put("edges.mtx", MTX + "24 24 1\n1 1 nan\n")),
    bad("edges.mtx", "complex numbers", put("edges.mtx", mtx(ADJACENCY).replace("real", "complex", 1))),
    bad("edges.mtx", "another kind of object", put("edges.mtx", mtx(ADJACENCY).replace("matrix", "vector", 1))),
    bad("edges.mtx", "a matrix of another size", put("edges.mtx", mtx(np.eye(7)))),
    bad("edges.graphml", "no XML", put("edges.graphml", "hello")),
    bad("edges.graphml", "cut in the midst", put("edges.graphml", graphml()[:300])),
    bad("edges.graphml", "another kind of XML", put("edges.graphml", "<html><body/></html>")),
    bad("edges.graphml", "no graph", put("edges.graphml", '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"/>')),
    bad("edges.graphml", "a stranger", put("edges.graphml", graphml().replace("town5", "village"))),
    bad("edges.graphml", "nested deeply", put("edges.graphml", "<a>" * 20000)),
    bad("edges.graphml", "entities that multiply", entities('<!ENTITY a "aaaaaaaaaa">' + MULTIPLIED, "j")),
    bad("edges.graphml", "an entity from a file", entities('<!ENTITY a SYSTEM "towns.csv">', "a")),
    bad("matrix.csv", "a matrix with a gap", put("matrix.csv", csv_of(ADJACENCY).replace("1", "", 1))),
    bad("matrix.csv", "a matrix with a word", put("matrix.csv", csv_of(ADJACENCY).replace("1", "x", 1))),
    bad("matrix.csv", "a matrix that is not finite", put("matrix.csv", csv_of(ADJACENCY).replace("1", "inf", 1))),
    bad("matrix.csv", "a matrix of another size", put("matrix.csv", csv_of(np.ones((7, 7))))),
    bad("edges.xls", "an ending that is not known", put("edges.xls", "a,b\n1,2\n")),
    bad("edges", "no ending", put("edges", "a,b\n1,2\n")),
]  # fmt: skip

CASES = [*TEXTS, *ARRAYS, *OTHERS]
