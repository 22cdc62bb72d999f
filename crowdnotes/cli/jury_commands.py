"""`crowdnotes jury score`: notes before a simulated jury."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from crowdnotes.cli.output import Json, print_json, print_text
from crowdnotes.errors import InputError

if TYPE_CHECKING:
    from crowdnotes.domain import JuryVerdict, SideVotes

app = typer.Typer(help="A simulated jury of both sides.", no_args_is_help=True)


@app.command("score")
def score(
    note: Annotated[list[str], typer.Option(help="The note as it would be posted; again for each candidate.")],
    post: Annotated[str, typer.Option(help="The post's text; it counts only for a model trained with posts.")] = "",
    jurors: Annotated[int | None, typer.Option(min=1, max=100_000, help="How many (1,000).")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The same seed gives the same jury.")] = None,
    sampling: Annotated[
        Literal["uniform", "polarised", "audience"],
        typer.Option(help="Jurors from the pool as it is, half and half, or likely viewers."),
    ] = "uniform",
    as_json: Json = False,
) -> None:
    """Put a note before a simulated jury: its intercept and status, each side's votes, what moves them.

    A simulation with a measured quality, never a prediction of X's status for this note.
    """
    from crowdnotes.engines.embedding import make_embedder
    from crowdnotes.jury import Sampling, open_jury
    from crowdnotes.settings import load_settings

    settings = load_settings()
    jury = open_jury(settings.jury, settings.bridging, make_embedder(settings))
    found = jury.compare(post, note, jurors=jurors, seed=seed, sampling=Sampling(sampling), explain=True)
    if len(found) == 1 and isinstance(found[0], InputError):
        raise found[0]
    if as_json:
        answers = [{"not_run": one.message} if isinstance(one, InputError) else one for one in found]
        print_json(answers[0] if len(answers) == 1 else answers)
        return
    for text, one in zip(note, found, strict=True):
        if isinstance(one, InputError):
            print_text(text)
            print_text(f"  not run: {one.message} {one.next_step}")
        else:
            _show(text, one)
    print_text(jury.quality.note)


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
        print_text(f"  {side.people}: {_votes(side)}")
    if verdict.means_nothing:
        return
    print_text(f"  {verdict.sentence}")
    for word in verdict.blocked_by:
        print_text(f"  blocked by {word.rule}: {word.reason}")


def _votes(side: SideVotes) -> str:
    return f"{side.helpful} helpful, {side.somewhat_helpful} somewhat, {side.not_helpful} not helpful"
