"""`shiftstate study`: any study, of the package or of a user's own file."""

from pathlib import Path
from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    """Make the command known."""
    app.command()(study)


def study(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE.py", help="a study of the package, or a file with STUDY")],
    out: Annotated[Path, typer.Option(help="directory of the results; an earlier run in it is continued")],
    data: Annotated[Path | None, typer.Option(help="the data, for a study whose data are given by path")] = None,
    preset: Annotated[str | None, typer.Option(help="one of the study's; its first by default")] = None,
    workers: Annotated[int | None, typer.Option(help="processes; as many as cores by default")] = None,
    engine: Annotated[str, typer.Option(help="local, or dask")] = "local",
    scheduler: Annotated[str | None, typer.Option(help="address of a Dask scheduler")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of settings, over the preset's")] = None,
    set: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="one setting, over all others")] = None,
) -> None:
    """Run a study, or go on with it, and say which of its claims hold."""
    from shiftstate.commands.running import run_and_tell
    from shiftstate.machine.presets import load_preset
    from shiftstate.machine.registry import find_study
    from shiftstate.machine.running.engines import check_devices, make_engine

    found = find_study(name)
    settings = load_preset(found, preset or next(iter(found.presets)), config, set or ())
    pool = make_engine(engine, workers, scheduler)
    if engine == "local":
        check_devices(one for experiment in settings.experiments for one in settings.trials(experiment))
    run_and_tell(settings.experiments, settings, out, pool, data)
