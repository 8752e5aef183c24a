"""Graphs, signals and targets as people have them: CSV, TSV, Parquet, GraphML, Matrix Market, NPZ and NPY."""

from shiftstate.tables.graphs import NamedGraph, read_graph
from shiftstate.tables.reading import Table, read_table

__all__ = ["NamedGraph", "Table", "read_graph", "read_table"]
