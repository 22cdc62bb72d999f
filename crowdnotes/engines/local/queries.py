"""Find the checkable claims of a post, and build diverse searches for them.

CrowdNotes+ 4.2 asks for diverse queries: the claim, its denial, the medical terms, the authority, the study. Every word
of a query is the post's own, a term from the table of health terms, or a fixed word such as "facts". For a post in
another language half of the searches are in that language, half in English: its authorities and fact-checkers write in
its language, and most research is in English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, zip_longest

from crowdnotes.domain import Aim, Claim, ClaimKind, Post, Query
from crowdnotes.engines.local.health_terms import (
    CAUSAL_WORDS,
    Known,
    Topic,
    find_terms,
    find_topics,
    is_health_word,
    known_words,
    search_words,
)
from crowdnotes.text.languages import language_of
from crowdnotes.text.plain_letters import plain_letters
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.tokens import content_stems, content_tokens, is_content, plain_post, stem, tokens

_MAX_CLAIMS = 8
_MIN_CHECKABILITY = 1.0
_PERSONAL_EVENT_PENALTY = 1.0
_MAX_READ_SENTENCES = 200  # a 25,000-character thread makes its claims well before
_QUESTION_START = re.compile(
    r"^\W*(?:why|who|where|did|does|do you|have you|are you|can you|is it|should)\b", re.IGNORECASE
)
_DID_YOU_KNOW = re.compile(r"^\W*(?:and )?did you know\b", re.IGNORECASE)
_ASSERTING_WORD = re.compile(
    r"\b(is|are|was|were|has|have|had|do|does|did|(?:do|does|did|ca|is|are)n['’]t|will|can|cannot|never|no|helps?|exists?)\b",
    re.IGNORECASE,
)
_DENYING_WORD = re.compile(r"\b(no|not|never|(?:is|are|was|were|do|does)n['’]t|fake|hoax)\b", re.IGNORECASE)
# What happened to the writer, or on that day.
_PERSONAL_EVENT = re.compile(
    r"(?<!type )(?<!stage )(?<!phase )\b(?-i:I)\b|\b(?:my|me|mine|myself|today|yesterday|tonight|"
    r"(?:this|last) (?:morning|evening|night|week))\b",
    re.IGNORECASE,
)
_HASHTAG = re.compile(r"#\w+")


def find_claims(post: Post) -> list[Claim]:
    """Return at most 8 statements with their spans in `post.text`, most checkable first; may be empty.

    A sentence scores by its numbers, causal words, health terms and names; questions and bare links or hashtags do not
    count.
    """
    scored: list[tuple[float, Claim]] = []
    for index, span in enumerate(split_sentences(post.text)[:_MAX_READ_SENTENCES]):
        sentence = post.text[span.start : span.end]
        score = checkability(sentence)
        if score >= _MIN_CHECKABILITY:
            plain = plain_post(sentence)
            score -= 0.02 * index
            score -= _PERSONAL_EVENT_PENALTY * (_PERSONAL_EVENT.search(plain) is not None)
            scored.append((-score, Claim(text=sentence, span=span)))
    scored.sort(key=lambda item: item[0])
    return [claim for _, claim in scored[:_MAX_CLAIMS]]


def checkability(sentence: str) -> float:
    """Return how checkable a sentence is: 0 for not at all, about 2 and up for a clear statement."""
    plain = plain_post(sentence)
    content = content_tokens(plain)
    # One word is enough to deny: "There was no pandemic."
    health = {word.start for word in content if is_health_word(word)}
    health |= {term.start for term in find_terms(plain) if not term.is_broad}
    denies = len(content) == 1 and health and _DENYING_WORD.search(plain) and len(plain.split()) > 2
    if len(content) < 2 and not denies:
        return 0.0
    if len(_HASHTAG.findall(sentence)) >= 2 and len(content_tokens(_HASHTAG.sub(" ", sentence))) < 2:
        return 0.0  # a row of tags makes no claim
    words = tokens(plain)
    score = 0.0
    score += 1.0 if any(token.folded[0].isdigit() for token in words) else 0.0
    score += 1.0 if any(token.folded in CAUSAL_WORDS for token in words) else 0.0
    score += 0.6 * min(3, len(health))
    score += 0.4 if any(token.text[0].isupper() for token in words[1:]) and not plain.isupper() else 0.0
    score += 0.5 if _DENYING_WORD.search(plain) and health else 0.0
    score += 0.5 if _ASSERTING_WORD.search(plain) else 0.0
    if _DID_YOU_KNOW.match(plain):
        score += 0.5  # it asks nothing
    elif _is_question(plain) or _QUESTION_START.match(plain):
        score -= 2.0
    if not plain.isascii() and not any("a" <= letter <= "z" for letter in plain.lower()):
        score += 1.5  # no word lists for other scripts: take a statement as a statement
    return max(0.0, score)


def _is_question(text: str) -> bool:
    """Return whether a text ends in a question mark; a pattern would restart at each closing mark."""
    for character in reversed(text):
        if character in "?؟？":
            return True
        if character.isalnum() or character == "_":
            break
    return False


_WORDS_BY_KIND = (
    (
        ClaimKind.SATIRE,
        re.compile(
            r"(?<!not )(?<!n't )(?<!n’t )\b(?:satir(?:e|ical)|parody|spoof|just kidding|(?:just |only )a joke|"
            r"purely fictional)\b",
            re.IGNORECASE,
        ),
    ),
    (
        ClaimKind.OPINION,
        re.compile(
            r"\bi (?:really |just |personally |honestly |strongly )?(?:think|believe|feel|guess|reckon|hope|wish|love|"
            r"hate|prefer)\b|\bin my (?:humble |honest )?(?:opinion|view)\b|\bmy (?:opinion|view|take)\b|\bimh?o\b|"
            r"\b(?:unpopular|personal) opinion\b|\bhot take\b|\b(?:seems|looks) to me\b|\bif you ask me\b",
            re.IGNORECASE,
        ),
    ),
    (
        ClaimKind.PREDICTION,
        re.compile(
            r"(?:^|[.!?:]\s+)(?:just |now )?imagine\b|\bmark my words\b|\b(?:i|we) predict\b|\bprediction:|"
            r"\bi(?:'d|’d)? bet\b|"
            r"\bwhat if\b|\b(?:will|(?:is|are) going to) (?:probably|likely|soon|never)\b|"
            r"\b(?:probably|likely|soon|one day|some ?day) will\b|\bit will be\b",
            re.IGNORECASE,
        ),
    ),
)
# Words of prediction, and of the future: no source can settle a post with both yet.
_FORETELLING = re.compile(
    r"\bmark my words\b|\b(?:i|we) predict\b|\bprediction:|\byou heard it here first\b|"
    r"\bcalling it (?:now|today|early)\b|\b(?:screenshot|bookmark|save) this\b|\bjust (?:you )?wait\b",
    re.IGNORECASE,
)
_FUTURE = re.compile(r"\b(?:will|won['’]t|gonna|(?:is|are|am) (?:not )?going to)\b|\w['’]ll\b", re.IGNORECASE)
_BY_YEAR = re.compile(r"\b(?:by|before|in) (?:the year )?20\d\d\b|\b(?:in|within) (?:\w+|\d+) years\b", re.IGNORECASE)
# Praise and blame, which no source settles.
_TASTE = re.compile(
    r"\b(?:is|are|was|were|\w['’]s) (?:so |just |really |absolutely |the most )?"
    r"(?:over-?rated|underrated|boring|disgusting|delicious|beautiful|ugly|hideous|gorgeous|awful|awesome|cringe|trash"
    r"|hilarious|an? (?:joke|disgrace))\b"
    r"|\b(?:best|worst|greatest|ugliest|prettiest|funniest|most (?:beautiful|boring|overrated)) (?:\w+ ){1,3}"
    r"(?:ever\b|of all time\b|in (?:town|the world)\b)"
    r"|\b(?:is|are) (?:so much |way |far )?(?:better|worse|nicer) than\b"
    r"|\bwhat an? (?:disgrace|beautiful|lovely|shame|joke|mess)\b"
    r"|\bshould(?:n['’]t)? (?:not )?(?:resign|have to|be ashamed)\b"
    r"|\b(?:is|are) (?:way |far )?too (?:high|low|long|short|expensive|loud)\b",
    re.IGNORECASE,
)
# Of 61 posts known to need a note or not, these rules flag two, and neither needed one; of 439 health posts with a
# note that readers found helpful, four.
_MAX_STATED = 1.5  # checkability of the other sentences, from which the post also states a fact
_MAX_MEANT = 2.0  # of the sentence with these words: "I think vaccines cause autism" is a claim
_MAX_TASTE = 1.0  # of every sentence of a post with words of taste alone


def uncheckable_words(post: Post) -> tuple[ClaimKind, str] | None:
    """Return the kind that a post's own words name, and these words; None where it also states a fact.

    A hint, no verdict: for a person who has no model to ask.
    """
    text = plain_post(post.text)
    sentences = [text[span.start : span.end] for span in split_sentences(text)[:_MAX_READ_SENTENCES]]
    for kind, pattern in _WORDS_BY_KIND:
        if (found := pattern.search(text)) is None:
            continue
        words = found.group().strip(" .!?:")
        if kind is ClaimKind.SATIRE:
            return kind, words
        meant = max((checkability(said) for said in sentences if pattern.search(said)), default=0.0)
        stated = max((checkability(said) for said in sentences if not pattern.search(said)), default=0.0)
        if meant < _MAX_MEANT and stated < _MAX_STATED:
            return kind, words
    if (found := _foretelling_words(text, sentences)) is not None:
        return ClaimKind.PREDICTION, found.group().strip(" .!?:,")
    found = _TASTE.search(text)
    if found is not None and max(map(checkability, sentences), default=0.0) < _MAX_TASTE:
        return ClaimKind.OPINION, found.group()
    return None


def _foretelling_words(text: str, sentences: Sequence[str]) -> re.Match[str] | None:
    """Return the words that make a post a prediction, if all that it states is in the future."""
    foretold = [said for said in sentences if _FUTURE.search(said)]
    stated = max((checkability(said) for said in sentences if said not in foretold), default=0.0)
    if not foretold or stated >= _MAX_STATED:
        return None
    if (found := _FORETELLING.search(text)) is not None:
        return found
    dated = ((said, _BY_YEAR.search(said)) for said in foretold)
    return next((year for said, year in dated if year and checkability(_BY_YEAR.sub("", said)) < _MAX_STATED), None)


_MAX_QUERY_CHARACTERS = 160
_MAX_LABEL_CHARACTERS = 60
_MAX_CLAIM_WORDS = 14
# They say how the writer speaks, and no page is found by them.
_ASIDES = frozenset("honestly frankly tbh imo imho lol lmao smh".split())


def query(text: str, purpose: str, language: str | None = "en", *, before: str = "") -> Query:
    """Return a query of at most 160 characters, with each word once: terms and headings share words.

    `before` is a name that stays whole and comes first ("National Cancer Institute").
    """
    first: dict[str, str] = {}
    for word in text.split():
        first.setdefault(word.casefold(), word)
    once = " ".join(first.values())
    return Query(text=clip(f"{before} {once}"), purpose=purpose, language=language)


def claim_words(claims: Sequence[Claim], text: str) -> str:
    """Return the first claim's words, or the text's."""
    return shortened(claims[0].text if claims else text)


def shortened(text: str) -> str:
    """Return a text as a search: its words up to the 14th content word, without punctuation."""
    kept = []
    count = 0
    for token in tokens(plain_post(text)):
        if token.folded in _ASIDES:
            continue
        count += is_content(token.folded)
        if count > _MAX_CLAIM_WORDS:
            break
        kept.append(token.text)
    return " ".join(kept)


def clip(text: str) -> str:
    """Cut a text to 160 characters, between words where there are any."""
    text = re.sub(r"\s+", " ", text).strip()
    return (
        text
        if len(text) <= _MAX_QUERY_CHARACTERS
        else (text[:_MAX_QUERY_CHARACTERS].rsplit(" ", 1)[0] or text[:_MAX_QUERY_CHARACTERS])
    )


def label_of(text: str) -> str:
    """Return the words of a topic, shortened for the purpose of a query."""
    return text if len(text) <= _MAX_LABEL_CHARACTERS else f"{text[:_MAX_LABEL_CHARACTERS]}…"


def distinct(queries: Sequence[Query]) -> list[Query]:
    """Return the queries without those that have the same content words as an earlier one."""
    kept: dict[frozenset[str], Query] = {}
    for one in queries:
        if one.text:
            kept.setdefault(content_stems(one.text) or frozenset([one.text]), one)
    return list(kept.values())


_CLAIM = "the claim"
# What posts say of a disease or a remedy that names no subject, and that medical sources write about.
_SAID_OF_SUBJECT = frozenset(
    map(
        stem,
        "contagious infectious transmissible hereditary inherited curable incurable reversible irreversible addictive "
        "deadly lethal fatal harmful dangerous effective ineffective".split(),
    )
)
_MAX_SAID = 2
_WHO_SAYS_IT = frozenset({"doctor", "doctors", "physician", "physicians"})  # health words that no claim is about
_MAX_CORE_TOPICS = 3  # what a post is about; further topics are asides
_AUTHORITY_BY_PATTERN = tuple(
    (re.compile(pattern, re.IGNORECASE), name)
    for pattern, name in (
        (r"vaccin|vax|\bjabs?\b|immuni[sz]|mrna|covid|measles|polio|flu\b|virus|outbreak|infect", "CDC"),
        (r"\b(?:drugs?|pills?|medicines?|ivermectin|foods?|supplements?|milk|additives?|approv\w+|recall\w*)\b", "FDA"),
        (r"cancer|tumou?r|chemo", "National Cancer Institute"),
    )
)


def to_judge(topics: Sequence[Topic], claims: Sequence[Claim], text: str) -> list[Query]:
    """Return searches for judging the post, the most useful first."""
    core = topics[:_MAX_CORE_TOPICS]
    subject = core[0]
    known = [topic for topic in core if topic.is_known]
    said = dict.fromkeys(token.folded for token in tokens(plain_post(text)) if token.stem in _SAID_OF_SUBJECT)
    medical = " ".join([_join_official(known), *list(said)[:_MAX_SAID]])
    claim = claim_words(claims, text)
    denial = query(claim, "evidence against it", before="no evidence that")
    if not known:
        main = query(_join_official(core), "the post's main words")
        return [query(claim, _CLAIM), main, denial, query(claim, "fact-checks", before="fact check")]
    found = [query(claim, _CLAIM), query(medical, "the claim in medical terms")]
    found.extend(query(topic.official, f"overview of {label_of(topic.text)}") for topic in known[:2])
    found.append(denial)
    authority = next((name for pattern, name in _AUTHORITY_BY_PATTERN if pattern.search(text)), "WHO")
    found.append(query(f"{subject.official} facts", f"what the {authority} says about it", before=authority))
    found.append(query(f"{medical} systematic review study", "studies on it"))
    found.extend(
        query(f"{topic.official} {subject.official}", f"also in the post: {label_of(topic.text)}")
        for topic in [topic for topic in topics[_MAX_CORE_TOPICS:] if topic.is_known][:3]  # others are stray words
    )
    return found


def for_the_claim(topics: Sequence[Topic], claims: Sequence[Claim], text: str) -> list[Query]:
    """Return searches for the best evidence that supports the claim."""
    core = topics[:_MAX_CORE_TOPICS]
    medical = _join_official([topic for topic in core if topic.is_known] or core)
    return [
        query(claim_words(claims, text), _CLAIM),
        query(f"{medical} evidence supports", "evidence for the claim"),
        query(f"{medical} systematic review study", "studies for the claim"),
        query(f"{core[0].official} case reports", "case reports"),
        query(f"{medical} association increased risk", "figures for the claim"),
    ]


def _join_official(topics: Sequence[Topic]) -> str:
    return " ".join(topic.official for topic in topics)


def more_like(subject: str, passage: str) -> list[Query]:
    """Return searches for similar passages: their terms with the post's subject, and their own words."""
    topics = find_topics(passage)
    own = ([topic for topic in topics if topic.is_known] or topics)[:4]
    words = " ".join(topic.official for topic in own)
    return [
        query(f"{subject} {words}", "more like this: its terms with the post's subject"),
        query(shortened(passage), "more like this: in its own words"),
        *(
            query(f"{topic.official} {subject}", f"more on {label_of(topic.text)}")
            for topic in own
            if not _stem_words(topic.official) <= _stem_words(subject)
        ),
    ]


