"""`crowdnotes jury score`, `crowdnotes bench jury`, `crowdnotes train jury` and `crowdnotes train raters`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdnotes.cli.output import Json, print_json, print_text, progress
from crowdnotes.errors import InputError

if TYPE_CHECKING:
    from crowdnotes.domain import JuryVerdict, SideVotes
    from crowdnotes.embedding import Embedder
    from crowdnotes.settings import Settings
    from crowdnotes.studies.bench.shown import ShownFigures

app = typer.Typer(help="A simulated jury of both sides.", no_args_is_help=True)


class SamplingOption(StrEnum):
    """How jurors are chosen; the same words as `crowdnotes.jury.Sampling`, whose import is slow."""

    UNIFORM = "uniform"
    POLARISED = "polarised"
    AUDIENCE = "audience"


@app.command("score")
def score(
    note: Annotated[list[str], typer.Option(help="The note as it would be posted; again for each candidate.")],
    post: Annotated[str, typer.Option(help="The post's text; it counts only for a model trained with posts.")] = "",
    jurors: Annotated[int | None, typer.Option(min=1, max=100_000, help="How many (1,000).")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The same seed gives the same jury.")] = None,
    sampling: Annotated[
        SamplingOption, typer.Option(help="Jurors from the pool as it is, half and half, or likely viewers.")
    ] = SamplingOption.UNIFORM,
    as_json: Json = False,
) -> None:
    """Put a note before a simulated jury: its intercept and status, each side's votes, what moves them.

    A simulation with a measured quality, never a prediction of X's status for this note.
    """
    from crowdnotes.jury import Sampling, open_jury
    from crowdnotes.settings import load_settings

    settings = load_settings()
    jury = open_jury(settings.jury, settings.bridging, _embedder(settings))
    found = jury.compare(post, note, jurors=jurors, seed=seed, sampling=Sampling(sampling.value), explain=True)
    if len(found) == 1 and isinstance(found[0], InputError):
        raise found[0]
    if as_json:
        answers = [
            {"not_run": one.message} if isinstance(one, InputError) else one.model_dump(mode="json") for one in found
        ]
        print_json(answers[0] if len(answers) == 1 else answers)
        return
    for text, one in zip(note, found, strict=True):
        if isinstance(one, InputError):
            print_text(text)
            print_text(f"  not run: {one.message} {one.next_step}")
        else:
            _show(text, one)
    print_text(jury.quality.note)


def bench(
    data: Annotated[
        Path | None,
        typer.Option(
            help="HealthNotes (.jsonl, a line a note, with post, note and status), or a Parquet file of the camp "
            "schema (kind, approval_0/1, raters_0/1, …); without it, the shipped twin on numbers of newer notes."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure the jury on notes that X showed or turned down, or on notes with two camps' votes.

    HealthNotes: intercept_auc: does the simulated intercept tell those that X showed? reached, wrongly_reached:
    which shares of the shown and of the others reach 0.40; ece: of the chance of being shown. Camps: polarising_auc,
    brier, ece: does the model know which notes divide the camps? camp_auc: and which camp likes them? rating_auc: of
    single votes on dividing notes. Reading new notes takes about 20 ms each.
    """
    from crowdnotes.domain import Noun
    from crowdnotes.jury.model import CampModel, load_model
    from crowdnotes.settings import load_settings
    from crowdnotes.studies.bench.jury import HeldOut, bench_camps

    figures: Noun
    if data is None:
        figures = HeldOut.load().measure()
    elif _is_health(data):
        figures = _bench_shown(data)
    else:
        settings = load_settings()
        model = load_model(settings.jury.model)
        if not isinstance(model, CampModel):
            raise InputError("The jury's model was trained on ratings, not on camps.", "Unset CROWDNOTES_JURY_MODEL.")
        figures = bench_camps(data, model, _embedder(settings))
    if as_json:
        print_json(figures)
        return
    for name, value in figures.model_dump().items():
        print_text(f"{name}: {value}")


def _is_health(data: Path) -> bool:
    return data.suffix.lower() in {".jsonl", ".json"}


