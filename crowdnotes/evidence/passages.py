"""The evidence of a case: of each source its best run of whole sentences for the post (CrowdNotes+ appendix D.2).

At most 512 tokens, from the beginning of a sentence to the end of one, a heading or list label with what follows it; a
text of that size is its own passage. Which run is chosen by what is asked of the source: the post, its claims, and the
words that won it the pick (the search's snippet, the reason given):

    (nearness to the post + that to the claim it is nearest to) / 2 + share of the snippet's and the reason's words

Where the text holds the snippet word for word, only runs that hold it are compared.

Embedding every run whole would read most tokens many times and take seconds for six sources, so sentences are embedded
instead, once each and at most `_MAX_EMBEDDED_SENTENCES` a source:

    nearness = (cosine with the run's sentences together + that with its best sentence) / 2

where "together" is the mean of the sentence vectors weighted by length. In a long source the `_MAX_SHORTLISTED_WINDOWS`
windows of a fixed length that share the rarest words with what is asked are looked at, and always the first and
the one with the snippet; in these, when they hold too many sentences, those that share the most, and then an even
spread of the others, so that a source in another language is still judged.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np

from crowdnotes.domain import Claim, Evidence, Passage, Post, Source, Span
from crowdnotes.engines.embedding import Embedder, FloatArray
from crowdnotes.engines.local.tone import contradicts, reports_rumour
from crowdnotes.text.boilerplate import split_evidence
from crowdnotes.text.plain_letters import plain_letters
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.tokens import content_words, stem, word_stems
from crowdnotes.text.urls import canonical_url

PASSAGE_TOKENS, _PASSAGE_OVERLAP = 512, 128  # CrowdNotes+ appendix D.2
_SURROUNDINGS = 700  # characters shown before and after a passage
_MAX_EMBEDDED_SENTENCES = 18  # some 450 tokens: six sources take under a second on two cores
_MAX_SHORTLISTED_WINDOWS = 4
_MAX_TOKEN_CHARACTERS = 64  # characters; tokenizers read a longer "word" as one token, however long
_GIANT_PIECE_CHARACTERS = 8
_MAX_SENTENCE_CHARACTERS = 300  # characters; a batch is as slow as its longest text, and a longer one blurs
_MAX_CUT_SHIFT = 48  # characters that a cut may move to reach the end of a word
_MAX_MARKS = 3
_MAX_KEY_SENTENCES = 7  # of 5 to 7 sentences the most answers are among what models are shown
_MAX_MARK_DISTANCE = 0.12  # of the best sentence's cosine
_MAX_CLAIMS = 3
_SNIPPET_WEIGHT = 0.3  # of a cosine: two runs of one page differ by less
_REASON_WEIGHT = 0.15  # its words are the engine's, not the page's
_SCATTERED_WEIGHT = 0.8  # the snippet's words, but not in one piece
_OFF_CENTRE_WEIGHT = 0.1  # decides between runs that hold the same sentences
_MAX_REACH_CHARACTERS = 400  # characters outside a window in which the sentence at its edge may end
_MAX_HEADING_CHARACTERS = 120  # characters


@dataclass(frozen=True, slots=True)
class _Sentence:
    span: Span
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Whole:
    """The whole text of a source; `page_starts` are the offsets at which its pages begin, if it has pages.

    `snippet` and `reason` are what won it the pick, where something did.
    """

    text: str
    page_starts: Sequence[int] = ()
    snippet: str = ""
    reason: str = ""


def best_passage(
    text: str,
    post_text: str,
    embedder: Embedder,
    tokens: int = PASSAGE_TOKENS,
    overlap: int = _PASSAGE_OVERLAP,
    surroundings: int = _SURROUNDINGS,
    page_starts: Sequence[int] = (),
) -> Passage:
    """`best_passages` of one text."""
    return best_passages([Whole(text, page_starts)], post_text, embedder, tokens, overlap, surroundings)[0]


def best_passages(
    wholes: Sequence[Whole],
    post_text: str,
    embedder: Embedder,
    tokens: int = PASSAGE_TOKENS,
    overlap: int = _PASSAGE_OVERLAP,
    surroundings: int = _SURROUNDINGS,
    claims: Sequence[str] = (),
    searches: Sequence[str] = (),
) -> list[Passage]:
    """Of each text the best run of sentences, with its surroundings and its best sentences marked.

    `searches` are worded as a page that answers the claim might word it: the sentences nearest to one are key.
    `tokens` and `overlap` are counts of the embedder's tokens: of a passage, and of what two windows that are looked at
    share; `surroundings` are characters before and after. All sentences are embedded together: that is faster than
    text by text. Deterministic. Raises ValueError for a text without words or an overlap that is no part of a window.
    """
    if not 0 <= overlap < tokens:
        raise ValueError(f"overlap must be in 0..{tokens - 1}: {overlap}")
    claims = claims[:_MAX_CLAIMS]
    asked = [plain_letters(text) for text in (post_text, *claims, *searches)]
    stems = frozenset(stem(word) for text in asked for word in content_words(text))
    looks = [_find_candidates(whole, stems, embedder, tokens, overlap) for whole in wholes]
    texts = [look.whole.text[sentence.span.start : sentence.span.end] for look in looks for sentence in look.sentences]
    vectors = embedder.encode([*asked, *texts])
    rows = iter(vectors[len(asked) :])
    return [
        _choose_passage(
            look, vectors[: len(asked)], len(claims), np.array(list(islice(rows, len(look.sentences)))), surroundings
        )
        for look in looks
    ]


@dataclass(frozen=True, slots=True)
class _PassageCandidates:
    """What of a source is looked at: the runs that may become its passage, and the sentences that are embedded."""

    whole: Whole
    runs: Sequence[Span]
    sentences: Sequence[_Sentence]


def _find_candidates(
    whole: Whole, stems: frozenset[str], embedder: Embedder, tokens: int, overlap: int
) -> _PassageCandidates:
    found = _split_giant_tokens(embedder.token_spans(whole.text))
    windows = _build_windows(found, tokens, overlap)
    if not windows:
        raise ValueError("the text is empty")
    wanted = stems | frozenset(word_stems(f"{whole.snippet} {whole.reason}"))
    regions = _merge_windows(_shortlist_windows(whole, windows, wanted))
    spans = [span for region in regions for span in _find_sentence_spans(whole.text, region)]
    runs = runs_of(whole.text, spans, [start for start, _ in found], tokens) or windows[:1]
    evident = [
        Span(start=span.start + part.start, end=span.start + part.end)
        for span in spans
        for part in split_evidence(whole.text[span.start : span.end])
    ]
    cut = pieces(whole.text, evident, _MAX_SENTENCE_CHARACTERS)
    sentences = [_Sentence(span, frozenset(word_stems(whole.text[span.start : span.end]))) for span in cut]
    return _PassageCandidates(whole, runs, _choose_sentences(sentences, wanted))


def _choose_passage(
    look: _PassageCandidates, asked: FloatArray, claims: int, vectors: FloatArray, surroundings: int
) -> Passage:
    """Return the run of the highest worth.

    Rows of `asked` are the post, so many claims and the searches; of `vectors` the sentences.
    """
    whole, sentences = look.whole, look.sentences
    near_all = vectors @ asked.T if len(vectors) else np.zeros((0, len(asked)), dtype=np.float32)
    asked, near, to_searches = asked[: 1 + claims], near_all[:, : 1 + claims], near_all[:, 1 + claims :]
    near_both = (near[:, 0] + near[:, 1:].max(axis=1)) / 2 if len(asked) > 1 else near[:, 0]
    by_snippet, by_reason = (_WantedWords.of(text, whole.text, look.runs) for text in (whole.snippet, whole.reason))

    def to_post(run: Span) -> float:
        return _measure_similarity(run, sentences, asked[0], vectors, near[:, 0])

    def worth(run: Span) -> float:
        claims = [_measure_similarity(run, sentences, asked[i], vectors, near[:, i]) for i in range(1, len(asked))]
        meaning = (to_post(run) + max(claims)) / 2 if claims else to_post(run)
        words = _SNIPPET_WEIGHT * by_snippet.share(run) + _REASON_WEIGHT * by_reason.share(run)
        return meaning + words - _OFF_CENTRE_WEIGHT * _measure_off_centre(run, sentences, near_both, by_snippet.place)

    # Where the text holds the search's own words, only runs with them are compared: they won it the pick.
    runs = [run for run in look.runs if by_snippet.is_whole_in(run)] or look.runs
    run = max(runs, key=lambda run: (worth(run), -run.start))
    near_last, both_last = _put_rumours_last(whole.text, run, sentences, near, near_both)
    return Passage(
        text=whole.text[run.start : run.end],
        span=run,
        similarity=max(-1.0, min(1.0, to_post(run))),
        before=whole.text[max(0, run.start - surroundings) : run.start],
        after=whole.text[run.end : run.end + surroundings],
        marks=_choose_marks(run, sentences, near_last, both_last),
        key_sentences=_choose_key_sentences(run, sentences, near_last, both_last, to_searches),
        page=page_at(whole.page_starts, run.start),
    )


@dataclass(frozen=True, slots=True)
class _WantedWords:
    """Words that a passage should hold: the weight of each stem, those of each run, and where all are in a row."""

    weights: Mapping[str, float]
    held: Mapping[Span, frozenset[str]]
    place: Span | None

    @classmethod
    def of(cls, words: str, text: str, runs: Sequence[Span]) -> _WantedWords:
        stems = frozenset(word_stems(words))
        held = {run: frozenset(word_stems(text[run.start : run.end])) & stems for run in runs} if stems else {}
        start = text.find(words.strip()) if words.strip() else -1
        place = Span(start=start, end=start + len(words.strip())) if start >= 0 else None
        return cls(_weigh_by_rarity(list(held.values())), held, place)

    def is_whole_in(self, run: Span) -> bool:
        """Return whether the run holds all of them in one piece."""
        return self.place is not None and run.start <= self.place.start and self.place.end <= run.end

    def share(self, run: Span) -> float:
        """Return the share in [0, 1]: 1 for the same words in one piece."""
        if self.is_whole_in(run):
            return 1.0
        total = sum(self.weights.values())
        of_words = sum(self.weights[stem] for stem in self.held[run]) / total if total else 0.0
        return of_words if self.place is None else _SCATTERED_WEIGHT * of_words


def _measure_off_centre(run: Span, sentences: Sequence[_Sentence], near: FloatArray, place: Span | None) -> float:
    """Return how far from the run's middle its point is, in [0, 1/2]: what surrounds it says how it is meant."""
    inside = [row for row, sentence in enumerate(sentences) if _count_shared_characters(run, sentence.span) > 0]
    if place is None or not run.start <= place.start <= run.end:
        if not inside:
            return 0.5
        place = sentences[max(inside, key=lambda row: (near[row], -row))].span
    at = ((place.start + place.end) / 2 - run.start) / max(1, run.end - run.start)
    return min(0.5, abs(at - 0.5))


