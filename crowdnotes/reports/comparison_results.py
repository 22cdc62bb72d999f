"""What the answers of a blind comparison come to, from the answers alone. As in the Supernotes paper, section 4.2.

Intervals hold 95 %. A figure that cannot be had of so few answers is NOT RUN, and says why.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crowdnotes.domain import Answer, BothRated, Comparison, ComparisonResults, Figure, Level, Rating, Statement
from crowdnotes.wording import plural

_MAX_MIXED_MODEL_WORK = (
    1_000_000_000  # ratings times the square of participants and posts: half a minute for the mixed models
)
_MIN_CLUSTERS = 5  # participants or posts: with fewer, no interval is to be trusted
_WORTH_BY_WINNER = {"first": 1.0, "equal": 0.5, "second": 0.0}
_SHARE_RANGE = (0.0, 1.0)
_LABEL_BY_CLUSTERS = {
    ("participants",): "over participants",
    ("posts",): "over posts",
    ("participants", "posts"): "over participants and posts",
}
_FloatArray = npt.NDArray[np.float64]
_IndexArray = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class _CrossedClusters:
    """By whom and on what each answer is: places of participants and of posts, each (n,), from 0 without gaps."""

    participants: _IndexArray
    posts: _IndexArray

    def at(self, rows: npt.NDArray[np.bool_]) -> _CrossedClusters:
        """Return those of some answers."""
        return _number_clusters(self.participants[rows], self.posts[rows])

    def twice(self) -> _CrossedClusters:
        """For two ratings an answer, first all of one kind."""
        return _CrossedClusters(np.tile(self.participants, 2), np.tile(self.posts, 2))

    @property
    def sizes(self) -> tuple[int, int]:
        """How many participants, how many posts."""
        return len(np.unique(self.participants)), len(np.unique(self.posts))


def _number_clusters(participants: npt.ArrayLike, posts: npt.ArrayLike) -> _CrossedClusters:
    return _CrossedClusters(*(np.unique(one, return_inverse=True)[1].astype(np.intp) for one in (participants, posts)))


def results(comparison: Comparison, answers: Sequence[Answer]) -> ComparisonResults:
    """Every figure of a comparison; all NOT RUN where the file had shuffled the notes of each pair."""
    used = () if comparison.sides_unknown else tuple(answers)
    rated = [(first, second) for one in used if (first := one.first) and (second := one.second)]
    nothing = "Nobody has answered yet."
    if comparison.sides_unknown:
        nothing = (
            "The file does not say whose the notes are: its sides are shuffled. Export the votes for "
            "“crowdnotes bench compare --votes”."
        )
    post_of = {pair.id: pair.post for pair in comparison.pairs}
    crossed = _number_clusters([answer.participant for answer in used], [post_of[answer.pair] for answer in used])
    people, posts = crossed.sizes
    is_one_post = len(set(post_of.values())) == 1
    too_few = people < _MIN_CLUSTERS or (posts < _MIN_CLUSTERS and not is_one_post)
    won = np.array([_WORTH_BY_WINNER[answer.winner] for answer in used])
    was_rated = np.array([answer.first is not None for answer in used], dtype=bool)
    crossed_rated, won_rated = crossed.at(was_rated), won[was_rated]
    unrated = "This comparison asks only which note helps more." if comparison.short and used else nothing
    alike = np.array([first.level is second.level for first, second in rated], dtype=bool)
    helpful = alike & np.array([first.level is Level.HELPFUL for first, _ in rated], dtype=bool)
    no_such = "Nobody has rated two notes so." if rated else unrated

    def both(of: Callable[[Rating], float], ends: tuple[float, float]) -> BothRated:
        first, second = (np.array([of(pair[side]) for pair in rated]) for side in (0, 1))
        return BothRated(
            first=_estimate_mean(first, crossed_rated, unrated, ends),
            second=_estimate_mean(second, crossed_rated, unrated, ends),
            differ=_test_signed_ranks(first - second, unrated),
        )

    worths = np.array([pair[side].level.worth for side in (0, 1) for pair in rated])
    is_first = np.repeat([1.0, 0.0], len(rated))
    wins = {
        "all answers": _estimate_mean(won, crossed, nothing, _SHARE_RANGE, is_share=True),
        **{
            name: _estimate_mean(won_rated[rows], crossed_rated.at(rows), no_such, _SHARE_RANGE, is_share=True)
            for name, rows in (("both rated alike", alike), ("both rated helpful", helpful))
        },
    }
    helpfulness = both(lambda rating: rating.level.worth, _SHARE_RANGE)
    rated_model = _fit_mixed_model(
        worths, np.column_stack([is_first, np.ones_like(is_first)]), crossed_rated.twice(), unrated
    )
    levels = [Counter(pair[side].level for pair in rated) for side in (0, 1)]
    by_statement = {
        statement: both(lambda rating, of=statement: float(rating.statements[of]), (1.0, 5.0))  # type: ignore[misc]
        for statement in Statement
    }
    return ComparisonResults(
        names=comparison.names,
        answers=len(answers),
        participants=len({answer.participant for answer in answers}),
        pairs=len({answer.pair for answer in answers}),
        too_few=too_few,
        levels={level: (levels[0][level], levels[1][level]) for level in Level},
        wins=wins,
        helpfulness=helpfulness,
        rated_model=rated_model,
        chosen_model=_fit_mixed_model(won - 0.5, np.ones((len(used), 1)), crossed, nothing),
        statements=by_statement,
        sentences={
            "verdict": _write_verdict(comparison.names, wins["all answers"], too_few=too_few, is_one_post=is_one_post),
            "wins": _describe_wins(comparison.names, wins["all answers"], too_few=too_few),
            "helpfulness": _describe_ratings(comparison.names, helpfulness, rated_model, too_few=too_few),
            "statements": _describe_statements(comparison.names, by_statement, too_few=too_few),
        },
    )


def _estimate_mean(
    values: _FloatArray, crossed: _CrossedClusters, nothing: str, ends: tuple[float, float], *, is_share: bool = False
) -> Figure:
    """Return a mean on a scale between `ends`; its interval allows for alike answers by a person or on a post.

    Two-way clusters (Cameron, Gelbach and Miller, 2011), with Student's t of as many degrees of freedom as the fewer
    of the two leave: in simulations it holds the truth in 95 to 97 cases of 100, where drawing participants and posts
    anew at once does in 97 to 100. Equal answers do not show how they vary: a share then has the exact interval,
    another mean none.
    """
    n = len(values)
    if not n:
        return Figure(n=0, not_run=nothing)
    from scipy.stats import binomtest, t

    value = float(values.mean())
    off = values - value
    groups = {"participants": crossed.participants, "posts": crossed.posts}
    by = {name: np.bincount(places, off).astype(float) for name, places in groups.items() if places.any()}
    if not by or not np.ptp(values):
        if not is_share:
            return Figure(n=n, value=value, how="no interval: one answer, or all the same")
        exact = binomtest(round(values.sum()), n).proportion_ci(method="exact")
        how = "exact, as if no two answers were by one person or on one post"
        return Figure(n=n, value=value, low=float(exact.low), high=float(exact.high), how=how)
    alone = _estimate_variance_of_total(off)
    variance = max(alone, sum(_estimate_variance_of_total(sums) for sums in by.values()) - (len(by) - 1) * alone) / n**2
    half = float(t.ppf(0.975, min(map(len, by.values())) - 1) * np.sqrt(variance))
    low, high = max(ends[0], value - half), min(ends[1], value + half)
    return Figure(n=n, value=value, low=low, high=high, how=_LABEL_BY_CLUSTERS[tuple(by)])


def _estimate_variance_of_total(sums: _FloatArray) -> float:
    """By how much a total varies that is made of these sums of deviations, in squares."""
    return float((sums**2).sum() * len(sums) / (len(sums) - 1))


def _test_signed_ranks(differences: _FloatArray, nothing: str) -> Figure:
    """Wilcoxon's test of paired differences; `value` is their mean, `n` counts those that are not 0."""
    differ = differences[differences != 0]
    if not len(differ):
        return Figure(n=0, not_run="Every answer rates both notes alike." if len(differences) else nothing)
    from scipy.stats import wilcoxon

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that ties and few answers make p approximate
        p = float(wilcoxon(differ).pvalue)
    return Figure(
        n=len(differ),
        value=float(differences.mean()),
        p=p,
        how="signed ranks, as if no two answers were by one person or on one post",
    )


