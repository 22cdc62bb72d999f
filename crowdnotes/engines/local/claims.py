"""Checkable statements of a post: sentences that assert something, most checkable first; motives come last."""

from __future__ import annotations

import re

from crowdnotes.domain import Claim, Post
from crowdnotes.engines.local.lexicon import CAUSAL_WORDS, find_terms
from crowdnotes.engines.local.topics import is_health_word
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.stems import content_tokens, plain_post, tokens

_ACTORS = (
    r"\b(?:they|he|nobody|no one|doctors?|physicians?|surgeons?|\w+ologists?|scientists?|researchers|experts?|"
    r"(?:big )?(?:pharma|tech|food)|industry|compan(?:y|ies)|corporations?|manufacturers|governments?|politicians?|"
    r"elites?|media|press|hospitals?|authorit(?:y|ies)|agenc(?:y|ies)|associations?|lobby|establishment|"
    r"(?-i:FDA|CDC|WHO|NIH|NHS|EMA)|pfizer|moderna|merck|monsanto|bayer|fauci|gates)\b"
)
# What is said to be kept from people. "Cover up burns" and "suppress the immune system" keep nothing from anybody.
_HIDDEN = (
    r"(?:it|this|that|them|these|(?:\w+ ){0,3}(?:truth|facts?|data|evidence|results?|stud(?:y|ies)|research|cures?|"
    r"remed(?:y|ies)|information|news|stor(?:y|ies)|reports?|deaths?|harms?|injur(?:y|ies)|risks?|dangers?|"
    r"(?:side|adverse) effects?))"
)
_PEOPLE = r"(?:you|us|me|him|her|them|any(?:one|body)|every(?:one|body)|people|patients|the (?:public|people|world))"
_NOT_WANTED = (
    rf"(?:{_HIDDEN}|{_PEOPLE} (?:to (?:know|hear|see|find|learn|reali[sz]e|talk|ask)|"
    r"(?:to \w+ )?(?:well|healthy|better|cured)))"
)
_CONCEALS = re.compile(
    rf"{_ACTORS}[^.;:]{{0,60}}?\b(?:"
    r"(?:hid(?:e|es|ing|den)?|conceal(?:s|ed|ing)?)\b(?! (?:in|inside|within|behind|beneath|under|among|deep|out|away|"
    r"itself|themselves|from (?:the|your|our) (?:immune|body))\b)|"
    rf"(?:suppress(?:es|ed|ing)?|bur(?:y|ies|ied|ying)|cover(?:s|ed|ing)? up) {_HIDDEN}|"
    r"cover(?:s|ed|ing)? (?:it|this|that|them|everything) up|censor\w*|"
    rf"silenc(?:e|es|ed|ing) (?:{_PEOPLE}|those|critics|whistleblowers|doctors|scientists|{_HIDDEN})|"
    rf"l(?:ie|ies|ied|ying) (?:to {_PEOPLE}|about (?:everything|{_HIDDEN}))|"
    rf"ke(?:ep|eps|pt|eping) {_HIDDEN} (?:(?:a )?(?:secret|quiet)|from {_PEOPLE})|"
    r"says? nothing|stay(?:s|ed)? silent|"
    rf"(?:(?:do|does|did|wo)n['’]t|(?:do|does|did|will) not|never) (?:ever )?(?:want {_NOT_WANTED}|"
    rf"(?:tell|told)(?: {_PEOPLE})?\b(?! (?:\w+ ){{0,2}}to\b)|let {_PEOPLE} (?:know|hear|see|find|talk|ask|say)|"
    r"(?:say|admit)(?: (?:it|this|so|anything|the truth)|(?=\W*$)))|"
    r"refuses? to (?:tell|say|admit))\b",
    re.IGNORECASE,
)
_GAINS = re.compile(
    rf"{_ACTORS}.{{0,100}}?\b(?:profit(?:s|ed|ing|able)?|ma(?:k(?:es?|ing)|de) (?:\w+ ){{0,2}}(?:money|[bm]illions)|"
    r"(?:for|about|after) (?:the |your )?money|"
    r"earn(?:s|ed|ing)? (?:on|from|off|more|(?:\w+ ){0,3}(?:money|[bm]illions?))|(?:get|gets|got) rich(?:er)?|greed\w*|"
    r"kickbacks?|(?:get|gets|got|for|more) grants|brib\w+|(?:get|gets|got|are|is|was|were) paid|"
    r"pays? (?:them|him|off|for (?:its|their|his))|"
    r"(?:ca(?:nnot|n['’]t)|can not) (?:be )?patent\w*|patent\w* (?:\w+ ){0,4}(?:money|profits?|[bm]illions)|"
    r"shareholders|los(?:e|ing) (?:customers|money|business)|would lose (?:\w+ )?patients|keep you sick|"
    r"want(?:s|ed)? (?:control|power)|to sell (?:you|us|more|them|their|its))\b",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"[$€£] ?\d|\d(?: \w+illion| thousand|k)? (?:dollars|euros|pounds)\b", re.IGNORECASE)