def page_at(page_starts: Sequence[int], offset: int) -> int | None:
    """Return the number, from 1, of the page with the character at `offset`; None where there are no pages."""
    return max(1, bisect_right(page_starts, offset)) if page_starts else None


def _build_windows(found: Sequence[tuple[int, int]], tokens: int, overlap: int) -> list[Span]:
    """Windows that cover every token, in order, each sharing `overlap` tokens with the one before."""
    if not found:
        return []
    last = max(0, len(found) - tokens)
    starts = [*range(0, last, tokens - overlap), last]
    return [Span(start=found[at][0], end=found[min(at + tokens, len(found)) - 1][1]) for at in starts]


def _split_giant_tokens(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Token spans, with those of absurd length cut up, so that no window is unbounded."""
    return [
        (at, min(end, at + step))
        for start, end in spans
        for step in [_GIANT_PIECE_CHARACTERS if end - start > _MAX_TOKEN_CHARACTERS else _MAX_TOKEN_CHARACTERS]
        for at in range(start, end, step)
    ]


def _shortlist_windows(whole: Whole, windows: Sequence[Span], wanted: frozenset[str]) -> list[Span]:
    """Return the windows worth a closer look, in order: the first, those with the rarest words, and the snippet's."""
    if len(windows) <= _MAX_SHORTLISTED_WINDOWS:
        return list(windows)
    shared = [frozenset(word_stems(whole.text[window.start : window.end])) & wanted for window in windows]
    chosen = {0, *[i for i in _order_by_rarity(shared) if i][: _MAX_SHORTLISTED_WINDOWS - 1]}
    place = whole.text.find(whole.snippet) if whole.snippet else -1
    if place >= 0:
        chosen.update(i for i, window in enumerate(windows) if window.start <= place < window.end)
    return [windows[i] for i in sorted(chosen)]


def _weigh_by_rarity(sets: Sequence[frozenset[str]]) -> Mapping[str, float]:
    counts = Counter(stem for found in sets for stem in found)
    return {stem: math.log(1 + len(sets) / count) for stem, count in counts.items()}


def _order_by_rarity(shared: Sequence[frozenset[str]]) -> list[int]:
    """Return the places of the sets, those of the rarest stems first."""
    weights = _weigh_by_rarity(shared)
    return sorted(range(len(shared)), key=lambda i: (-sum(weights[stem] for stem in shared[i]), i))


def _merge_windows(windows: Sequence[Span]) -> list[Span]:
    """Windows in order as regions that do not overlap, so that no sentence is read twice."""
    regions: list[Span] = []
    for window in windows:
        if regions and window.start < regions[-1].end:
            regions[-1] = Span(start=regions[-1].start, end=max(regions[-1].end, window.end))
        else:
            regions.append(window)
    return regions


def _find_sentence_spans(text: str, region: Span) -> list[Span]:
    """Return the sentences that a region holds or touches, whole unless one begins or ends far outside it."""
    left, right = max(0, region.start - _MAX_REACH_CHARACTERS), min(len(text), region.end + _MAX_REACH_CHARACTERS)
    found: list[Span] = []
    for sentence in split_sentences(text[left:right]):
        start, end = left + sentence.start, left + sentence.end
        if end <= region.start or start >= region.end:
            continue
        start = max(start, region.start) if start == left > 0 else start
        end = min(end, region.end) if end == right < len(text) else end
        found.append(Span(start=start, end=end))
    return found


def runs_of(text: str, sentences: Sequence[Span], token_starts: Sequence[int], tokens: int) -> list[Span]:
    """Return the longest runs of whole sentences, of at most `tokens` tokens, that leave none out.

    `sentences` are in order. A heading or list label is one with the sentence after it. A sentence of more than half a
    run may be cut between words.
    """
    units = [
        part
        for unit in _join_labels(text, sentences)
        for part in _split_unit(text, unit, token_starts, max(1, tokens // 2))
    ]
    counts = [bisect_left(token_starts, unit.end) - bisect_left(token_starts, unit.start) for unit in units]
    runs: list[Span] = []
    last, held = 0, 0  # units[first:last] are the run, which holds so many tokens
    for first, unit in enumerate(units):
        if last <= first:
            last, held = first + 1, counts[first]
        while last < len(units) and held + counts[last] <= tokens and not _is_gap(text, units[last - 1], units[last]):
            held += counts[last]
            last += 1
        if not runs or units[last - 1].end > runs[-1].end:  # else it is the end of the run before it
            runs.append(Span(start=unit.start, end=units[last - 1].end))
        held -= counts[first]
    return runs


def _join_labels(text: str, sentences: Sequence[Span]) -> list[Span]:
    units: list[Span] = []
    joins = False
    for sentence in sentences:
        if units and sentence.start < units[-1].end:  # two regions reached for it
            continue
        if joins and not _is_gap(text, units[-1], sentence):
            units[-1] = Span(start=units[-1].start, end=sentence.end)
        else:
            units.append(sentence)
        joins = _is_label(text, sentence)
    return units


def _is_label(text: str, sentence: Span) -> bool:
    """Return whether it only says what comes next: "The signs are:", or a heading on a line of its own."""
    words = text[sentence.start : sentence.end]
    if words.endswith((":", "\uff1a")):
        return True
    line_ends = text[sentence.end : sentence.end + 1] == "\n" and words[-1:].isalnum()
    begins_line = sentence.start == 0 or text[sentence.start - 1] == "\n"
    return line_ends and begins_line and len(words) <= _MAX_HEADING_CHARACTERS


def _is_gap(text: str, before: Span, after: Span) -> bool:
    """Return whether something was not looked at between the two."""
    return not text[before.end : after.start].isspace() and before.end < after.start


def _split_unit(text: str, unit: Span, token_starts: Sequence[int], most: int) -> list[Span]:
    """Return the unit, or where it has more tokens than `most`, pieces of it that do not."""
    first, last = bisect_left(token_starts, unit.start), bisect_left(token_starts, unit.end)
    if last - first <= most:
        return [unit]
    cuts = [unit.start]
    for at in range(first + most, last, most):
        cut = token_starts[at]
        space = text.rfind(" ", cuts[-1] + 1, cut) + 1
        cuts.append(space if space > max(cuts[-1], cut - _MAX_CUT_SHIFT) else cut)
    return [Span(start=start, end=end) for start, end in pairwise([*cuts, unit.end]) if start < end]


def pieces(text: str, sentences: Sequence[Span], longest: int) -> list[Span]:
    """Return the sentences, those of more than `longest` characters cut at spaces."""
    found: list[Span] = []
    for sentence in sentences:
        start = sentence.start
        while sentence.end - start > longest:
            space = text.rfind(" ", start + 1, start + longest)
            cut = space if space > start else start + longest
            found.append(Span(start=start, end=cut))
            start = cut
        if start < sentence.end:
            found.append(Span(start=start, end=sentence.end))
    return found


def _choose_sentences(sentences: Sequence[_Sentence], post_stems: frozenset[str]) -> list[_Sentence]:
    """At most `_MAX_EMBEDDED_SENTENCES`, in order: those that share words with the post first, then an even spread."""
    if len(sentences) <= _MAX_EMBEDDED_SENTENCES:
        return list(sentences)
    chosen = set(
        _order_by_rarity([sentence.stems & post_stems for sentence in sentences])[: _MAX_EMBEDDED_SENTENCES // 2]
    )
    spread = np.linspace(0, len(sentences) - 1, _MAX_EMBEDDED_SENTENCES - len(chosen))
    chosen.update(int(at) for at in spread)
    return [sentences[i] for i in sorted(chosen)]


def _measure_similarity(
    window: Span, sentences: Sequence[_Sentence], post: FloatArray, vectors: FloatArray, similarity: FloatArray
) -> float:
    inside = [row for row, sentence in enumerate(sentences) if _count_shared_characters(window, sentence.span) > 0]
    if not inside:
        return -1.0
    lengths = np.array([_count_shared_characters(window, sentences[row].span) for row in inside], dtype=np.float32)
    together = lengths @ vectors[inside]
    norm = float(np.linalg.norm(together))
    whole = float(together @ post) / norm if norm else 0.0
    return (whole + float(similarity[inside].max())) / 2


def _count_shared_characters(window: Span, sentence: Span) -> int:
    """Characters of the sentence inside the window; 0 when most of it lies outside."""
    inside = min(window.end, sentence.end) - max(window.start, sentence.start)
    return inside if inside * 2 > sentence.end - sentence.start else 0


_RUMOUR_PENALTY = 1.0  # of a cosine: what only reports the claim is marked where nothing else answers it
_MIN_ANSWER_SIMILARITY = 0.25  # cosine; a sentence farther from the claim answers it only by denying something


def _put_rumours_last(
    text: str, window: Span, sentences: Sequence[_Sentence], near: FloatArray, similarity: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return how near the sentences are, with those that only report a rumour last ("A post claims …").

    The sentence nearest to a claim is often the one that repeats it. Where no other of the passage speaks of the claim
    it stays the nearest, so that a reader sees that the page only reports it.
    """
    said = [text[sentence.span.start : sentence.span.end] for sentence in sentences]
    is_rumour = [reports_rumour(words) for words in said]
    is_answered = any(
        not is_rumour[row]
        and _count_shared_characters(window, sentence.span) > 0
        and (similarity[row] >= _MIN_ANSWER_SIMILARITY or contradicts(said[row]))
        for row, sentence in enumerate(sentences)
    )
    penalty = np.array(is_rumour, dtype=np.float32) * (_RUMOUR_PENALTY if is_answered else 0.0)
    return near - penalty[:, None], similarity - penalty


def _choose_marks(
    window: Span, sentences: Sequence[_Sentence], near: FloatArray, similarity: FloatArray
) -> tuple[Span, ...]:
    """Return the sentences nearest to what is asked, then those nearest to one part of it, the post or a claim."""
    inside = _list_rows_inside(window, sentences)
    best = sorted(inside, key=lambda row: (-similarity[row], row))[:_MAX_MARKS]
    rows = [row for row in sorted(best) if similarity[row] >= similarity[best[0]] - _MAX_MARK_DISTANCE]
    rows += sorted({inside[near[inside, part].argmax()] for part in range(near.shape[1]) if inside} - set(rows))
    return _list_places(window, sentences, rows)


def _choose_key_sentences(
    window: Span, sentences: Sequence[_Sentence], near: FloatArray, similarity: FloatArray, to_searches: FloatArray
) -> tuple[Span, ...]:
    """Return the sentences that models are shown of a long passage, best first.

    Of the post and of each claim the nearest, as what answers a second claim may be far from the first; then those
    nearest to all that is asked and to a search: a search is worded as a page that answers the claim words it.
    """
    inside = _list_rows_inside(window, sentences)
    if not inside:
        return ()
    worth = similarity[inside] + (to_searches[inside].max(axis=1) if to_searches.shape[1] else 0.0)
    rows = [inside[near[inside, part].argmax()] for part in range(near.shape[1])]
    rows += [inside[place] for place in np.argsort(-worth, kind="stable")]
    return _list_places(window, sentences, list(dict.fromkeys(rows))[:_MAX_KEY_SENTENCES])


def _list_rows_inside(window: Span, sentences: Sequence[_Sentence]) -> list[int]:
    return [row for row, sentence in enumerate(sentences) if _count_shared_characters(window, sentence.span) > 0]


def _list_places(window: Span, sentences: Sequence[_Sentence], rows: Sequence[int]) -> tuple[Span, ...]:
    return tuple(
        Span(start=max(0, span.start - window.start), end=min(window.end, span.end) - window.start)
        for span in (sentences[row].span for row in rows)
    )


@dataclass(frozen=True, slots=True)
class ReadSource:
    """A source that was read, its whole text, and why it is here; `snippet` is what the search that found it showed."""

    source: Source
    text: str
    why: str
    snippet: str = ""


def build_evidence(
    post: Post,
    read: Sequence[ReadSource],
    embedder: Embedder,
    *,
    tokens: int = PASSAGE_TOKENS,
    overlap: int = _PASSAGE_OVERLAP,
    claims: Sequence[Claim] = (),
    searches: Sequence[str] = (),
    earlier: Sequence[Evidence] = (),
    first_number: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Evidence, ...]:
    """Return the best passage of each source (CrowdNotes+ D.2), and of records that share a page those that differ.

    `earlier` evidence whose source is still there keeps its id and the person's review; new passages
    follow it from "E<first_number>" on, the one most similar to the post first.
    """
    by_source = {item.source.id: item for item in earlier}
    kept: list[Evidence] = []
    unread: list[ReadSource] = []
    for item in read:
        before = by_source.get(item.source.id)
        if before is not None and before.source.text_sha256 == item.source.text_sha256:
            kept.append(before.replace(source=item.source))
        else:
            unread.append(item)
    if progress is not None:
        progress(len(kept), len(read))
    found = best_passages(
        # Why a person's own link is here says nothing of where in it the answer is.
        [Whole(item.text, item.source.page_starts, item.snippet, item.why if item.snippet else "") for item in unread],
        post.text,
        embedder,
        tokens=tokens,
        overlap=overlap,
        claims=[words for words in (claim.in_full for claim in claims) if words != post.text],
        searches=searches,
    )
    fresh = list(zip(unread, found, strict=True))
    fresh.sort(key=lambda pair: pair[1].similarity, reverse=True)
    asked = [post.text, *(words for claim in claims for words in (claim.in_full, claim.settled_by))]
    fresh = _drop_repeated_pages(fresh, kept, asked)
    added = [
        Evidence(id=f"E{first_number + i}", source=item.source, passage=passage, rank=len(kept) + i + 1, why=item.why)
        for i, (item, passage) in enumerate(fresh)
    ]
    return (*kept, *added)


def _drop_repeated_pages(
    fresh: Sequence[tuple[ReadSource, Passage]], kept: Sequence[Evidence], asked: Sequence[str]
) -> list[tuple[ReadSource, Passage]]:
    """Without library records whose page is there by a better one and that answer no other part of what is asked.

    A record answers another part when its passage holds a content word that no better passage of the page holds: of
    the post, its claims, what would settle them, or of the reason for which this record was picked.
    """
    wanted = _collect_content_stems(asked)
    answered: dict[str, frozenset[str]] = {}
    for before in kept:
        page = _identify_page(before.source)
        answered[page] = answered.get(page, frozenset()) | wanted.intersection(word_stems(before.passage.text))
    found: list[tuple[ReadSource, Passage]] = []
    for item, passage in fresh:
        page, picked_for = _identify_page(item.source), _collect_content_stems([item.why] if item.snippet else [])
        answers = (wanted | picked_for).intersection(word_stems(passage.text))
        if item.source.library is None or page not in answered or answers - answered[page]:
            found.append((item, passage))
            answered[page] = answered.get(page, frozenset()) | answers
    return found


def _collect_content_stems(texts: Sequence[str]) -> frozenset[str]:
    return frozenset(stem(word) for text in texts for word in content_words(text))


def _identify_page(source: Source) -> str:
    return canonical_url(source.url) if source.url else source.id
