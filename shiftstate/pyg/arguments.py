"""Take the arguments of ``MessagePassing`` that a layer without messages can take: their defaults."""

from typing import Any, NamedTuple


class Only(NamedTuple):
    """The values of an argument that mean what the layers do, and what to do instead of another one."""

    values: tuple[Any, ...]
    instead: str = "there are no messages to change"


MESSAGE_PASSING = {
    "aggr": Only(("add", "sum", None), 'neighbours are added up; for their mean use normalize="row"'),
    "aggr_kwargs": Only((None, {})),
    "flow": Only(("source_to_target",), "for edges that point the other way use edge_index.flip(0), or adj_t.t()"),
    "node_dim": Only((-2,), "nodes are the second last axis of x"),
    "decomposed_layers": Only((1,)),
}


def without_message_passing(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments that are not MessagePassing's; one of these with another value than its default raises."""
    for name, (values, instead) in MESSAGE_PASSING.items():
        if name in given and not any(given[name] is value or given[name] == value for value in values):
            raise ValueError(
                f"{kind} was given {name}={given[name]!r}; expected {values[0]!r}, its only one: {instead}"
            )
    return {name: value for name, value in given.items() if name not in MESSAGE_PASSING}
