"""Files that a directory may hold and that are not what they should be: one line says so, and nothing is written."""

import io
import json
import os
import zipfile

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shiftstate as ss
from shiftstate.layers import LAYERS
from shiftstate.layers.options import MIXINGS
from shiftstate.machine.page.lens_form import check_lens
from shiftstate.machine.page.lenses import read_lenses
from shiftstate.machine.page.render import embed
from shiftstate.machine.page.words import read_words
from shiftstate.machine.results.store import Store
from shiftstate.studies.paper import STUDY
from tests.machine.page.filled import add_words
from tests.machine.page.mutants import changed, mutants, places, small_lens

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.fixture(scope="module")
def lens():
    """A lens that can be read."""
    return small_lens()


def lens_file(name="x.json"):
    def write(directory, content):
        (directory / "lens").mkdir()
        (directory / "lens" / name).write_bytes(content)

    return write


def plan_file(directory, content):
    with Store(directory, STUDY):
        (directory / "plan.json").write_bytes(content)


def words_file(directory, content):
    (directory / "w.npz").write_bytes(content)


TEXTS = {
    "empty": b"",
    "deep": DEEP.encode(),
    "not UTF-8": b"\xff\xfe\xff",
    "cut off": b'{"kind": "shiftstate.lens", ',
    "a list": b"[1, 2]",
    "a word": b'"lens"',
    "null": b"null",
    "not a number": b'{"kind": NaN}',
    "infinite": b'{"kind": 1e999}',
    "a huge number": b'{"figure1": ' + b"9" * 5000 + b"}",
    "wrong types": b'{"kind": ["shiftstate.lens"], "format": {}, "figure1": {"preset": []}}',
}


@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("write", [lens_file(), plan_file, words_file], ids=["lens", "plan", "words"])
def test_a_damaged_file_is_one_line_and_leaves_nothing(tmp_path, command, write, content):
    write(tmp_path, content)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    code, _, told = command("report", tmp_path)
    assert code == 2
    assert told.count("\n") == 1
    assert len(told) < 600
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["lens/x.json", "plan.json", "w.npz"])
@pytest.mark.parametrize("kind", ["pipe", "directory", "broken link", "device"])
def test_what_is_no_regular_file_is_not_waited_for(tmp_path, command, name, kind):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    if name == "plan.json":
        with Store(tmp_path, STUDY):
            pass
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if kind == "device" else tmp_path / "nowhere")
    code, _, told = command("report", tmp_path)
    if (name, kind) == ("plan.json", "broken link"):  # as if there were no plan
        assert code == 0
    else:
        assert (code, told.count("\n")) == (2, 1)


def refusal(function, *arguments):
    """What a `ValueError` says, or None; every other exception is a failure."""
    try:
        function(*arguments)
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("K", [0, 3])
def test_every_lens_that_shiftstate_writes_has_the_form(name, mixing, K):
    torch.manual_seed(0)
    shift = ss.Shift.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]])
    network = ss.Network(name, [1, 2], K, ss.PoolReadout(2), mixing=mixing)
    lens = ss.lens.examine(network, torch.randn(3, 4, 1), shift, torch.tensor([0, 1, 0]))
    check_lens(json.loads(lens.to_json()))


def test_the_form_of_a_lens_is_checked_at_every_place(lens):
    """Whatever a place holds, the answer is a lens that the page can carry, or a `ValueError` of one line."""
    told = [refusal(check_lens, content) for content in mutants(lens)]
    refused = [one for one in told if one is not None]
    assert all("\n" not in one and len(one) < 400 for one in refused)
    assert len(refused) > 1000
    assert len(told) - len(refused) > 100  # what the page does not read may be anything


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_lens_with_any_json_in_any_place_is_read_or_refused(lens, tmp_path, data):
    anything = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=6,
    )
    (tmp_path / "lens").mkdir(exist_ok=True)
    with changed(lens, data.draw(st.sampled_from(list(places(lens)))), data.draw(anything)) as content:
        (tmp_path / "lens" / "x.json").write_text(json.dumps(content))
    told = refusal(lambda: [embed([lens.described([]), lens.content]) for lens in read_lenses(tmp_path)])
    assert told is None or "\n" not in told


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def archive(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(f"{name}.npy", content)
    return file.getvalue()


def npy(descr="<f8", shape="(2, 2)", data=b""):
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}}}".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


