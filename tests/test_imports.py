"""Imports go one way. Read from the source, so a module that comes later is held to it too."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import shiftstate

ROOT = Path(shiftstate.__file__).parent

# A room may import itself and what stands before it on this line.
ORDER = (
    "errors",
    "checks",
    "arrays",
    "files",
    "limits",
    "json_file",
    "memory",
    "signatures",
    "model_file",
    "graphs",
    "filters",
    "layers",
    "readout",
    "network",
    "tasks",
    "training",
    "estimators",
    "machine",
    "studies",
    "commands",
    "cli",
    "train",
)
# Rooms beside the line, and all they may import.
BESIDE = {
    "pictures": set(),
    "places": set(),
    "texts": {"checks", "files", "limits", "pictures", "places"},
    "datasets": {"checks", "graphs", "texts"},
    "attribution": {*ORDER[: ORDER.index("studies")], "pictures", "texts"},  # it evaluates by the machine's engines
    "lens": {"checks", "places", "graphs", "filters", "layers"},
    "stability": {"lens"},
    "tables": {"checks", "files", "limits", "graphs"},
    "own_data": {*ORDER[: ORDER.index("studies")], "tables", "pictures", "lens"},  # the front: it runs on the machine
    "pyg": {"checks", "graphs", "filters", "layers"},
    "distributed": {
        "errors",
        "checks",
        "files",
        "json_file",
        "model_file",
        "graphs",
        "readout",
        "network",
        "tasks",
        "training",
        "tables",
    },
    "testing": {"checks", "graphs", "filters", "layers", "readout", "network"},
    "bench": {"checks", "graphs", "filters", "layers", "readout", "network", "tasks", "training", "pyg", "files"},
}
# What the rooms of the line may import from beside it.
TAKES = {
    "machine": {"lens", "pictures", "places", "texts"},
    "studies": {"datasets", "lens", "texts", "pictures"},
    "commands": {"datasets", "lens", "texts", "attribution", "bench", "own_data", "distributed", "tables"},
}


def room_of(module):
    """graphs for shiftstate.graphs.shift; empty for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def modules():
    for file in sorted(ROOT.rglob("*.py")):
        parts = ("shiftstate", *file.relative_to(ROOT).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield pytest.param(name, file, id=name)


def imported(name, file):
    """Every module of the package that a file imports, wherever in the file, relative imports resolved."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            # `from shiftstate import graphs` imports a room; `from shiftstate.graphs import Shift` a name of one.
            found = [f"{origin}.{alias.name}" for alias in node.names] if origin == "shiftstate" else [origin]
        else:
            continue
        yield from (module for module in found if module == "shiftstate" or module.startswith("shiftstate."))


def allowed(room):
    if room in BESIDE:
        return BESIDE[room] | {room}
    if room in ("", "__main__"):
        return {*ORDER, *BESIDE} - ({"machine", "studies", "commands", "cli"} if room == "" else set())
    return {*ORDER[: ORDER.index(room) + 1]} | TAKES.get(room, set())


@pytest.mark.parametrize(("name", "file"), list(modules()))
def test_a_module_imports_only_what_stands_before_it(name, file):
    room = room_of(name)
    assert room in {*ORDER, *BESIDE, "", "__main__"}, f"{room} has no place yet: give it one in {Path(__file__).name}"
    for module in imported(name, file):
        target = room_of(module)
        assert target, f"{name} imports the whole package: import the room that holds the name"
        assert target in allowed(room), f"{name} imports {module}: {room or 'the package'} comes before {target}"


def test_the_library_imports_neither_the_machine_nor_a_study():
    front = {"machine", "studies", "own_data", "attribution", "commands", "cli", "train", "__main__"}
    for name, file, *_ in (parameter.values for parameter in modules()):
        if room_of(name) not in front:
            assert not front & {room_of(module) for module in imported(name, file)}, name


def test_relative_and_local_imports_are_seen(tmp_path):
    file = tmp_path / "shift.py"
    file.write_text(
        "def f():\n    from ..layers import Layer\n    from shiftstate import network\n    import shiftstate.cli\n"
    )
    seen = set(imported("shiftstate.graphs.shift", file))
    assert seen == {"shiftstate.layers", "shiftstate.network", "shiftstate.cli"}


def test_the_rules_forbid_what_the_architecture_forbids():
    assert "layers" not in allowed("filters")
    assert "filters" not in allowed("datasets")
    assert "network" not in allowed("readout")
    assert "machine" not in allowed("training")
    assert "studies" not in allowed("machine")
    assert allowed("checks") == {"errors", "checks"}
    assert "studies" in allowed("commands")


def test_every_public_name_exists_and_is_documented():
    for name in shiftstate.__all__:
        assert getattr(shiftstate, name).__doc__, name


def loaded_by(code):
    """The modules that a fresh interpreter has loaded after this code."""
    program = f"{code}; import sys; print(chr(10).join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_or_its_commands_does_not_import_torch():
    heavy = {"torch", "numpy", "scipy", "numba", "matplotlib"}
    assert not heavy & loaded_by("import shiftstate")
    assert not heavy & loaded_by("import shiftstate.commands")


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_do_not_import_torch(option):
    code = f"import sys; sys.argv = ['shiftstate', {option!r}]; from shiftstate.cli import main; main()"
    assert "torch" not in loaded_by(code)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'shiftstate' has no attribute 'Nothing'"):
        shiftstate.Nothing  # noqa: B018
    assert {"Network", "lens", "__version__"} <= set(dir(shiftstate))
