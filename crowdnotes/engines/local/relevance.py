"""Judges which evidence is about a post (gate 1), and finds sentences that a person may quote.

The gate asks whether any passage helps to judge the post (CrowdNotes+ 4.3 and E.1): a cosine and its threshold. The
sentences are whole and nearest to the post, one that denies it first. None is joined, cut or reworded: in the trial of
that, notes came to support the falsehood.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from crowdnotes.domain import Evidence, Finding, GateName, GateResult, GateStatus, Passage, Post, Quotation, Span
from crowdnotes.engines.embedding import Embedder, FloatArray
from crowdnotes.engines.local.health_terms import foreign_passages, foreign_post, in_english
from crowdnotes.engines.local.queries import find_claims
from crowdnotes.engines.local.repeated_claims import claims_of, repeating_passages, repeats
from crowdnotes.engines.local.tone import (
    HEDGE,
    contradicts,
    denies,
    limits_previous,
    mentions_rumour,
    reports_rumour,
    states_scope,
)
from crowdnotes.text.boilerplate import is_boilerplate
from crowdnotes.text.note_rules import NOTE_LIMIT, URL_WEIGHT
from crowdnotes.text.plain_letters import plain_letters
from crowdnotes.text.publishers import publisher_name
from crowdnotes.text.sentences import split_sentences, split_units
from crowdnotes.text.tokens import content_stems, content_tokens, is_spaceless, plain_post, words
from crowdnotes.wording import fill, plural

_MIN_DIGITS = 2
_MAX_DIGITS = 4


def of_needed(score: float, threshold: float) -> str:
    """Return "0.55 of the 0.82 needed", with as many of two to four digits as make both differ."""
    for digits in range(_MIN_DIGITS, _MAX_DIGITS + 1):
        if f"{score:.{digits}f}" != f"{threshold:.{digits}f}":
            break
    else:
        digits = _MIN_DIGITS
    return f"{score:.{digits}f} of the {threshold:.{digits}f} needed"


def judge_relevance(embedder: Embedder, post: Post, evidence: Sequence[Evidence]) -> GateResult:
    """Return PASS if a passage that is not satire reaches the threshold, with one finding per passage.

    NOT_RUN without a post or passages, for a post in another language than English, and if only foreign passages may be
    relevant.
    """
    question = plain_post(post.text)
    foreign = foreign_post(post)
    if foreign:
        return GateResult.not_run(GateName.RELEVANCE, foreign)
    if not evidence:
        return GateResult.not_run(GateName.RELEVANCE, "There are no sources to judge yet.")
    if not question:
        return GateResult.not_run(GateName.RELEVANCE, "The post has no text to compare the sources with.")
    not_compared, evidence = foreign_passages(evidence), in_english(evidence)
    if not evidence:
        return GateResult.not_run(GateName.RELEVANCE, not_compared)
    threshold = embedder.thresholds.relevant
    # Undisclosed satire cannot reach the threshold, however near it is in meaning.
    scores = [
        min(score, threshold - 0.01) if _is_undisclosed_satire(item) else score
        for item, score in zip(
            evidence, _score_nearness(embedder, _list_post_texts(post, question), evidence), strict=True
        )
    ]
    findings = tuple(
        _build_relevance_finding(question, *pair, threshold) for pair in zip(evidence, scores, strict=True)
    )
    helpful = sum(finding.ok for finding in findings)
    if not helpful and not_compared:
        return GateResult.not_run(GateName.RELEVANCE, not_compared).replace(findings=findings)
    near = f"{_describe_relevant_count(helpful, len(scores))} {not_compared}".rstrip()
    return GateResult(
        gate=GateName.RELEVANCE,
        status=GateStatus.PASS if helpful else GateStatus.FAIL,
        reason=near if helpful else "No source is close enough to the post to help judge it.",
        score=round(max(scores), 4),
        threshold=threshold,
        findings=findings,
    )


def nothing_relevant(post: Post, evidence: Sequence[Evidence], line: float) -> bool:
    """Return whether every passage is further from an English post than `line`, so none seems to be about its claim.

    It reports clear cases alone. With the threshold of the relevance gate it doubted at most 1 in 20 of one set of
    claims whose pages a library held. Of 27 of another set it doubted none (95 %: 0 to 12 in 100). Of 30 whose pages
    were removed it noticed 4 (5 to 30 in 100), as what remains is mostly of the same field, and still near. Languages
    are those recorded when the pages were read; a passage that a person copied is never doubted.
    """
    languages = {(post.language or "en")[:2], *((item.source.language or "en")[:2] for item in evidence)}
    if not evidence or languages != {"en"} or any(item.source.by_hand for item in evidence):
        return False
    return max(item.passage.similarity for item in evidence) < line


_WEAK_SHARE = 0.8  # of the relevance gate's threshold: nearer ones may state the claim in other words


def weak_sources(post: Post, evidence: Sequence[Evidence], line: float) -> frozenset[str]:
    """Return the ids of the passages that have little to do with the post: all if none reaches `line`.

    Passages and posts in another language than English are not compared, and what a person added is never weak.
    """
    if nothing_relevant(post, evidence, line):
        return frozenset(item.id for item in evidence)
    return frozenset(item.id for item in evidence if is_far(post, item, line))


def is_far(post: Post, item: Evidence, line: float) -> bool:
    """Return whether a passage has little to do with the post; False where that is not known, as in `weak_sources`."""
    if item.source.by_hand or any((language or "en")[:2] != "en" for language in (post.language, item.source.language)):
        return False
    return item.passage.similarity < _WEAK_SHARE * line


def _describe_relevant_count(helpful: int, passages: int) -> str:
    if helpful < passages:
        return plural(
            helpful,
            "{n} of {all} sources is about this claim.",
            "{n} of {all} sources are about this claim.",
            all=passages,
        )
    return (
        "Both sources are about this claim."
        if passages == 2
        else plural(passages, "The source is about this claim.", "All {n} sources are about this claim.")
    )


def _list_post_texts(post: Post, question: str) -> list[str]:
    """Return what passages are compared with: the post's words (`question`), then each of its claims."""
    return [question, *(plain_letters(claim.text) for claim in find_claims(post))]