WORDS = np.array(["a", "b"])
NETWORKS = {
    "matrix of words": npz(matrix=np.array([["a", "b"], ["c", "d"]]), words=WORDS),
    "complex": npz(matrix=np.ones((2, 2), dtype=complex), words=WORDS),
    "objects": npz(matrix=np.ones((2, 2)), words=np.array([{}, []], dtype=object)),
    "not finite": npz(matrix=np.array([[1.0, np.inf], [1.0, 1.0]]), words=WORDS),
    "too large": npz(matrix=np.full((2, 2), 1e308), words=WORDS),
    "one dimension": npz(matrix=np.ones(4), words=WORDS),
    "words without dimension": npz(matrix=np.ones((1, 1)), words=np.array("a")),
    "words in a table": npz(matrix=np.ones((4, 4)), words=np.array([["a", "b"], ["c", "d"]])),
    "no array": archive(matrix=b"matrix", words=b"words"),
    "larger than it is": archive(matrix=npy(shape="(1000000, 1000000)"), words=npy("<U1", "(1000000,)")),
    "negative shape": archive(matrix=npy(shape="(-1, 2)"), words=npy("<U1", "(2,)")),
    "header of calls": archive(matrix=npy(shape="exit()"), words=npy("<U1", "(2,)")),
    "a bomb": archive(matrix=npy(shape="(20000, 20000)", data=bytes(10**6)), words=npy("<U1", "(20000,)")),
}


@pytest.mark.parametrize("content", NETWORKS.values(), ids=NETWORKS)
def test_a_network_that_is_none_is_one_line(tmp_path, content):
    (tmp_path / "w.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"w\.npz") as told:
        read_words(tmp_path)
    assert "\n" not in str(told.value)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_network_with_any_byte_changed_is_read_or_refused(tmp_path, data):
    if not (tmp_path / "figure2.npz").exists():
        add_words(tmp_path)
        (tmp_path / "figure2.npz").rename(tmp_path / "kept")
    content = bytearray((tmp_path / "kept").read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    (tmp_path / "w.npz").write_bytes(content[: data.draw(st.integers(len(content) // 2, len(content)))])
    told = refusal(lambda: embed(read_words(tmp_path)))
    assert told is None or "\n" not in told


def test_other_archives_are_left_alone_however_large_or_strange(tmp_path):
    (tmp_path / "objects.npz").write_bytes(npz(data=np.array([{}], dtype=object)))
    (tmp_path / "claims.npz").write_bytes(archive(matrix=npy(shape="(1000000, 1000000)")))
    assert read_words(tmp_path) is None


def test_a_matrix_in_column_order_is_read_as_it_is(tmp_path):
    matrix = np.array([[0.0, 3.0], [0.0, 0.0]])
    (tmp_path / "w.npz").write_bytes(npz(matrix=np.asfortranarray(matrix), words=WORDS))
    (network,) = read_words(tmp_path)["networks"]
    assert network["after"][network["names"].index("a")] == [["b", 3.0]]


@pytest.mark.parametrize("story", ["[]", DEEP, "{}", '{"n": 3}', "\ud800"])
def test_a_story_beside_a_network_that_tells_nothing_is_left_out(tmp_path, story):
    add_words(tmp_path)
    (tmp_path / "figure2.json").write_text(story, errors="surrogatepass")
    assert read_words(tmp_path)["networks"][0]["title"] == "figure2.npz"
