"""One graph over many processes: `partition` cuts it, `load` gives each process its part as a shift.

ss.distributed.partition(shift, "parts", parts=4)      # once, in one process

torch.distributed.init_process_group("gloo")           # in every process that torchrun starts
shift = ss.distributed.load("parts")
y = layer(shift.take(x), shift)                        # the rows of this process
"""

from shiftstate.distributed.batch_norm import BatchNorm
from shiftstate.distributed.failures import RankError
from shiftstate.distributed.loading import load
from shiftstate.distributed.parts.folder import Manifest
from shiftstate.distributed.parts.write import partition
from shiftstate.distributed.rows import read_rows
from shiftstate.distributed.shift import PartitionedShift
from shiftstate.distributed.world import world

__all__ = ["BatchNorm", "Manifest", "PartitionedShift", "RankError", "load", "partition", "read_rows", "world"]