def _score_against_nearest(embedder: Embedder, asked: Sequence[str], texts: Sequence[str]) -> FloatArray:
    """Return the cosine of each text to the nearest of `asked`; shape (texts,)."""
    vectors = embedder.encode([*asked, *texts])
    near: FloatArray = (vectors[len(asked) :] @ vectors[: len(asked)].T).max(axis=1)
    return near


def _score_nearness(embedder: Embedder, asked: Sequence[str], evidence: Sequence[Evidence]) -> list[float]:
    """Return for each passage the mean of its whole and its nearest piece, to the post or a claim, in [0, 1]."""
    texts = [[item.passage.text, *(unit.text for unit in split_units(item.passage.text))] for item in evidence]
    near = _score_against_nearest(embedder, asked, [text for of_one in texts for text in of_one])
    out = []
    for of_one in texts:
        block, near = near[: len(of_one)], near[len(of_one) :]
        out.append(float(np.clip((block[0] + block[1:].max(initial=block[0])) / 2, 0.0, 1.0)))
    return out


_SATIRE_WORD = re.compile(
    r"\b(?:satir(?:e|ical|ist\w*)|parod(?:y|ies)|spoof\w*|(?:purely|entirely|all) fictional|"
    r"for entertainment purposes only|humou?r (?:site|website|paper|magazine|column))\b",
    re.IGNORECASE,
)
_SELF_REFERENCE = re.compile(
    r"\b(?:we|our|us|this (?:is|site|website|page|paper|newspaper|article|story|publication|account|magazine))\b",
    re.IGNORECASE,
)