def _fit_mixed_model(values: _FloatArray, design: _FloatArray, crossed: _CrossedClusters, nothing: str) -> Figure:
    """Return the first coefficient of a linear mixed model with a random intercept by participant and by post.

    Fitted by restricted maximum likelihood; p is of a coefficient of 0 (Wald).
    """
    n, sizes = len(values), crossed.sizes
    why_not = ""
    if not n:
        why_not = nothing
    elif min(sizes) < 2:
        why_not = "It takes two participants and two posts."
    elif n * sum(sizes) ** 2 > _MAX_MIXED_MODEL_WORK:
        why_not = "There are too many answers to fit it within half a minute."
    elif np.allclose(design @ np.linalg.lstsq(design, values)[0], values):
        why_not = "All answers say the same, so nothing is left to explain."
    if why_not:
        return Figure(n=n, not_run=why_not)
    from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

    places = (crossed.participants, crossed.posts)
    parts = VCSpec(
        ["participant", "post"],
        [[[str(place) for place in range(size)]] for size in sizes],
        [[np.eye(size)[place]] for size, place in zip(sizes, places, strict=True)],
    )
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # a variance of 0 is a result; whether it converged is asked below
            fitted = MixedLM(values, design, np.zeros(n), exog_vc=parts).fit(method="powell")
            found = [float(fitted.fe_params[0]), *map(float, fitted.conf_int()[0]), float(fitted.pvalues[0])]
    except (np.linalg.LinAlgError, ValueError) as error:
        return Figure(n=n, not_run=f"The model could not be fitted ({error}).")
    if not fitted.converged or not np.all(np.isfinite(found)):
        return Figure(n=n, not_run="The model could not be fitted: the estimate did not settle.")
    value, low, high, p = found
    return Figure(n=n, value=value, low=low, high=high, p=p, how="random intercepts by participant and post")


