"""The form of a lens file: everything in it that the page reads, checked before the page is written.

`shiftstate.lens` writes these files and `docs/lens.md` describes them. A file in DIR/lens may come from anywhere, and
a page whose script fails halfway would be worse than none.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from shiftstate.lens.as_json import FILTER, GRAPH, ORDER
from shiftstate.machine.parsing import shown, typed

KIND = "shiftstate.lens"
FORMAT = 1
MOST = 2**31
"""Of counts, shifts and numbers of nodes."""

Table = Mapping[str, Any]


def check_lens(content: object) -> None:
    """Refuse what is no lens of this format, and say what is wrong with it."""
    lens = _is_table("it", content)
    if (lens.get("kind"), lens.get("format")) != (KIND, FORMAT):
        raise ValueError(f"kind {shown(lens.get('kind'))}, format {shown(lens.get('format'))}")
    for name in ("signals", "sample"):
        _whole(lens, name)
    nodes = _check_graph(_table(lens, GRAPH))
    layers = _list(lens, "layers")
    if not layers:
        raise ValueError("no layer")
    for layer in layers:
        _check_layer(_is_table("a layer", layer), nodes)
    told = lens.get("realization")
    if told is not None:
        _is_table("realization", told)


def _check_graph(graph: Table) -> int:
    """The number of nodes that are drawn."""
    nodes = _list(graph, "nodes")
    if not nodes:
        raise ValueError("no node")
    for node in nodes:
        _check_whole("a node", node)
    for name in ("x", "y"):
        if None in _numbers(graph, name, len(nodes)):
            raise ValueError(f"a node has no {name}")
    if graph.get("names") is not None:
        _texts(graph, "names", len(nodes))
    edges = _table(graph, "edges")
    for name in ("source", "target"):
        for end in _list(edges, name, len(_list(edges, "source"))):
            if _check_whole("an edge's end", end) >= len(nodes):
                raise ValueError(f"an edge's end is {shown(end)}; expected one of {len(nodes)} nodes")
    _whole(graph, "num_nodes")
    _whole(_table(graph, "left_out"), "nodes")
    _number(graph, "spectral_radius")
    return len(nodes)


def _check_layer(layer: Table, nodes: int) -> None:
    _text(layer, FILTER)
    shifts = _whole(layer, ORDER)
    if _list(layer, "k", shifts + 1) != list(range(shifts + 1)):
        raise ValueError(f"k is {shown(layer['k'])}; expected 0 … {shifts}")
    for name in ("states", "outputs", *_present(layer, "memories")):
        for part in ("norm", "low", "high", "dead", "saturated"):
            _numbers(_table(layer, name), part, shifts + 1)
    envelopes = _table(layer, "envelopes")
    for name in envelopes:
        _numbers(envelopes, name, *([shifts + 1] if envelopes[name] is not None else []))
    for gate in _tables(layer, "gates"):
        for part in ("mean", "low", "high"):
            _numbers(gate, part, shifts)
    _check_gradients(_table(layer, "gradients"), shifts)
    for _ in _present(layer, "reach"):
        hops = len(_list(_table(layer, "reach"), "hops"))
        for part in ("hops", "rms", "error"):
            _numbers(layer["reach"], part, hops)
    for _ in _present(layer, "response"):
        _check_response(_table(layer, "response"))
    _check_sample(_table(layer, "sample"), shifts, nodes)
    verdict = _table(layer, "verdict")
    for name in ("word", "sentence"):
        _text(verdict, name)
    for name in ("notes", "advice"):
        _texts(verdict, name)


def _check_gradients(gradients: Table, shifts: int) -> None:
    for name in ("states", "outputs"):
        _numbers(gradients, name, shifts + 1)
    for name in _present(gradients, "memories"):
        _numbers(gradients, name, shifts)
    for one in _tables(gradients, "parameters"):
        _whole(one, "first_k")
        _numbers(one, "norm", len(_list(one, "norm")))


def _check_response(response: Table) -> None:
    pairs, grid = _list(response, "pairs"), _list(response, "grid")
    _numbers(response, "pairs", len(pairs), 2)
    _numbers(response, "grid", len(grid))
    _numbers(response, "on_grid", len(pairs), len(grid))
    eigenvalues, values = response.get("eigenvalues"), response.get("at_eigenvalues")
    if isinstance(eigenvalues, list) and isinstance(values, list):  # complex ones are tables, and are not drawn
        _numbers(response, "eigenvalues", len(eigenvalues))
        _numbers(response, "at_eigenvalues", len(pairs), len(eigenvalues))


def _check_sample(sample: Table, shifts: int, nodes: int) -> None:
    channels = len(_list(sample, "channels"))
    if not channels:
        raise ValueError("no channel")
    _texts(sample, "channels")
    for name in ("states", "outputs", *_present(sample, "memories")):
        _numbers(sample, name, shifts + 1, channels, nodes)
    gates = _table(sample, "gates")
    for name in gates:
        _numbers(gates, name, shifts, channels, nodes)


def _present(table: Table, name: str) -> Iterator[str]:
    """The name, if its value is there."""
    if table.get(name) is not None:
        yield name


def _is_table(name: str, value: object) -> Table:
    if not isinstance(value, dict):
        raise ValueError(f"{name} is {shown(value)}; expected a table")
    return value


def _table(table: Table, name: str) -> Table:
    return _is_table(name, table.get(name))


def _tables(table: Table, name: str) -> list[Table]:
    return [_is_table(f"{name}.{key}", value) for key, value in _table(table, name).items()]


def _list(table: Table, name: str, length: int | None = None) -> list[Any]:
    value = table.get(name)
    if not isinstance(value, list) or length not in (None, len(value)):
        wanted = "" if length is None else f" of {length}"
        raise ValueError(f"{name} is {shown(value)}; expected a list{wanted}")
    return value


def _whole(table: Table, name: str) -> int:
    return _check_whole(name, table.get(name))


def _check_whole(name: str, value: object) -> int:
    if type(value) is not int or not 0 <= value <= MOST:
        raise ValueError(f"{name} is {shown(value)}; expected a whole number from 0 to {MOST}")
    return value


def _text(table: Table, name: str) -> None:
    typed(name, table.get(name), str)


def _texts(table: Table, name: str, length: int | None = None) -> None:
    for one in _list(table, name, length):
        typed(f"one of {name}", one, str)


def _number(table: Table, name: str) -> None:
    _check_numbers(name, table.get(name), ())


def _numbers(table: Table, name: str, *shape: int) -> Any:
    """Nested lists of this shape, of numbers or of nothing where a number was not finite."""
    _check_numbers(name, table.get(name), shape)
    return table.get(name)


def _check_numbers(name: str, value: object, shape: tuple[int, ...]) -> None:
    if not shape:
        if value is not None and type(value) not in (int, float):
            raise ValueError(f"{name} holds {shown(value)}; expected numbers")
        return
    if not isinstance(value, list) or len(value) != shape[0]:
        raise ValueError(f"{name} is {shown(value)}; expected {' × '.join(map(str, shape))} numbers")
    for part in value:
        _check_numbers(name, part, shape[1:])