def _stem_words(text: str) -> frozenset[str]:
    return frozenset(token.stem for token in tokens(text))


_MAX_SUBJECTS = 3


def in_two_languages(text: str, claims: Sequence[Claim], language: str, aim: Aim, like: str) -> list[Query]:
    """Return queries for a post's whole text, which must have words; the claim in its own words first."""
    known = known_words(text, language)
    own = _describe_subject(text, known)
    if like:
        return _build_similar_queries(own, known, language, like)
    claim = query(claim_words(claims, text), "the claim, in the post's language", language)
    if aim is Aim.OTHER_SIDE:
        kinds = {"support": "evidence for it, in the post's language"}
    else:
        kinds = {
            "denial": "evidence against it, in the post's language",
            "check": "fact-checks, in the post's language",
        }
    said = {purpose: search_words(kind, language) for kind, purpose in kinds.items()}
    asked = [query(f"{own} {words}", purpose, language) for purpose, words in said.items() if words]
    english = _build_english_queries(known, aim)
    by_turns = chain.from_iterable(zip_longest(asked, english[2:]))
    return [claim, *english[:2], *filter(None, by_turns)]


def _describe_subject(text: str, known: Sequence[Known]) -> str:
    """Return the post's subject in its own words: words of the table, else its strongest phrases."""
    subjects = list(dict.fromkeys(word.text for word in known if word.is_subject))
    return " ".join(subjects[:_MAX_SUBJECTS] or [topic.text for topic in find_topics(text)[:2]])


