"""A shift passes through torch.compile and torch.export."""

import pytest
import torch
from torch.utils import _pytree as pytree

import shiftstate as ss
from tests.example_graphs import EDGES, MATRIX, WEIGHT, example

LAYOUTS = ("dense", "sparse")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_shift_is_a_pytree_of_plain_tensors(layout):
    shift = ss.Shift.batch([example(), example()], layout=layout)
    leaves, spec = pytree.tree_flatten(shift)
    assert all(type(leaf) is torch.Tensor and leaf.layout == torch.strided for leaf in leaves)
    again = pytree.tree_unflatten(leaves, spec)
    assert torch.equal(again.to_dense(), shift.to_dense())
    assert (again.layout, again.num_graphs) == (layout, 2)
    doubled = pytree.tree_map(lambda leaf: 2 * leaf if leaf.is_floating_point() else leaf, shift)
    assert torch.equal(doubled.to_dense(), 2 * shift.to_dense())
    keys = [pytree.keystr(path) for path, _ in pytree.tree_flatten_with_path(shift)[0]]
    assert keys[-1] == ".ptr"
    assert len(set(keys)) == len(leaves)


def test_the_serialised_form_of_the_pytree_comes_back():
    spec = pytree.tree_flatten(example("sparse"))[1]
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec


class Product(torch.nn.Module):
    def forward(self, x, shift):
        return shift.T @ (shift @ x)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_shift_passes_through_compile_whole(layout):
    shift, x = example(layout), torch.randn(2, 6, 3, dtype=torch.float64)
    torch.compiler.reset()
    compiled = torch.compile(Product(), backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, shift), Product()(x, shift))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_exported_program_is_saved_loaded_and_run_on_another_graph(layout, tmp_path):
    shift, x = example(layout), torch.randn(2, 6, 3, dtype=torch.float64)
    torch.export.save(torch.export.export(Product(), (x, shift)), tmp_path / "program.pt2")
    program = torch.export.load(tmp_path / "program.pt2").module()
    other = shift.permuted([5, 4, 3, 2, 1, 0])
    torch.testing.assert_close(program(x, other), Product()(x, other))


def test_a_shift_is_built_inside_a_compiled_function():
    edges = torch.tensor(EDGES)

    def build_and_shift(weight, x):
        return ss.Shift.from_edges(edges, weight, num_nodes=6, layout="sparse") @ x

    weight, x = torch.tensor(WEIGHT, dtype=torch.float64), torch.randn(6, 2, dtype=torch.float64)
    torch.compiler.reset()
    compiled = torch.compile(build_and_shift, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(weight, x), torch.from_numpy(MATRIX) @ x)
