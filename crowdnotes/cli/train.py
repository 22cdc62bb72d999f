"""`crowdnotes train …`: fit the local judges, the jury and its raters again, and measure them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdnotes.cli.bench import is_health
from crowdnotes.cli.output import open_workspace, print_json, print_text, progress

if TYPE_CHECKING:
    from crowdnotes.studies.train.judges import TrainedHead

_OUT_HELP = "Where weights, figures and card go; by default assets/judges."


def helpfulness(
    data: Annotated[Path, typer.Option(help="HealthNotes: a note a line, with post, note and status.")],
    out: Annotated[Path | None, typer.Option(help=_OUT_HELP)] = None,
) -> None:
    """Fit the helpfulness head; measure it and simple rivals by nested cross-validation and by time. Prints JSON.

    It takes some minutes.
    """
    from crowdnotes.engines.local.trained_models import HELPFULNESS, JUDGES
    from crowdnotes.studies.data_files import made_folder, read_health_notes
    from crowdnotes.studies.train.judges import train_helpfulness

    notes = read_health_notes(data)
    folder = made_folder(out or JUDGES)
    with open_workspace() as workspace:
        trained = train_helpfulness(notes, workspace.embedder, lambda line: progress(f"  {line}"))
    _write_trained_head(trained, "helpfulness", [note.note_id for note in notes], folder, HELPFULNESS)


def _write_trained_head(trained: TrainedHead, judge: str, note_ids: Iterable[str], folder: Path, *weights: str) -> None:
    """Write the head, the first of the weights' names, and its measures into the folder, and print them."""
    from crowdnotes.studies.data_files import pin, write_held_out

    trained.head.save(folder / weights[0])
    write_held_out(folder, judge, note_ids, trained.probabilities, trained.labels)
    pin(folder, judge, trained.figures, weights)
    print_json(trained.figures)


def principles(
    data: Annotated[Path, typer.Option(help="Camp notes, Parquet, with kind and content_label.")],
    out: Annotated[Path | None, typer.Option(help=_OUT_HELP)] = None,
) -> None:
    """Fit the opinion head to notes both camps approve, and measure it on the newest fifth. Prints JSON."""
    from crowdnotes.engines.local.trained_models import JUDGES, OPINION
    from crowdnotes.studies.data_files import labelled_bridging, made_folder, read_camp_notes
    from crowdnotes.studies.train.judges import train_opinion

    notes = labelled_bridging(read_camp_notes(data))
    folder = made_folder(out or JUDGES)
    with open_workspace() as workspace:
        trained = train_opinion(notes, workspace.embedder, lambda line: progress(f"  {line}"))
    _write_trained_head(trained, "principles", map(str, notes["note_id"]), folder, OPINION)


def jury(
    data: Annotated[
        Path,
        typer.Option(help="A camp Parquet file, HealthNotes (.jsonl), or X's public data."),
    ],
    out: Annotated[Path, typer.Option(help="A folder for the model and its figures.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Train the jury's model, measure it on newer notes than it learned from, and write both down.

    A folder of public data (notes, ratings and, if you have them, posts) is split chronologically 80/10/10
    with rater parameters from the past alone. HealthNotes train the head that judges whether X shows a note; it
    goes into OUT/model, as a camp model does. Use that by CROWDNOTES_JURY_MODEL=OUT/model.
    """
    from crowdnotes.engines.embedding import make_embedder
    from crowdnotes.jury import shipped_pool
    from crowdnotes.settings import load_settings

    settings = load_settings()
    embedder = make_embedder(settings)
    if data.is_dir():
        from crowdnotes.bridging.thresholds import THRESHOLDS
        from crowdnotes.studies.train.jury_ratings import run_public_training

        measured = run_public_training(data, out, embedder, THRESHOLDS, progress)
    elif is_health(data):
        from crowdnotes.studies.data_files import read_health_notes
        from crowdnotes.studies.train.jury import train_shown, write_shown

        notes = read_health_notes(data)
        trained = train_shown(notes, embedder, progress)
        write_shown(trained, notes, out / "model")
        measured = trained.figures
    else:
        from crowdnotes.studies.train.jury import run_camp_training

        measured = run_camp_training(data, out, embedder, shipped_pool(), progress).figures
    if as_json:
        print_json(measured)
        return
    for name, value in measured.items():
        print_text(f"{name}: {value}")


def raters(
    data: Annotated[Path, typer.Option(help="A Parquet file with the columns rater_intercept and rater_factor.")],
    out: Annotated[Path, typer.Option(help="The JSON file to write (shipped: assets/jury/raters.json).")],
    source: Annotated[str, typer.Option(help="Origin and licence, kept in the file.")],
) -> None:
    """Fit the pool that jurors are drawn from: a mixture with as many parts as held-out raters like best."""
    from crowdnotes.studies.train.jury import fit_pool

    content = fit_pool(data, out, source)
    print_json({"raters": content["raters"], "parts": len(content["weights"]), "quantiles": content["quantiles"]})
