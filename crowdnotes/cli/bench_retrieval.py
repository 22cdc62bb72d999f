"""`crowdnotes bench retrieval`: how well the engine finds evidence in a library, against two plain ways."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crowdnotes.cli.output import QueryDiversity, Utility, print_json, print_text, progress


def retrieval(
    data: Annotated[
        Path,
        typer.Option(help='A line a post: {"note_id", "post", "judged": [{"record": row, "grade": 0, 1 or 2}]}.'),
    ],
    library: Annotated[str, typer.Option(help="The library whose rows were judged.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first posts.")] = None,
    query_diversity: QueryDiversity = True,
    utility: Utility = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Rank a library's records for posts in three ways, and compare each with what was judged.

    fulltext is full-text search on the post's words, embedding the similarity of records to the post,
    engine what a case does: queries, search, picks by utility. ndcg@10 leaves unjudged records out;
    recall@10 and mrr (mean reciprocal rank) are of records with grade 2, in the ranking as it is.
    Embedding the library takes minutes the first time.
    """
    from crowdnotes.studies.judged_posts import read_judged_posts
    from crowdnotes.studies.retrieval import measure_retrieval
    from crowdnotes.workspace import open_workspace

    posts = read_judged_posts(data, limit)
    with open_workspace() as workspace:
        report = measure_retrieval(
            posts,
            workspace.engine,
            workspace.embedder,
            workspace.libraries,
            library,
            workspace.settings.evidence,
            progress=lambda line: progress(f"  {line}"),
            diverse=query_diversity,
            by_utility=utility,
        )
        engine = workspace.engine.name
    if as_json:
        runs = {
            name: {
                "ndcg@10": round(run.ndcg_at_10, 4),
                "recall@10": round(run.recall_at_10, 4),
                "mrr": round(run.mrr, 4),
                "seconds": round(run.seconds, 3),
            }
            for name, run in report.runs.items()
        }
        print_json(
            {"n": report.posts, "with_helpful": report.with_helpful, "library": library, "engine": engine, "runs": runs}
        )
        return
    print_text(f"{report.posts} posts, {report.with_helpful} with a directly helpful record; engine: {engine}")
    print_text(f"{'':<10} {'ndcg@10':>8} {'recall@10':>10} {'mrr':>6} {'seconds':>8}")
    for name, run in report.runs.items():
        print_text(f"{name:<10} {run.ndcg_at_10:>8.3f} {run.recall_at_10:>10.3f} {run.mrr:>6.3f} {run.seconds:>8.2f}")
