"""Change single operators at random and see whether the room's own tests notice: `make test-mutants`.

The changes are cosmic-ray's. It would start Python anew for each of them, which takes longer than the tests. Here a
process per room imports and collects once, then forks for each change, replaces the changed function and runs the tests
that enter it. Changes outside of functions, and in kernels, are imported anew and judged by the whole room.

    python tests/mutants.py [--number 600] [--seed 0] [--rooms graphs lens]

Every change becomes a line of runs/mutants.jsonl. A second run judges again what survived and what is new.
"""

import argparse
import ast
import gc
import hashlib
import importlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.provider import OperatorProvider

ROOT = Path(__file__).parents[1]
ROOMS = {
    "graphs": "shiftstate/graphs: tests/graphs",
    "filters": "shiftstate/filters/*.py shiftstate/filters/fused/*.py: tests/filters",
    "kernels": "shiftstate/filters/fused/*/: tests/filters/fused/test_against_reference.py tests/filters/fused/cells "
    "tests/filters/fused/products tests/filters/fused/memory tests/filters/fused/compiling/test_precision.py",
    "layers": "shiftstate/layers: tests/layers tests/test_contract.py",
    "network": "shiftstate/network.py shiftstate/readout.py: tests/test_network.py tests/test_readout.py",
    "tasks": "shiftstate/tasks: tests/tasks",
    "training": "shiftstate/training: tests/training",
    "estimators": "shiftstate/estimators: tests/estimators",
    "lens": "shiftstate/lens: tests/lens",
    "pyg": "shiftstate/pyg: tests/pyg",
    "distributed": "shiftstate/distributed: tests/distributed",
    "tables": "shiftstate/tables: tests/tables",
    "own_data": "shiftstate/own_data: tests/own_data",
    "files": "shiftstate/model_file.py shiftstate/files.py shiftstate/checks.py: "
    "tests/test_files.py tests/test_checks.py tests/test_network.py",
}
"""Room: what is changed: the tests that judge it."""
OPERATORS = re.compile(
    r"ReplaceBinaryOperator_(Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Mul|Mod_FloorDiv|Pow_Mul|BitAnd_BitOr|BitOr_BitAnd)"
    r"|ReplaceComparisonOperator_(Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt|Lt_GtE|Gt_LtE|LtE_Gt|GtE_Lt|Eq_NotEq|NotEq_Eq|Is_IsNot|IsNot_Is)"
    r"|ReplaceUnaryOperator_(Delete_USub|Delete_Invert|Delete_Not)|AddNot|ReplaceTrueWithFalse|ReplaceFalseWithTrue"
    r"|ReplaceAndWithOr|ReplaceOrWithAnd|ReplaceBreakWithContinue|ReplaceContinueWithBreak|ExceptionReplacer"
    r"|NumberReplacer|ZeroIterationForLoop"
)
"""Changes that a slip of the pen could make. Others, like % for + between floats, fail at once and prove nothing."""
HEAVY = "torch torch.distributed torch_geometric numba scipy.sparse.linalg sklearn.linear_model matplotlib.pyplot "
HEAVY += "pyarrow.parquet typer rich.table networkx pymetis plotly onnxruntime"
RESULTS = Path(os.environ.get("MUTANTS", ROOT / "runs" / "mutants.jsonl"))
ONLY: list[str] = []
"""Tests that judge instead of the room's."""
TRACED = "traced"
"""Marks a test in which torch.compile or torch.export reads functions instead of entering them."""
SCREEN = os.fdopen(os.dup(1), "w", buffering=1)


@dataclass
class Mutant:
    """One change, and what became of it."""

    room: str
    path: str
    line: int
    operator: str
    occurrence: int
    before: str
    after: str = ""
    outcome: str = ""
    by: str = ""
    seconds: float = 0.0

    @property
    def key(self) -> str:
        """The same change, wherever its line has moved."""
        return f"{self.path}: {self.before} -> {self.after}"

    def write(self, source: str) -> str:
        """The module with the change."""
        return str(mutate_code(source, OperatorProvider()[self.operator](), self.occurrence))


def files_of(room: str) -> list[Path]:
    """The modules of a room."""
    found: list[Path] = []
    for pattern in ROOMS[room].split(": ")[0].split():
        for path in ROOT.glob(pattern.rstrip("/")):
            found += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return found


def is_judged(node: Any, operator: str) -> bool:
    """Whether tests can judge a place: no type, no star in a list of arguments, no zip(strict=True)."""
    if (
        node.parent is not None
        and node.parent.type == "argument"
        and node.parent.children[0].get_code(False) == "strict"
    ):
        return False
    if operator.startswith("ReplaceBinary") and not node.parent.type.endswith(("expr", "term", "power")):
        return False
    while node.parent is not None:
        child, node = node, node.parent
        if node.type in ("annassign", "tfpdef") and child is node.children[-1 if node.type == "tfpdef" else 1]:
            return False
        if node.type == "funcdef" and child is node.annotation:
            return False
    return True