def _is_undisclosed_satire(item: Evidence) -> bool:
    """Return whether the source says of itself that it is satire, and this passage does not.

    A page that reports on someone else's satire is not: the sentence must name the source or say "we".
    """
    source, passage = item.source, item.passage
    if _SATIRE_WORD.search(passage.text):
        return False
    if _SATIRE_WORD.search(f"{source.title} {source.publisher or ''}"):
        return True
    own = {token.folded for token in content_tokens(source.publisher or publisher_name(source) or source.title)}
    for text in (passage.before, passage.after):
        for span in split_sentences(text) if _SATIRE_WORD.search(text) else ():
            sentence = text[span.start : span.end]
            words = {token.folded for token in content_tokens(sentence)}
            if _SATIRE_WORD.search(sentence) and (_SELF_REFERENCE.search(sentence) or (own and own <= words)):
                return True
    return False


def _build_relevance_finding(question: str, item: Evidence, score: float, threshold: float) -> Finding:
    if _is_undisclosed_satire(item):
        message = f"{item.id} is not about this claim: its site is satire, which this text does not say."
        return Finding(message=message, evidence_id=item.id)
    ok = score >= threshold
    in_passage = content_stems(item.passage.text)
    shared = dict.fromkeys(token.folded for token in content_tokens(question) if token.stem in in_passage)
    about = f"both mention {', '.join(list(shared)[:3])}" if shared else "they share no keyword"
    text = "{id} is about the post: {score}; {words}." if ok else "{id} is too far from the post: {score}; {words}."
    message = fill(text, id=item.id, score=of_needed(score, threshold), words=about)
    return Finding(message=message, evidence_id=item.id, ok=ok)


_SENTENCE_END_MARKS = ".!…。！۔\"'”’)"  # without one it is a heading, a question, or cut off at the passage's edge
# Refers to something in the sentence before, which the quotation would lack.
# "This bulletin" is the page itself, which the note names and links.
_DEPENDENT_START = re.compile(
    r"(?!this (?:bulletin|report|release|page|website|guidance|factsheet|statement|update|advisory)\b)"
    r"(?:this|these|that|those|it|they|them|he|she|its|their|his|her|such|but|however|also|for example)\b",
    re.IGNORECASE,
)
_MIN_QUOTED_WORDS = 4  # content words; a heading has fewer
_MIN_DENIAL_WORDS = 3  # "There is no cure for type 1 diabetes." is neither a heading nor an order
_DENYING_STATEMENT = re.compile(
    r"\w\W+(?:(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)(?:n['’]t| not| no| never)|cannot)\b",
    re.IGNORECASE,
)
_FLATTENED_LIST = re.compile(r"\s[-•*]\s.*\s[-•*]\s", re.DOTALL)  # a list whose lines ran together
_MAX_QUOTED_CHARACTERS = NOTE_LIMIT - URL_WEIGHT - len("“” ")  # longer ones fit into no note


def find_quotations(embedder: Embedder, post: Post, evidence: Sequence[Evidence], most: int) -> tuple[Quotation, ...]:
    """Return at most `most` sentences to quote, plain denials first; none for a post without words.

    None from passages that are satire or only repeat the post, and no sentence that says what the post says.
    """
    question = plain_post(post.whole_text)
    said, repeating = claims_of(post), repeating_passages(post, evidence)
    usable = [
        (item, *quotable)
        for item in evidence
        if not _is_undisclosed_satire(item) and item.id not in repeating
        for quotable in _find_quotable_sentences(item.passage)
        if not repeats(item.passage.text[quotable[0].start : quotable[0].end], said)
    ]
    if not question or not usable:
        return ()
    asked = _list_post_texts(post, question)
    texts = [item.passage.text[sentence.start : sentence.end] for item, sentence, _ in usable]
    near = _score_against_nearest(embedder, asked, texts)
    claim = asked[1] if len(asked) > 1 else question
    places = [_rank_quotation(text, claim) for text in texts]
    first_of = {text: row for row, text in reversed(list(enumerate(texts)))}  # the same words in two passages
    plain = [row for row in first_of.values() if places[row] == 0]
    others = [row for row in first_of.values() if places[row] > 0]
    chosen = [*sorted(plain, key=lambda row: -near[row]), *sorted(others, key=lambda row: -near[row])][:most]
    chosen.sort(key=lambda row: places[row])
    return tuple(Quotation(evidence_id=usable[row][0].id, span=usable[row][2]) for row in chosen)