_MOTIVE = re.compile(
    r"\b(?:because|since|so that|in order to|just to|for (?:the )?(?:money|profits?))\b", re.IGNORECASE
)
_GOES_ON = re.compile(r",? but\b|: *\S")
_OF_ANOTHER = re.compile(r"\b(?:it|this|that|them|these)\b", re.IGNORECASE)
_TELLS_WHAT = re.compile(r"\b(?:that|how|the fact|tell you|know|say|admit)\b", re.IGNORECASE)


def is_motive(sentence: str) -> bool:
    """Whether a sentence says that people hide something, or what they gain, and not what is so.

    "They hide that X causes Y" states that X causes Y, and "They hide this, but X is safe" that X is safe.
    A sum of money is a statement too, unless it stands as a reason: "Hospitals get paid $39,000 a ventilator."
    """
    plain = plain_post(sentence)
    if _AMOUNT.search(_before_reason(plain)):
        return False
    conceals = _CONCEALS.search(plain)
    if conceals is None:
        return _GAINS.search(plain) is not None
    if _GOES_ON.search(plain[conceals.end() :]):
        return False
    told = _TELLS_WHAT.search(plain[conceals.start() :])
    return told is None or not _has_causal_word(_before_reason(plain[conceals.end() :]))


def stands_alone(motive: str) -> bool:
    """Whether a motive can be looked up without the sentences beside it: "Pfizer hid the deaths of 1,200 people."

    It has a number or a causal word before its reason, and nothing like "it" that stands for what was said before.
    """
    accused = _before_reason(plain_post(motive))
    has_figure = any(token.folded[0].isdigit() for token in tokens(accused))
    return (has_figure or _has_causal_word(accused)) and _OF_ANOTHER.search(accused) is None


def _before_reason(text: str) -> str:
    return _MOTIVE.split(text)[0]


def _has_causal_word(text: str) -> bool:
    return any(token.folded in CAUSAL_WORDS for token in tokens(text))


