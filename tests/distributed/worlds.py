"""Worlds of real processes: started once per number of ranks, asked many times.

A job is a module-level function ``job(rank, count, *arguments)``, named by module and name; each process runs it, and
the answers come back in the order of the ranks.
"""

import importlib
import os
import socket
import traceback

import torch
import torch.multiprocessing as mp

TIMEOUT = 40


def _serve(rank, count, port, inbox, outbox):
    from datetime import timedelta

    import torch.distributed as dist

    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    dist.init_process_group("gloo", rank=rank, world_size=count, timeout=timedelta(seconds=TIMEOUT))
    for module, name, arguments in iter(inbox.get, None):
        try:
            job = getattr(importlib.import_module(module), name)
            outbox.put((True, job(rank, count, *arguments)))
        except Exception as error:
            outbox.put((False, (type(error).__name__, str(error), traceback.format_exc())))
    dist.destroy_process_group()


class World:
    """Some processes that found each other."""

    def __init__(self, count):
        context = mp.get_context("spawn")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.boxes = [(context.SimpleQueue(), context.SimpleQueue()) for _ in range(count)]
        self.processes = [
            context.Process(target=_serve, args=(rank, count, port, *boxes), daemon=True)
            for rank, boxes in enumerate(self.boxes)
        ]
        for process in self.processes:
            process.start()

    def answers(self, job, *arguments):
        """(whether it went well, the answer or (kind, message, traceback)) of each process."""
        for inbox, _ in self.boxes:
            inbox.put((job.__module__, job.__name__, arguments))
        return [outbox.get() for _, outbox in self.boxes]

    def run(self, job, *arguments):
        """The answer of each process; an error in one of them is an error here."""
        answers = self.answers(job, *arguments)
        if not all(fine for fine, _ in answers):
            forget(self)  # its exchanges may be out of step
        for rank, (fine, answer) in enumerate(answers):
            assert fine, f"rank {rank}: {answer[2]}"
        return [answer for _, answer in answers]

    def failures(self, job, *arguments):
        """(kind, message) of each process; all of them have to fail."""
        answers = self.answers(job, *arguments)
        assert not any(fine for fine, _ in answers), answers
        return [answer[:2] for _, answer in answers]

    def close(self):
        for inbox, _ in self.boxes:
            inbox.put(None)
        for process in self.processes:
            process.join(2)
            process.kill()


_worlds = {}


def world(count):
    """The world of so many processes; started when it is asked for first."""
    if count not in _worlds:
        _worlds[count] = World(count)
    return _worlds[count]


def forget(broken):
    """The next test gets a new world in place of a broken one."""
    for count, one in list(_worlds.items()):
        if one is broken:
            del _worlds[count]
    broken.close()


def close_all():
    while _worlds:
        _worlds.popitem()[1].close()