def mutants_of(room: str, path: Path) -> Iterator[Mutant]:
    """Every place of a module that the operators would change."""
    source = path.read_text()
    lines, nodes, operators = source.split("\n"), list(ast_nodes(get_ast(source))), OperatorProvider()
    for name in filter(OPERATORS.fullmatch, operators):
        operator = operators[name]()
        places = [(node, start[0]) for node in nodes for start, _ in operator.mutation_positions(node)]
        for occurrence, (node, line) in enumerate(places):
            if is_judged(node, name):
                yield Mutant(room, str(path.relative_to(ROOT)), line, name, occurrence, lines[line - 1].strip())


def drawn_from(room: str, number: int, seed: int) -> list[Mutant]:
    """Draw changes of a room. The draw goes by the lines' text, so that edits elsewhere leave it as it is."""
    every = [mutant for path in files_of(room) for mutant in mutants_of(room, path)]
    alike = Counter[str]()

    def draw(mutant: Mutant) -> bytes:
        text = f"{seed} {mutant.path} {mutant.operator} {mutant.before}"
        alike[text] += 1
        return hashlib.sha256(f"{text} {alike[text]}".encode()).digest()

    every.sort(key=draw)
    drawn: dict[str, Mutant] = {}
    for mutant in every:
        source = (ROOT / mutant.path).read_text()
        changed = mutant.write(source)
        pairs = zip(source.split("\n"), changed.split("\n"), strict=False)
        mutant.after = next((new.strip() for old, new in pairs if old != new), mutant.before)
        try:
            if ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source)) and len(drawn) < number:
                drawn[mutant.key] = mutant
        except SyntaxError:
            continue
        if len(drawn) == number:
            break
    return list(drawn.values())


def sample(number: int, seed: int, rooms: list[str]) -> list[Mutant]:
    """Draw changes, from each room in proportion to its lines."""
    sizes = {room: sum(len(path.read_text().splitlines()) for path in files_of(room)) for room in ROOMS}
    sizes["kernels"] //= 4  # each change means a minute of compiling
    quota = {room: round(number * sizes[room] / sum(sizes.values())) for room in rooms}
    return [mutant for room in rooms for mutant in drawn_from(room, quota[room], seed)]


def span(source: str, line: int) -> range:
    """The lines of the function that holds a line; none outside of functions."""
    for node in ast.walk(ast.parse(source)):  # breadth first: the outermost function
        if isinstance(node, ast.FunctionDef) and node.body[0].lineno <= line <= (node.end_lineno or 0):
            return range(min([node.lineno, *(each.lineno for each in node.decorator_list)]), (node.end_lineno or 0) + 1)
    return range(0)


def replace(path: Path, first: int) -> None:
    """Give a function that is already imported the code that stands in its file now."""

    def inside(code: CodeType) -> Iterator[CodeType]:
        yield code
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from inside(constant)

    [new] = [
        c
        for c in inside(compile(path.read_text(), str(path), "exec"))
        if c.co_firstlineno == first and c.co_name[0] != "<"
    ]
    functions = [each for each in gc.get_objects() if type(each) is FunctionType]
    old = [f for f in functions if f.__code__.co_filename == str(path) and f.__code__.co_firstlineno == first]
    imported = any(getattr(module, "__file__", None) == str(path) for module in [*sys.modules.values()])
    assert bool(old) == imported, f"{path}:{first} was not found"  # what is not imported yet is read as it stands now
    for function in old:
        if function.__code__.co_name == new.co_name:
            function.__code__ = new


def forked(work: Callable[[], Any], limit: float) -> tuple[Any, int | None]:
    """Run in a process of its own: what it returned, and the signal that ended it (None: ended by itself, 9: by us)."""
    with tempfile.NamedTemporaryFile("r") as answer:
        child = os.fork()
        if child == 0:
            os.setsid()
            try:
                Path(answer.name).write_text(json.dumps(work()))
            except BaseException as error:
                Path(answer.name).write_text(json.dumps({"error": repr(error)}))
            finally:
                os._exit(0)
        end = time.monotonic() + limit
        while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < end:
            time.sleep(0.02)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # also what the tests may have started and left
        status = ended[1] if ended[0] else os.waitpid(child, 0)[1]
        text = answer.read()
        return json.loads(text) if text else None, os.WTERMSIG(status) if os.WIFSIGNALED(status) else None


