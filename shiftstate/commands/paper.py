"""`shiftstate reproduce` and `shiftstate readings`: the paper's experiments, and how far each reading is from it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shiftstate.machine.presets import Preset


def add_to(app: typer.Typer) -> None:
    """Make the command known."""
    app.command()(reproduce)
    app.command()(readings)


def reproduce(
    experiment: Annotated[str, typer.Argument(help="figure1, table1, table2, figure2, stability or all")],
    out: Annotated[Path, typer.Option(help="directory of the results; an earlier run in it is continued")],
    preset: Annotated[str, typer.Option(help="how to read the paper; docs/experiments.md lists them")] = "quick",
    workers: Annotated[int | None, typer.Option(help="processes; as many as cores by default")] = None,
    engine: Annotated[str, typer.Option(help="local, or dask")] = "local",
    scheduler: Annotated[str | None, typer.Option(help="address of a Dask scheduler")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of settings, over the preset's")] = None,
    set: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="one setting, over all others")] = None,
    texts: Annotated[Path | None, typer.Option(help="folder of the texts: author/*.txt or Author_Title.txt")] = None,
    author: Annotated[str, typer.Option(help="whose network figure2 draws")] = "stevenson",
) -> None:
    """Run an experiment of the paper, or go on with it, and say which of its claims hold."""
    from shiftstate.checks import check_name
    from shiftstate.commands.running import run_and_tell
    from shiftstate.machine.running.engines import check_devices, make_engine
    from shiftstate.studies.paper import STUDY, load_preset
    from shiftstate.studies.paper.stability import write as write_stability
    from shiftstate.texts.network_files import reproduce_figure2

    check_name("experiment", experiment, [*STUDY.names, "figure2", "stability", "all"])
    settings = load_preset(preset, config, set or ())
    pool = make_engine(engine, workers, scheduler)
    names = _planned(experiment, settings, texts)
    if engine == "local":
        check_devices(one for name in names for one in settings.trials(name))
    if experiment in ("stability", "all"):
        print(f"The paper's Section 2.1: {', '.join(map(str, write_stability(out)))}")
    if experiment == "figure2" or (experiment == "all" and texts is not None):
        print(f"The network of {author}: {', '.join(map(str, reproduce_figure2(texts, author, out)))}")
    if not names:
        return
    run_and_tell(names, settings, out, pool, texts)


def readings(
    directory: Annotated[list[Path], typer.Argument(metavar="DIR...", help="directories of results, one per reading")],
    out: Annotated[Path | None, typer.Option(help="file for the table, as Markdown")] = None,
) -> None:
    """Compare readings of the paper: how many of its claims hold, and how far its published numbers are."""
    from shiftstate.files import check_output, write_whole
    from shiftstate.studies.paper.which_reading import as_markdown, standings

    if out is not None:
        check_output(out)
    table = as_markdown(standings(directory))
    if out is not None:
        write_whole(out, table)
    print(table, end="")


def _planned(experiment: str, settings: "Preset", texts: Path | None) -> list[str]:
    """The experiments that are trainings; of "all" those on texts are left out where there are none."""
    from shiftstate.texts.network_files import GET_TEXTS

    if experiment != "all":
        return [experiment] if experiment in settings.study.names else []
    names = list(settings.experiments)
    if texts is not None:
        return names
    left_out = [name for name in names if settings.study[name].source]
    if left_out == names:
        raise ValueError(f"preset {settings.name!r} has no experiment without texts; {GET_TEXTS}")
    print(f"{' and '.join(['figure2', *left_out])} left out: texts are needed; {GET_TEXTS}")
    return [name for name in names if name not in left_out]
