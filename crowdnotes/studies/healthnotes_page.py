"""One HTML page of a run on HealthNotes: its tables and plots beside the published figures.

The page needs no network: plotly.js is in it. Posts and notes are outside text, so everything is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from crowdnotes.domain import GateName, Mode
from crowdnotes.studies.healthnotes_plots import THIS_RUN, gates_plot, models_plot
from crowdnotes.studies.healthnotes_published import Published, published
from crowdnotes.studies.healthnotes_report import Report, switches
from crowdnotes.studies.healthnotes_results import Outcome
from crowdnotes.studies.healthnotes_table import PassRate

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1d2733; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1rem 0; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #d5dbe1; text-align: right; vertical-align: top; }
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
.own { font-weight: 600; background: #eef5f0; }
.posts td { text-align: left; overflow-wrap: anywhere; }
small { color: #55606b; font-weight: 400; }
"""
_PLOT = {"displayModeBar": False, "responsive": True}


def report_page(report: Report) -> str:
    """The whole page as HTML."""
    known = published()
    gates = gates_plot(report, known).to_html(full_html=False, include_plotlyjs=True, config=_PLOT)
    models = models_plot(report, known).to_html(full_html=False, include_plotlyjs=False, config=_PLOT)
    ablations = _ablations(report, known) if report.options.mode is Mode.AUTOMATION else ""
    title = f"HealthNotes: {switches(report.options)}"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>{escape(_with_what(report))}</p>
<ul>{"".join(f"<li>{escape(caution)}</li>" for caution in report.cautions)}</ul>
<h2>This run</h2>
{_own(report)}
{gates}
<h2>Beside the published figures (Table 2)</h2>
<p>{escape(known.source)}. Human notes stand on the contributors' own links in both modes.</p>
{models}
{_published(report, known)}
{ablations}
<h2>Post by post</h2>
{_posts(report)}
</body>
</html>
"""


def _with_what(report: Report) -> str:
    options = report.options
    engines = "; ".join(f"{step}: {name}" for step, name in options.engine.items())
    places = ", ".join((*options.libraries, *options.services)) or "the links of the contributors' notes"
    return f"{len(report.results)} posts. Evidence from {places}. Engine: {engines}."


def _own(report: Report) -> str:
    head = ["half", "posts", *(outcome.value for outcome in Outcome), *(f"{gate.value} %" for gate in GateName)]
    rows = [
        [
            escape(row.name),
            str(row.posts),
            *(str(row.outcomes[outcome]) for outcome in Outcome),
            *(_rate(row.rates[gate]) for gate in GateName),
        ]
        for row in report.rows
    ]
    return _table(head, rows)


def _published(report: Report, known: Published) -> str:
    """Table 2 of the run's mode, this run first."""
    head = ["", *(f"{gate.value} %, {half}" for half in ("helpful", "not helpful") for gate in GateName)]
    own = [THIS_RUN, *(_rate(row.rates[gate]) for row in report.rows[:2] for gate in GateName)]
    rows = [
        [escape(model.name), *(f"{value:.2f}" for value in (*halves.helpful, *halves.not_helpful))]
        for model in known.models
        if (halves := model.of(report.options.mode)) is not None
    ]
    return _table(head, [own, *rows], own=1)


def _ablations(report: Report, known: Published) -> str:
    """Table 3, this run first."""
    own = [
        f"{THIS_RUN} <small>{escape(switches(report.options))}</small>",
        *(_rate(row.rates[GateName.HELPFULNESS]) for row in report.rows),
    ]
    rows = [
        [
            escape(f"{item.name}, without {item.without}" if item.without else f"{item.name}, whole"),
            *(f"{v:.2f}" for v in (item.helpful, item.not_helpful, item.overall)),
        ]
        for item in known.ablations
    ]
    head = ["", *(f"helpfulness %, {row.name}" for row in report.rows)]
    return f"<h2>With a part taken away (Table 3)</h2>{_table(head, [own, *rows], own=1)}"


def _posts(report: Report) -> str:
    head = ["note id", "half", "ended", *(gate.value for gate in GateName), "the note, or why there is none"]
    rows = [
        [
            escape(result.note_id),
            "helpful" if result.is_helpful else "not helpful",
            escape(result.outcome.value),
            *(escape(getattr(result, gate.value).value.replace("_", " ")) for gate in GateName),
            escape(" ".join(part for part in (result.note, f"({result.reason})" if result.reason else "") if part)),
        ]
        for result in report.results
    ]
    return f"<details><summary>{len(rows)} posts</summary>{_table(head, rows, kind='posts')}</details>"


def _rate(rate: PassRate) -> str:
    if rate.percent is None:
        return "—"
    low, high = rate.interval
    return f"{rate.percent:.2f} <small>{low:.0f}–{high:.0f}</small>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, own: int = 0, kind: str = "rates") -> str:
    """A table of cells that are HTML already; the first `own` rows are this run's."""
    lines = (f"<tr{' class=own' if place < own else ''}>{_cells(row)}</tr>" for place, row in enumerate(rows))
    named = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f'<table class="{kind}"><thead><tr>{named}</tr></thead><tbody>{"".join(lines)}</tbody></table>'


def _cells(row: Iterable[str]) -> str:
    return "".join(f"<td>{cell}</td>" for cell in row)