def _bench_shown(data: Path) -> ShownFigures:
    from crowdnotes.jury import open_jury
    from crowdnotes.jury.model import SHIPPED_MODEL
    from crowdnotes.settings import load_settings
    from crowdnotes.studies.bench.shown import bench_shown
    from crowdnotes.studies.data_files import read_health_notes
    from crowdnotes.studies.judge_files import read_held_out

    settings = load_settings()
    jury = open_jury(settings.jury, settings.bridging, _embedder(settings))
    held_out = {} if jury.shown is None else read_held_out("shown", settings.jury.model or SHIPPED_MODEL).by_mark()
    return bench_shown(jury, read_health_notes(data), held_out)


def train(
    data: Annotated[
        Path,
        typer.Option(help="A Parquet file of the camp schema, HealthNotes (.jsonl), or a folder of X's public data."),
    ],
    out: Annotated[Path, typer.Option(help="A folder for the model, its figures and what it takes to check them.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Train the jury's model, measure it on newer notes than it learned from, and write both down.

    A folder of public data (notes, ratings and, if you have them, posts) is split chronologically 80/10/10
    with rater parameters from the past alone. HealthNotes teach the head that tells what X shows, with the reader of
    the helpfulness judge; it goes beside a camp model in OUT/model. Use that by CROWDNOTES_JURY_MODEL=OUT/model.
    """
    from crowdnotes.jury import shipped_pool
    from crowdnotes.settings import load_settings

    settings = load_settings()
    embedder = _embedder(settings)
    if data.is_dir():
        from crowdnotes.studies.train.jury_ratings import run_public_training

        measured = run_public_training(data, out, embedder, settings.bridging, progress).model_dump()
    elif _is_health(data):
        from crowdnotes.engines.local.heads.reader import reader_for
        from crowdnotes.studies.data_files import read_health_notes
        from crowdnotes.studies.train.shown import train_shown, write_shown

        notes = read_health_notes(data)
        trained = train_shown(notes, reader_for(embedder), embedder, progress)
        write_shown(trained, notes, out / "model")
        measured = trained.figures
    else:
        from crowdnotes.studies.train.jury import run_camp_training

        measured = run_camp_training(data, out, embedder, shipped_pool(), progress).figures.model_dump()
    if as_json:
        print_json(measured)
        return
    for name, value in measured.items():
        print_text(f"{name}: {value}")


def train_raters(
    data: Annotated[Path, typer.Option(help="A Parquet file with the columns rater_intercept and rater_factor.")],
    out: Annotated[Path, typer.Option(help="The JSON file to write; assets/jury/raters.json is the shipped one.")],
    source: Annotated[str, typer.Option(help="Whose raters they are, with their licence; kept in the file.")],
) -> None:
    """Fit the pool that jurors are drawn from: a mixture with as many parts as held-out raters like best."""
    from crowdnotes.studies.train.raters import fit_pool

    content = fit_pool(data, out, source)
    print_json({"raters": content["raters"], "parts": len(content["weights"]), "quantiles": content["quantiles"]})


def _embedder(settings: Settings) -> Embedder:
    from crowdnotes.embedding import make_embedder

    settings.data_dir.mkdir(parents=True, exist_ok=True)
    return make_embedder(settings)


def _show(text: str, verdict: JuryVerdict) -> None:
    print_text(text)
    for caution in verdict.cautions:
        print_text(f"  caution: {caution}")
    low, high = verdict.intercept_interval.low, verdict.intercept_interval.high
    status = "" if verdict.means_nothing else f": {verdict.status}"
    print_text(
        f"  intercept {verdict.note_intercept:.2f} of the {verdict.helpful_line:.2f} it takes "
        f"(90 % of juries: {low:.2f} to {high:.2f}), factor {verdict.note_factor:+.2f}{status}"
    )
    for side in (verdict.negative, verdict.positive):
        print_text(f"  side {side.side}: {_votes(side)}")
    if verdict.means_nothing:
        return
    print_text(f"  {verdict.sentence}")
    for word in verdict.blocked_by:
        print_text(f"  blocked by {word.rule}: {word.reason}")


def _votes(side: SideVotes) -> str:
    return f"{side.helpful} helpful, {side.somewhat_helpful} somewhat, {side.not_helpful} not helpful"
