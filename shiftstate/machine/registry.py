"""Studies by name or by path. The machine knows the room of the package's studies by its name, and none of them."""

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from shiftstate.checks import check_name
from shiftstate.machine.study import Study

ROOM = "shiftstate.studies"
"""Has ``STUDIES``: the names of the package's studies, with the module and the experiments of each."""


def find_study(reference: str) -> Study:
    """A study of the package by its name, or one of a user's by the path of its Python file.

    A file defines ``STUDY``, and runs as any module does when it is imported; workers import it once more.
    """
    if reference.endswith(".py"):
        return _from_file(Path(reference).expanduser().resolve())
    known = importlib.import_module(ROOM).STUDIES
    check_name("study", reference, known)
    return _of(importlib.import_module(known[reference].module), "")


def study_with(experiments: Iterable[str]) -> Study | None:
    """The package's study that has these experiments, if there is one."""
    wanted = set(experiments)
    for name, entry in importlib.import_module(ROOM).STUDIES.items():
        if wanted <= set(entry.experiments):
            return find_study(name)
    return None


@cache
def _from_file(path: Path) -> Study:
    name = f"shiftstate_study_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ValueError(f"{path} is not there; expected a Python file that defines STUDY")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        message = " ".join(str(error).split())
        raise ValueError(f"{path} cannot be imported ({type(error).__name__}: {message})") from error
    return _of(module, str(path))


def _of(module: ModuleType, origin: str) -> Study:
    study: Any = getattr(module, "STUDY", None)
    if not isinstance(study, Study):
        raise ValueError(f"{module.__file__} defines no STUDY; expected a shiftstate.machine.Study of that name")
    return replace(study, origin=origin) if origin else study
