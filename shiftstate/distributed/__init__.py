"""One graph over many processes: `partition` cuts it, `load` gives each process its part as a shift.

ss.distributed.partition(shift, "parts", parts=4)      # once, in one process

torch.distributed.init_process_group("gloo")           # in every process that torchrun starts
shift = ss.distributed.load("parts")
y = layer(shift.take(x), shift)                        # the rows of this process
"""

from shiftstate.distributed.failures import RankError
from shiftstate.distributed.loading import load
from shiftstate.distributed.parts.folder import Manifest
from shiftstate.distributed.parts.write import partition
from shiftstate.distributed.shift import PartitionedShift

__all__ = ["Manifest", "PartitionedShift", "RankError", "load", "partition"]