_MIN_ANSWERED_SHARE = 0.6  # of the claim's content words


def _rank_quotation(sentence: str, claim: str) -> int:
    """Return 0 for a plain answer to the claim, 1 for what otherwise contradicts it, else 2."""
    if contradicts(sentence) == denies(claim):
        return 2
    wanted = content_stems(claim)
    answers = bool(wanted) and len(wanted & content_stems(sentence)) >= _MIN_ANSWERED_SHARE * len(wanted)
    return 0 if answers and not HEDGE.search(sentence) and not mentions_rumour(sentence) else 1


def _find_quotable_sentences(passage: Passage) -> list[tuple[Span, Span]]:
    """Return sentences that state something by themselves: no question, heading, list intro, rumour or notice.

    Each with its quotation: itself, the next one if that limits it, and the one before if the paragraph begins with
    whom it holds for.
    """
    text, sentences = passage.text, split_sentences(passage.text)
    quoting = _find_quoted_sentences(text, sentences)
    after = split_sentences(passage.after.lstrip()[:_MAX_QUOTED_CHARACTERS])
    found = []
    for place, span in enumerate(sentences):
        words = text[span.start : span.end]
        if (
            place in quoting
            or words[-1] not in _SENTENCE_END_MARKS
            or _DEPENDENT_START.match(words)
            or _FLATTENED_LIST.search(words)
            or reports_rumour(words)
            or is_boilerplate(words)
            or not _is_full_statement(words)
        ):
            continue
        last = place
        while last + 1 < len(sentences) and limits_previous(text[sentences[last + 1].start : sentences[last + 1].end]):
            last += 1
        is_cut = last + 1 == len(sentences) and after and limits_previous(passage.after.lstrip()[: after[0].end])
        first = place - 1 if _opens_with_scope(text, sentences, place) else place
        quoted = Span(start=sentences[first].start, end=sentences[last].end)
        if not is_cut and quoted.end - quoted.start <= _MAX_QUOTED_CHARACTERS:
            found.append((span, quoted))
    return found


def _opens_with_scope(text: str, sentences: Sequence[Span], place: int) -> bool:
    """Return whether the sentence before opens the paragraph and says for whom the rest holds."""
    if place == 0 or "\n" in text[sentences[place - 1].end : sentences[place].start]:
        return False
    before = sentences[place - 1]
    opens = place == 1 or "\n" in text[sentences[place - 2].end : before.start]
    return opens and states_scope(text[before.start : before.end])


def _find_quoted_sentences(text: str, sentences: Sequence[Span]) -> set[int]:
    """Return the places of sentences inside a quotation that spans several sentences."""
    found: set[int] = set()
    is_open = False
    for place, span in enumerate(sentences):
        before = sentences[place - 1].end if place else 0
        is_open = is_open and "\n" not in text[before : span.start]
        was_open = is_open
        for mark in _QUOTATION_MARK.findall(text, span.start, span.end):
            is_open = mark == "“" or (mark == '"' and not is_open)
        if was_open or is_open:
            found.add(place)
    return found


_QUOTATION_MARK = re.compile(r"[“”\"]")


_CHARACTERS_PER_SPACELESS_WORD = 2  # of Chinese, Japanese or Thai, whose sentences are one token


def _is_full_statement(sentence: str) -> bool:
    fewest = _MIN_DENIAL_WORDS if _DENYING_STATEMENT.search(sentence) else _MIN_QUOTED_WORDS
    spaceless = sum(is_spaceless(word) for word in words(sentence)) // _CHARACTERS_PER_SPACELESS_WORD
    return max(len(content_tokens(sentence)), spaceless) >= fewest
