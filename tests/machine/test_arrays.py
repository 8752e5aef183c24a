"""A file of arrays that a study is given: what is wrong with it is one line."""

import re

import numpy as np
import pytest

from shiftstate.machine import array_file

SOURCE = array_file("board", ["edges", "labels"], "get it from the shop")


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        (None, "is not an .npz file; get it from the shop"),
        ({"edges": np.zeros(2)}, "has no array 'labels'; get it from the shop"),
        ({"edges": np.zeros(2), "labels": np.array([{}])}, "cannot be read (Object arrays cannot be loaded"),
    ],
)
def test_a_file_without_the_arrays_is_named(tmp_path, arrays, said):
    file = tmp_path / "board.npz"
    file.write_text("a text") if arrays is None else np.savez(file, **arrays)
    with pytest.raises(ValueError, match=re.escape(said)):
        SOURCE.fingerprint(file)