def percent(share: float) -> str:
    """For example 75 %."""
    return f"{100 * share:.0f} %"


def _write_verdict(names: tuple[str, str], won: Figure, *, too_few: bool, is_one_post: bool) -> str:
    """Return which note is better, if that can be said."""
    if won.value is None or won.low is None or won.high is None:
        return won.not_run
    if too_few:
        takes = f"{_MIN_CLUSTERS} participants" + ("" if is_one_post else f" and {_MIN_CLUSTERS} posts")
        return f"Too few answers to say which note is better: it takes {takes}."
    if won.low <= 0.5 <= won.high:
        return "No clear difference: chance alone could explain it."
    return f"“{names[won.value < 0.5]}” is better."


def _describe_wins(names: tuple[str, str], won: Figure, *, too_few: bool) -> str:
    if won.value is None or won.low is None or won.high is None:
        return won.not_run
    answers = plural(won.n, "{n:,} answer", "{n:,} answers")
    between = "" if too_few else f" (95 % range: {percent(won.low)} to {percent(won.high)})"
    return f"“{names[0]}” was chosen in {percent(won.value)} of {answers}{between}."


def _describe_ratings(names: tuple[str, str], rated: BothRated, model: Figure, *, too_few: bool) -> str:
    if rated.first.value is None or rated.second.value is None:
        return rated.first.not_run
    sentence = (
        f"From 0, not helpful, to 1, helpful: “{names[0]}” has {rated.first.value:.2f} on average, “{names[1]}” "
        f"{rated.second.value:.2f}."
    )
    if too_few or model.value is None or model.low is None or model.high is None:
        return sentence
    if model.low <= 0 <= model.high:
        return f"{sentence} Chance alone could explain that."
    differs = f"That is more than chance explains: {model.value:+.2f} ({model.low:+.2f} to {model.high:+.2f})."
    return f"{sentence} {differs}"


def _describe_statements(names: tuple[str, str], rated: dict[Statement, BothRated], *, too_few: bool) -> str:
    figures = {of: one.differ for of, one in rated.items()}
    if all(one.not_run for one in figures.values()):
        return next(iter(figures.values())).not_run
    if too_few:
        return "Too few answers to compare them sentence by sentence."
    clear = {of: one.value for of, one in figures.items() if one.p is not None and one.p < 0.05 / len(Statement)}
    sides = [[of.value for of, value in clear.items() if value and (value > 0) is higher] for higher in (True, False)]
    sentences = [f"“{name}” is rated higher on {', '.join(of)}." for name, of in zip(names, sides, strict=True) if of]
    return " ".join(sentences) or "The notes differ on no statement by more than chance explains."