def judge(mutant: Mutant, copy: Path, limit: float, work: Callable[[], list[str]]) -> None:
    """Write the change into the copy, let tests work on it in a fork, put the file back."""
    path, began = copy / mutant.path, time.monotonic()
    source, stamp = path.read_text(), path.stat()
    path.write_text(mutant.write(source))
    os.utime(path, (stamp.st_atime, stamp.st_mtime + mutant.occurrence + 1))  # bytecode goes by the second and the size
    try:
        answer, ended = forked(work, limit)
    finally:
        path.write_text(source)
        os.utime(path, (stamp.st_atime, stamp.st_mtime))
    mutant.seconds = round(time.monotonic() - began, 1)
    mutant.outcome = "unfinished" if ended == signal.SIGKILL else "survived" if answer == [] else "noticed"
    mutant.by = {signal.SIGALRM: "a loop", None: " ".join(answer or [])}.get(ended, f"signal {ended}")
    if isinstance(answer, dict):
        mutant.outcome, mutant.by = "unjudged", answer["error"]
    print(
        f"{mutant.outcome} in {mutant.seconds} s: {mutant.path}:{mutant.line} {mutant.after} ({mutant.by})", file=SCREEN
    )
    with RESULTS.open("a") as file:
        print(json.dumps(asdict(mutant)), file=file)


class Room:
    """A plugin of pytest: sees what each test enters, and judges every change by the tests that enter it."""

    def __init__(self, copy: Path, seconds: dict[str, float]) -> None:
        self.copy, self.seconds = copy, Counter(seconds)
        self.failed: list[str] = []
        self.error = ""
        self.codes: dict[int, CodeType] = {}
        self.entered: dict[str, set[tuple[str, int]]] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add up set-up, call and tear-down; keep the name of a test that fails."""
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed.append(report.nodeid)
            self.error = report.longreprtext

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        """What fixtures enter, all tests of the file depend on."""
        self.entered.setdefault(str(item.path), set()).update(self.places())

    def pytest_internalerror(self, excrepr: Any) -> None:
        """Keep what went wrong outside of the tests."""
        self.error = str(excrepr)

    def places(self) -> set[tuple[str, int]]:
        """The package's functions among those that were entered."""
        found = {(code.co_filename, code.co_firstlineno) for code in list(self.codes.values())}
        traced = {(TRACED, 0) for file, _ in found if file.endswith("torch/_dynamo/symbolic_convert.py")}
        return traced | {(file, line) for file, line in found if file.startswith(f"{self.copy}/shiftstate/")}

    def run(self, items: list[Any], each: Callable[[Any], None]) -> list[str]:
        """Run tests up to the first failure."""
        for item, following in zip(items, [*items[1:], None], strict=False):
            each(item)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                break
        return self.failed

    def run_cheapest_first(self, items: list[Any], patience: float) -> list[str]:
        """Run tests, a file at a time for its fixtures' sake; one that takes ten times as long ends the process."""
        before, files = dict(self.seconds), Counter[Path]()
        for item in items:
            files[item.path] += before[item.nodeid]
        items = sorted(items, key=lambda item: (files[item.path], str(item.path), before[item.nodeid]))
        return self.run(items, lambda i: signal.setitimer(signal.ITIMER_REAL, patience + 10 * before[i.nodeid]))

    def watch(self, items: list[Any]) -> None:
        """Run all tests unchanged, in a fork: how long each takes, and what it enters."""

        def enter(frame: Any, event: str, argument: Any) -> None:
            self.codes[id(frame.f_code)] = frame.f_code

        def each(item: Any) -> None:
            sys.settrace(None)
            self.codes = {}
            sys.settrace(enter)

        def work() -> Any:
            self.run(items, each)
            return self.error, self.seconds, {test: list(places) for test, places in self.entered.items()}

        answer, _ = forked(work, 3600)
        if not isinstance(answer, list) or answer[0]:
            raise RuntimeError(f"the tests fail without any change: {answer[0]}")
        self.seconds.update(answer[1])
        self.entered = {test: {(file, line) for file, line in places} for test, places in answer[2].items()}

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: Any) -> None:
        """Keep what the test entered."""
        self.entered[item.nodeid] = self.places()


class Server(Room):
    """Collects once, then judges one change after the other."""

    def __init__(self, copy: Path, mutants: list[Mutant], limit: float) -> None:
        super().__init__(copy, {})
        self.mutants, self.limit = mutants, limit

    def pytest_runtestloop(self, session: Any) -> bool:
        """Instead of running the tests once: run some of them for each change."""
        self.watch(session.items)
        for mutant in self.mutants:
            path = self.copy / mutant.path
            lines = span(path.read_text(), mutant.line)
            here = {(str(path), line) for line in lines}
            tests = [i for i in session.items if here & (self.entered[i.nodeid] | self.entered[str(i.path)])]
            traced = [i for i in session.items if i not in tests and (TRACED, 0) in self.entered[i.nodeid]]

            def work(
                path: Path = path,
                first: int = lines[0] if lines else 0,
                tests: list[Any] = tests,
                traced: list[Any] = traced,
            ) -> list[str]:
                replace(path, first)
                return self.run_cheapest_first(tests, patience=20) or self.run_cheapest_first(traced, patience=60)

            if tests:
                judge(mutant, self.copy, self.limit, work)
        return True


