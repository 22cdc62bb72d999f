"""`crowdnotes train helpfulness` and `train principles`: fit the local judges again, and measure them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crowdnotes.cli.output import print_json, progress

_OUT = "Where weights, figures and card go; the program's own assets/judges without it."


def helpfulness(
    data: Annotated[Path, typer.Option(help="HealthNotes: a line a note, with post, note and status.")],
    camp: Annotated[
        Path | None, typer.Option(help="Camp notes, Parquet: trains the readings again, with --pilot.")
    ] = None,
    pilot: Annotated[Path | None, typer.Option(help="The folder of the Birdwatch pilot's public data.")] = None,
    out: Annotated[Path | None, typer.Option(help=_OUT)] = None,
) -> None:
    """Fit the helpfulness head and cross-validate it: no post in two folds. Prints the figures as JSON.

    The readings, features learned from other notes, are the shipped ones unless --camp and --pilot are given.
    """
    import numpy as np

    from crowdnotes.engines.local.heads.shipped import HELPFULNESS, JUDGES, READINGS, readings
    from crowdnotes.errors import InputError
    from crowdnotes.studies import judge_files as files
    from crowdnotes.studies.camp_rows import read_camp_notes
    from crowdnotes.studies.helpfulness_readings import read_pilot, train_readings, without_judged
    from crowdnotes.studies.helpfulness_rows import read_health_notes
    from crowdnotes.studies.helpfulness_training import FOLDS, REPEATS, train_helpfulness
    from crowdnotes.studies.note_marks import note_mark
    from crowdnotes.workspace import open_workspace

    if (camp is None) != (pilot is None):
        raise InputError("The readings need both --camp and --pilot.", "Give both, or neither.")
    notes = read_health_notes(data)
    folder = files.made_folder(out or JUDGES)
    known = readings() if camp is None or pilot is None else None
    if camp is not None and pilot is not None:
        progress("  training the readings")
        others = without_judged(read_camp_notes(camp), {n.note_id for n in notes}, [n.note for n in notes])
        known = train_readings(others, read_pilot(pilot))
    assert known is not None  # noqa: S101 - one of the two branches above made it
    known.save(folder / READINGS)
    with open_workspace() as workspace:
        trained = train_helpfulness(notes, known, workspace.embedder, lambda line: progress(f"  {line}"))
    trained.head.save(folder / HELPFULNESS)
    first = trained.repeats[0]
    marks = np.array([note_mark(note.note_id) for note in notes], dtype=np.uint64)
    labels = np.array([note.is_helpful for note in notes])
    files.write_held_out(folder, "helpfulness", files.HeldOutVerdicts(marks, first.probabilities, labels))
    figures: dict[str, object] = {
        "notes": len(notes),
        "folds": FOLDS,
        "macro_f1": round(float(np.mean([repeat.macro_f1 for repeat in trained.repeats])), 4),
        "auc": round(float(np.mean([repeat.auc for repeat in trained.repeats])), 4),
        f"macro_f1_of_{REPEATS}_repeats": [round(repeat.macro_f1, 4) for repeat in trained.repeats],
    }
    files.pin(folder, "helpfulness", figures, [HELPFULNESS, READINGS])
    print_json(figures)


def principles(
    data: Annotated[Path, typer.Option(help="Camp notes, Parquet, with kind and content_label.")],
    out: Annotated[Path | None, typer.Option(help=_OUT)] = None,
) -> None:
    """Fit the opinion head to notes both camps approve, and measure it on the newest fifth. Prints JSON."""
    import numpy as np

    from crowdnotes.engines.local.heads.shipped import JUDGES, OPINION
    from crowdnotes.studies import judge_files as files
    from crowdnotes.studies.camp_rows import labelled_bridging, read_camp_notes
    from crowdnotes.studies.note_marks import note_mark
    from crowdnotes.studies.principles_training import train_opinion
    from crowdnotes.workspace import open_workspace

    notes = labelled_bridging(read_camp_notes(data))
    folder = files.made_folder(out or JUDGES)
    with open_workspace() as workspace:
        trained = train_opinion(notes, workspace.embedder, lambda line: progress(f"  {line}"))
    trained.head.save(folder / OPINION)
    marks = np.array([note_mark(str(note_id)) for note_id in notes["note_id"]], dtype=np.uint64)
    files.write_held_out(folder, "principles", files.HeldOutVerdicts(marks, trained.probabilities, trained.labels))
    figures: dict[str, object] = {
        "notes": len(notes),
        "opinion_or_hostile": int(trained.labels.sum()),
        "newest_fifth": trained.newest,
        "auc_on_newest_fifth": round(trained.auc, 4),
    }
    files.pin(folder, "principles", figures, [OPINION])
    print_json(figures)