def _build_english_queries(known: Sequence[Known], aim: Aim) -> list[Query]:
    words = " ".join(dict.fromkeys(word.english for word in known))
    topics = [topic for topic in find_topics(words) if topic.text.lower() not in _WHO_SAYS_IT]
    if not topics:
        return []
    found = for_the_claim(topics, [], words) if aim is Aim.OTHER_SIDE else to_judge(topics, [], words)
    return [_mark_translated(one) for one in found]


def _build_similar_queries(own: str, known: Sequence[Known], language: str, like: str) -> list[Query]:
    """Return searches for passages like one in the post's language, in English or in a third."""
    passages = language_of(like) or language
    subjects = [word.english for word in known if word.is_subject]
    if passages == "en":
        return more_like(" ".join(subjects[:1]), like)
    there = known_words(like, passages)
    terms = " ".join(dict.fromkeys(word.text for word in there if word.is_subject))
    before = own if passages == language else ""
    english = " ".join(dict.fromkeys(word.english for word in there))
    return [
        query(f"{before} {terms}", "more like this: its terms", passages),
        query(shortened(like), "more like this: in its own words", passages),
        *(_mark_translated(one) for one in (more_like(" ".join(subjects[:1]), english) if english else [])),
    ]


def _mark_translated(one: Query) -> Query:
    return one.replace(purpose=f"{one.purpose}, translated word by word")


_ENGLISH = "en"


def build_queries(
    post: Post, claims: Sequence[Claim], limit: int, *, aim: Aim = Aim.JUDGE, like: str = ""
) -> list[Query]:
    """Return at most `limit` queries, each with its own purpose; none if the post has nothing to search for.

    With Aim.OTHER_SIDE they look for support of the claim; with `like`, for similar passages. A post whose language is
    not known is searched as an English one.
    """
    text = plain_letters(post.whole_text)
    topics = find_topics(text)
    topics = [topic for topic in topics if topic.text.lower() not in _WHO_SAYS_IT] or topics
    if not topics or limit <= 0:
        return []
    language = (post.language or language_of(text) or _ENGLISH).split("-")[0].lower()
    if {language, language_of(like) or _ENGLISH} != {_ENGLISH}:
        found = in_two_languages(text, claims, language, aim, like)
    elif like:
        found = more_like(topics[0].official, like)
    elif aim is Aim.OTHER_SIDE:
        found = for_the_claim(topics, claims, text)
    else:
        found = to_judge(topics, claims, text)
    return distinct(found)[:limit]
