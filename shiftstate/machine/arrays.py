"""Data that are one file of named arrays (.npz), given by path: a source that a study names the arrays of."""

import hashlib
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from shiftstate.machine.parsing import check_regular
from shiftstate.machine.settings import Settings
from shiftstate.machine.study import Source
from shiftstate.machine.trial import Trial

MOST_BYTES = 4_000_000_000


def array_file(setting: str, names: Sequence[str], where: str, option: str = "--data") -> Source:
    """A source that copies the file into the directory of the results, so that runs go on without the original.

    Args:
        setting: the key of the data group that holds the file's fingerprint.
        names: arrays that the file has to hold.
        where: what to say if it is not there or holds something else: where to get it.
        option: of the command line.
    """

    def read(path: Path) -> bytes:
        check_regular(path, where, MOST_BYTES)
        content = path.read_bytes()
        if not zipfile.is_zipfile(io.BytesIO(content)):
            raise ValueError(f"{path} is not an .npz file; {where}")
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                missing = [name for name in names if name not in file.files or file[name].dtype.hasobject]
        except Exception as error:  # zip, zlib and NumPy have their own ways to say that a file is damaged
            raise ValueError(f"{path} cannot be read ({' '.join(str(error).split())}); {where}") from None
        if missing:
            raise ValueError(f"{path} has no array {missing[0]!r}; {where}")
        return content

    def prepare(path: Path, trials: Sequence[Trial], directory: Path) -> dict[Path, bytes]:
        return {file(directory, trials[0].settings): read(path)}

    def file(directory: Path, settings: Settings) -> Path:
        return directory / f"{setting}-{getattr(settings.data, setting)}.npz"

    return Source(
        option=option,
        placeholder="FILE",
        missing=f"the data are not given; expected {option} FILE; {where}",
        setting=setting,
        fingerprint=lambda path: hashlib.sha256(read(path)).hexdigest()[:16],
        prepare=prepare,
        file=file,
        holds=lambda path, trial: True,
    )


def load_arrays(path: Path | None) -> dict[str, Tensor]:
    """The arrays of a prepared file, as tensors."""
    if path is None:
        raise ValueError("no data were given; expected a prepared file of arrays")
    with np.load(path, allow_pickle=False) as file:
        arrays: dict[str, Any] = {name: torch.from_numpy(file[name]) for name in file.files}
    return arrays
