"""Graphs, signals and targets as people have them: CSV, TSV, Parquet, GraphML, Matrix Market, NPZ and NPY."""

from shiftstate.tables.graphs import NamedGraph, read_graph
from shiftstate.tables.matrices import MATRICES, read_matrix
from shiftstate.tables.reading import read_blocks, read_table
from shiftstate.tables.table import Table

__all__ = ["MATRICES", "NamedGraph", "Table", "read_blocks", "read_graph", "read_matrix", "read_table"]