class Anew(Room):
    """Imports the change and runs all tests: for changes outside of functions, in kernels, and in other processes."""

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run every test, cheapest first."""
        self.run_cheapest_first(session.items, patience=120)
        return True


def run_pytest(copy: Path, room: str, plugin: Room, cache: str | None = None) -> Room:
    """Run a room's tests inside the copy, in this process."""
    os.chdir(copy)
    sys.path.insert(0, str(copy))
    os.environ["PYTHONPATH"] = str(copy)
    if cache:  # of a changed kernel's own: it must not replace what is compiled from the unchanged ones
        os.environ["NUMBA_CACHE_DIR"] = importlib.import_module("numba").config.CACHE_DIR = cache
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    tests = ONLY or ROOMS[room].split(": ")[1].split()
    options = ["-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist"]
    options += ["--ignore-glob=*/test_processors.py"]  # runs other tests once more, as other processors would
    code = pytest.main([*options, *tests], plugins=[plugin])
    if code == pytest.ExitCode.INTERRUPTED:  # the changed module cannot be imported
        plugin.failed.append("collection")
    elif code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"{room}: pytest ended with {code!r} {plugin.error}")
    return plugin


def judge_room(copy: Path, room: str, mutants: list[Mutant], limit: float) -> None:
    """Judge the changes of one room: most in a server of its own, the rest imported anew."""
    done = RESULTS.stat().st_size if RESULTS.exists() else 0
    answer, _ = forked(lambda: run_pytest(copy, room, Server(copy, mutants, limit)).seconds, 1e6)
    if not answer or "error" in answer:
        raise RuntimeError(f"{room}: {answer}")
    with RESULTS.open() as file:
        file.seek(done)
        judged = {mutant.key: mutant for mutant in map(read, file)}
    for mutant in mutants:
        vars(mutant).update(vars(judged.get(mutant.key, mutant)))
        compiled = "/fused/" in mutant.path
        elsewhere = compiled or room == "distributed"  # code that the server does not replace: compiled, or in workers
        if mutant.key not in judged or (elsewhere and mutant.outcome != "noticed"):
            with tempfile.TemporaryDirectory() as folder:
                cache = folder if compiled else None
                judge(mutant, copy, limit, lambda c=cache: run_pytest(copy, room, Anew(copy, answer), c).failed)


def read(line: str) -> Mutant:
    """A line of the file of results."""
    return Mutant(**json.loads(line))


def table(mutants: list[Mutant], equal: set[str]) -> Iterator[str]:
    """The figures per room, as Markdown."""
    yield "| room | changes | noticed | equal by nature | survived | noticed of those not equal |"
    yield "|---|--:|--:|--:|--:|--:|"
    for room in [*dict.fromkeys(m.room for m in mutants), "all"]:
        those = [m for m in mutants if room in (m.room, "all")]
        noticed = sum(m.outcome == "noticed" for m in those)
        same = sum(m.outcome != "noticed" and m.key in equal for m in those)
        share = noticed / max(len(those) - same, 1)
        yield f"| {room} | {len(those)} | {noticed} | {same} | {len(those) - noticed - same} | {share:.0%} |"


def main() -> None:
    """Draw, judge, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rooms", nargs="*", default=list(ROOMS))
    parser.add_argument("--limit", type=float, default=300, help="seconds for a change; what takes longer has survived")
    parser.add_argument("--tests", nargs="*", default=[], help="judge by these alone: what they notice is noticed")
    asked = parser.parse_args()
    ONLY.extend(asked.tests)
    RESULTS.parent.mkdir(exist_ok=True)
    equal = {each["change"] for each in tomllib.loads((ROOT / "tests/mutants_equal.toml").read_text())["equal"]}
    known = {mutant.key: mutant for mutant in map(read, RESULTS.read_text().splitlines() if RESULTS.exists() else [])}
    drawn = sample(asked.number, asked.seed, asked.rooms)
    for name in HEAVY.split():
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "runs", "site", ".*_cache"))
        for mutant in drawn:
            old = known.get(mutant.key, mutant)
            mutant.outcome, mutant.by, mutant.seconds = old.outcome, old.by, old.seconds
        for room in asked.rooms:
            todo = [m for m in drawn if m.room == room and m.outcome != "noticed" and m.key not in equal]
            if todo:
                judge_room(copy, room, todo, asked.limit)
    print(*table(drawn, equal), sep="\n")


if __name__ == "__main__":
    main()