_MOST = 8
_NEEDED = 1.0
_NEEDED_BESIDE_MOTIVE = 0.6  # a plain word on health says more than why somebody would hide it
_READ_AT_MOST = 200  # sentences; a 25,000-character thread says what it claims well before
_GREETING = re.compile(
    r"^(good (morning|evening|night)|hi|hello|hey|thanks?|thank you|happy|congratulations|please)\b", re.IGNORECASE
)
_OPINION = re.compile(r"\b(i (think|believe|feel|hope|wish|love|hate)|in my opinion|imo|imho)\b", re.IGNORECASE)
_ASKS = re.compile(r"^\W*(?:why|who|where|did|does|do you|have you|are you|can you|is it|should)\b", re.IGNORECASE)
_DID_YOU_KNOW = re.compile(r"^\W*(?:and )?did you know\b", re.IGNORECASE)
_LIKENS = re.compile(r"\b(?:is|are|it['’]s) (?:just |exactly |a bit )?(?:like|akin to)\b", re.IGNORECASE)
_ASSERTS = re.compile(
    r"\b(is|are|was|were|has|have|had|do|does|did|(?:do|does|did|ca|is|are)n['’]t|will|can|cannot|never|no|helps?|exists?)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(r"\b(no|not|never|(?:is|are|was|were|do|does)n['’]t|fake|hoax)\b", re.IGNORECASE)
# What happened to the writer, or on that day.
_OWN_DAY = re.compile(
    r"(?<!type )(?<!stage )(?<!phase )\b(?-i:I)\b|\b(?:my|me|mine|myself|today|yesterday|tonight|"
    r"(?:this|last) (?:morning|evening|night|week))\b",
    re.IGNORECASE,
)
_HASHTAG = re.compile(r"#\w+")
_PRONOUN_SUBJECT = re.compile(
    r"^\W*(?:and |but |so )?(?:(?:it|they|he|she|you|we)\b|(?:this|that|these|those)(?:['’]s|\s+(?:is|are|was|were|has|"
    r"have|had|will|can|could|would|does|did|isn|aren|wasn|also|just|shows?|means?|proves?|causes?)\b))",
    re.IGNORECASE,
)


def find_claims(post: Post) -> list[Claim]:
    """At most 8 statements with their spans in `post.text`, most checkable first; may be empty.

    A sentence counts by its numbers, causal words, health terms and named things; questions,
    greetings, opinions and bare links or hashtags do not count. What people hide, and what they gain by it,
    comes after what is stated; but not after a trifle, when it can be looked up by itself.
    """
    sentences = [(span, post.text[span.start : span.end]) for span in split_sentences(post.text)[:_READ_AT_MOST]]
    motives = [is_motive(sentence) for _, sentence in sentences]
    alone = any(motive and stands_alone(sentence) for (_, sentence), motive in zip(sentences, motives, strict=True))
    scored: list[tuple[bool, float, Claim]] = []
    for index, ((span, sentence), motive) in enumerate(zip(sentences, motives, strict=True)):
        score = checkability(sentence)
        leans_on_another = has_pronoun_subject(plain_post(sentence))
        trifle = _is_trifle(sentence)
        explained = any(motives) and not (motive or alone or trifle or leans_on_another)
        if score >= (_NEEDED_BESIDE_MOTIVE if explained else _NEEDED):
            # "This is real": the substance stands in another sentence.
            order = score - 0.02 * index - 0.8 * leans_on_another
            scored.append((motive or (alone and trifle), -order, Claim(text=sentence, span=span)))
    scored.sort(key=lambda item: item[:2])
    return [claim for _, _, claim in scored[:_MOST]]


def checkability(sentence: str) -> float:
    """How much of a checkable statement a sentence is: 0 for none, about 2 and up for a clear one."""
    plain = plain_post(sentence)
    content = content_tokens(plain)
    # One word is enough to deny: "There was no pandemic."
    health = {word.start for word in content if is_health_word(word)}
    health |= {term.start for term in find_terms(plain) if not term.is_broad}
    denies = len(content) == 1 and health and _DENIES.search(plain) and len(plain.split()) > 2
    if (len(content) < 2 and not denies) or _GREETING.match(plain) or _LIKENS.search(plain):
        return 0.0  # of these "X is like Y" is a figure of speech: no fact answers it
    if len(_HASHTAG.findall(sentence)) >= 2 and len(content_tokens(_HASHTAG.sub(" ", sentence))) < 2:
        return 0.0  # a row of tags states nothing
    words = tokens(plain)
    score = 0.0
    score += 1.0 if any(token.folded[0].isdigit() for token in words) else 0.0
    score += 1.0 if any(token.folded in CAUSAL_WORDS for token in words) else 0.0
    score += 0.6 * min(3, len(health))
    score += 0.4 if any(token.text[0].isupper() for token in words[1:]) and not plain.isupper() else 0.0
    score += 0.5 if _DENIES.search(plain) and health else 0.0
    score += 0.5 if _ASSERTS.search(plain) else 0.0
    if _DID_YOU_KNOW.match(plain):
        score += 0.5  # it asks nothing
    elif _ends_asking(plain) or _ASKS.match(plain):
        score -= 2.0
    if _OPINION.search(plain):
        score -= 0.8
    if not plain.isascii() and not any("a" <= letter <= "z" for letter in plain.lower()):
        score += 1.5  # no word lists for other scripts: take a statement as a statement
    return max(0.0, score)


def _is_trifle(sentence: str) -> bool:
    """Whether a sentence only tells of the writer or the day: "My nurse said the hospital was quiet today."."""
    folded = {token.folded for token in tokens(plain_post(sentence))}
    states = folded & CAUSAL_WORDS or any(word[0].isdigit() for word in folded)
    return not states and _OWN_DAY.search(sentence) is not None


def _ends_asking(text: str) -> bool:
    """Whether a question mark is among the marks that end a text. A pattern would begin anew at each of them."""
    for character in reversed(text):
        if character in "?؟？":
            return True
        if character.isalnum() or character == "_":
            break
    return False


def has_pronoun_subject(sentence: str) -> bool:
    """Whether a sentence is about "it", "they" or "this", so that another sentence must say what that is."""
    return _PRONOUN_SUBJECT.match(sentence) is not None and ": " not in sentence
