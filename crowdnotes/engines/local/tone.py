"""How a text says things: loaded words, denials, certainty, scope, and how hard it is to read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from crowdnotes.domain import Span
from crowdnotes.text.note_rules import find_urls
from crowdnotes.text.sentences import split_sentences
from crowdnotes.text.tokens import tokens

_VOWELS = re.compile(r"[aeiouy]+")


@dataclass(frozen=True, slots=True)
class Reading:
    """`ease` is Flesch reading ease (about 0 hard to 100 easy), None for text that is not in Latin letters."""

    ease: float | None
    words: int
    longest_sentence: Span | None
    longest_words: int


def reading(text: str) -> Reading:
    """Return the figures of a text without URLs."""
    spans = split_sentences(text)
    counts = [(span, [token.folded for token in tokens(text[span.start : span.end])]) for span in spans]
    counts = [(span, words) for span, words in counts if words]
    words = [word for _, inside in counts for word in inside]
    if not words:
        return Reading(None, 0, None, 0)
    longest, inside = max(counts, key=lambda pair: len(pair[1]))
    latin = [word for word in words if word.isascii() and word.isalpha()]
    ease = None
    if len(latin) * 2 > len(words):
        syllables = sum(_count_syllables(word) for word in latin) / len(latin)
        ease = 206.835 - 1.015 * len(words) / len(counts) - 84.6 * syllables
    return Reading(ease, len(words), longest, len(inside))


def _count_syllables(word: str) -> int:
    groups = len(_VOWELS.findall(word))
    silent = word.endswith("e") and not word.endswith(("le", "ee")) and groups > 1
    return max(1, groups - silent)


LOADED = re.compile(
    r"\b(?:propaganda|fear[- ]?monger\w*|scaremonger\w*|disgusting|shameful|shame|outrageous|ridiculous|"
    r"absurd|nonsense|"
    r"garbage|trash|bullshit|bs|rubbish|crap|lies|lied|liar\w*|hoax\w*|scam\w*|fraud\w*|grift\w*|"
    r"shill\w*|cult|agenda|"
    r"narrative|woke|extremist\w*|corrupt\w*|evil|sinister|brainwash\w*|sheep|sheeple|ignorant|"
    r"ignorance|hateful|"
    r"bigot\w*|racist\w*|transphob\w*|delusion\w*|hysteri\w+|conspiracy theorist\w*|anti-?vaxx?er\w*|"
    r"so-called|blatant\w*|"
    r"utter(?:ly)?|desperate|pathetic|laughable|clickbait|rage ?bait|engagement farming|cherry[- ]?pick\w*|"
    r"disinformation|"
    r"regurgitat\w*|spew\w*|peddl\w*|murder\w*|genocide|genocidal|butcher\w*|mutilat\w*|groom\w*|dishonest\w*|"
    r"deceptive|deceitful|maga (?:crowd|cult|morons?)|libtards?|radical (?:left|right)|invaders|globalists?|"
    r"big (?:pharma|oil|tech|food)|deep state)\b",
    re.IGNORECASE,
)
INSULTS = re.compile(
    r"\b(?:idiot\w*|moron\w*|stupid\w*|dumb\w*|fool\w*|clown\w*|imbecile\w*|loser\w*|quack\w*|nutjob\w*|"
    r"nutter(?:ly)?|crank\w*|"
    r"crazy|insane|lunatic\w*|psycho\w*|jerk\w*|scum\w*|troll\w*|hypocrit\w*|coward\w*|shut up|get a life|"
    r"f+u+c+k\w*|sh[i1]t\w*|ass(?:hole)?s?|damn\w*)\b",
    re.IGNORECASE,
)
_PSYCHOLOGY_WORD = re.compile(r"psycho(?:log|ther|sis|tic|act|soc|som|met|trop|pharm)\w*", re.IGNORECASE)
SPECULATION = re.compile(
    r"\b(?:i (?:think|believe|feel|guess|suspect|doubt|know|hope)|in my (?:opinion|view)|imo|imho|we (?:all )?know|"
    r"everyone knows|probably|presumably|maybe|perhaps|obviously|clearly|of course|surely|undoubtedly|no "
    r"doubt|apparently|"
    r"it seems|seems to|must be|should be (?:ashamed|banned|fired|arrested)|would (?:likely|probably)|hopefully|"
    r"sadly|unfortunately|frankly|honestly|trying to|wants? (?:you )?to|intend\w* to|deliberate\w*|"
    r"intentional\w*|on purpose)\b",
    re.IGNORECASE,
)
FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i'd|my|mine|me|we|we're|our|us)\b", re.IGNORECASE)
_UNITED_STATES = re.compile(r"\bUS\b")
SECOND_PERSON = re.compile(r"\b(?:you|your|you're|yours)\b", re.IGNORECASE)
ABOUT_NOTES = re.compile(
    r"\b(?:nnn|note not needed|no note needed|notes? (?:is|are) not (?:for|needed)|community notes?|other "
    r"notes?|the notes? (?:above|below)|op)\b",
    re.IGNORECASE,
)
ANSWER_TO_POST = re.compile(r"^\W*no\s?[:,.!;\u2013\u2014]", re.IGNORECASE)
BARE_VERDICT = re.compile(
    r"^\W*+(?:(?:this|the|that|it) ?(?:post|claim|tweet|statement|is)?\s*+(?:is|are)?\s*+)?"
    r"(?:simply |completely |just |totally |utterly |absolutely )?"
    r"(?:false|fake|misleading|untrue|wrong|incorrect|a lie|lies|not true|misinformation|nonsense|fake news|"
    r"satire|a joke|no|nope|not so)\W*+$",
    re.IGNORECASE,
)
_SCARE_QUOTES = re.compile(
    r"[\"“](?:expert|science|scientist|doctor|fact|news|vaccine|study|research|truth|journalist)s?[\"”]",
    re.IGNORECASE,
)
_SHOUTED_WORDS = re.compile(
    r"\b[A-Z]{4,}\b(?:\s+[A-Z]{2,}\b)+|\b(?:NOT|NEVER|ALL|LIE|LIES|FALSE|FAKE|TRUE|WRONG|NO|STOP|ZERO|REAL|"
    r"MUST)\b(?!-)"
)
_EXCLAMATION = re.compile(r"!+|\?{2,}")


def loaded_words(note: str) -> list[Span]:
    """Return loaded words and insults outside URLs, in order."""
    return sorted({*matches(LOADED, note), *insults(note)}, key=lambda span: (span.start, span.end))


def insults(note: str) -> list[Span]:
    """Return insults and swear words outside URLs, in order."""
    return _list_spans_outside_urls(note, [m for m in INSULTS.finditer(note) if not _PSYCHOLOGY_WORD.match(m.group())])


def shouting(note: str) -> list[Span]:
    """Return exclamation marks, words in capitals for force, and scare quotes."""
    return _list_spans_outside_urls(
        note, [*_EXCLAMATION.finditer(note), *_SHOUTED_WORDS.finditer(note), *_SCARE_QUOTES.finditer(note)]
    )


def speculative_words(note: str) -> list[Span]:
    """Return opinion, speculation about facts or motives, and words that replace proof."""
    return _list_spans_outside_urls(note, list(SPECULATION.finditer(note)))


def first_person(note: str) -> list[Span]:
    """Return the words "I", "we" and "our", but not the United States."""
    return _list_spans_outside_urls(
        note, [m for m in FIRST_PERSON.finditer(note) if not _UNITED_STATES.match(m.group())]
    )


def matches(pattern: re.Pattern[str], note: str) -> list[Span]:
    """Return where a pattern occurs outside URLs."""
    return _list_spans_outside_urls(note, list(pattern.finditer(note)))


def questions(note: str) -> list[Span]:
    """Return question marks outside URLs: a note states, it does not ask."""
    return _list_spans_outside_urls(note, list(re.finditer(r"[?؟？]", note)))


def _list_spans_outside_urls(note: str, found: list[re.Match[str]]) -> list[Span]:
    urls = [(url.start, url.end) for url in find_urls(note)]
    spans = {match.span() for match in found if not any(a <= match.start() < b for a, b in urls)}
    return [Span(start=start, end=end) for start, end in sorted(spans)]


_MAX_NEGATIONS = 60  # a passage has some ten
_NEGATION = re.compile(
    # "no more than" and "never exceed" are limits
    r"\b(?:(?:not|no|never)(?! (?:\w+ ){0,2}?(?:fewer|less|more) than\b| exceed)|none|neither|nor|nobody|nothing|"
    r"cannot|without|\w+n['’]t|(?:can|do|does|did|is|are|was|were|wo|would|should|could|has|have|had)nt)\b",
    re.IGNORECASE,
)
ALL = re.compile(
    r"\b(?:all|every|each|both|entire(?!ly)|whole|always|everyone|everybody|anyone|any|whenever|everywhere|entirely|"
    r"completely|invariably|never|none|no one|guarantee\w*|without exception|100\s?%)",
    re.IGNORECASE,
)
CERTAIN = re.compile(
    r"\b(?:prov(?:e|es|ed|en|ing)|confirm(?:s|ed)?|definite(?:ly)?|certainly|undoubtedly|conclusive(?:ly)?|"
    r"beyond (?:any |all )?doubt|without (?:a |any )?doubt)\b",
    re.IGNORECASE,
)
HEDGE = re.compile(
    r"\b(?:may|might|could|possibl\w+|suggest\w*|appear\w*|seem\w*|perhaps|potential\w*|believed|thought to|unclear|"
    r"not (?:yet )?(?:known|clear|proven|certain)|under study|being (?:studied|tested)|likely|probabl\w+)\b",
    re.IGNORECASE,
)


def negations(text: str) -> list[re.Match[str]]:
    """Return the words that deny something: "not", "never", "doesn't"."""
    return list(islice(_NEGATION.finditer(text), _MAX_NEGATIONS))


def denies(text: str) -> bool:
    """Return whether a text denies something."""
    return _NEGATION.search(text) is not None


VERDICT = re.compile(
    r"\b(?:false|untrue|not true|incorrect|wrong|myths?|hoax(?:es)?|debunk\w*|baseless|unfounded|unproven|unsupported|"
    r"misleading|misinformation|disinformation|fabricat\w+|refut\w+|disprov\w+|contradict\w*|lacks? evidence|"
    r"no (?:\w+ ){0,2}(?:evidence|link|proof|truth|basis|association|connection))\b",
    re.IGNORECASE,
)
_RUMOUR_LABEL = re.compile(
    r"^\W*(?:the |common |popular )?(?:claims?|myths?|rumou?rs?|misconceptions?|fiction|false|what (?:was|is) claimed)"
    r"\s*(?:#?\d+)?\s*[:\u2013\u2014]",
    re.IGNORECASE,
)
_CLAIMED = (
    r"(?:claim(?:s|ed|ing)?|say(?:s|ing)?|said|suggest\w*|alleg\w+|assert\w*|insist\w*|purport\w*|argu\w+|believ\w+"
    r"|think|thought|fear(?:s|ed)?|warn\w*|declar\w+)\b"
)
_POSTED = (
    r"(?:stat(?:es?|ed|ing)|reads?|shar(?:es?|ed|ing)|spread\w*|circulat\w+|show(?:s|ed|ing)?|tells?|told|advis\w+)\b"
)
_POSTS = (
    r"(?:posts?|tweets?|videos?|memes?|reels?|messages?|screenshots?|infographics?|rumou?rs?"
    r"|chain (?:e-?mails?|letters?))"
)
# A page that reports what others say: the words are the rumour's, not the page's.
_RUMOUR = re.compile(
    rf"\b{_POSTS}\b[^.!?\n:;]{{0,60}}?\b(?:{_CLAIMED}|{_POSTED})"
    r"|\b(?:(?:some|many|most) (?:people|parents|sites|websites)|users|influencers?|bloggers?|activists?|critics|"
    r"s[ck]eptics|opponents|supporters|advocates|"
    r"conspiracy theorists?|believers|proponents|websites|people online|truthers|deniers|flat[- ]earthers"
    rf"|anti-?vaxx?ers)\b[^.!?\n:;,]{{0,25}}?\b(?:{_CLAIMED}|maintain(?:s|ed)?\b|contend(?:s|ed)?\b|holds? that\b)"
    rf"|\bclaims?\b[^.!?\n]{{0,40}}?\b(?:{_CLAIMED}|circulat\w+|spread\w*)"
    r"|\b(?:claims?|rumou?rs?|allegations?|theor(?:y|ies)|ideas?|notions?|beliefs?|myths?|assertions?|misconceptions?)\b"
    r"[^.!?\n]{0,30}?\bthat\b"
    r"|\b(?:it (?:is|was|has been)|(?:is|are|was|were|has been|have been)) (?:\w+ly |often |sometimes )?"
    r"(?:claimed|rumou?red|alleged)\b|\bit (?:is|was) (?:\w+ly |often )(?:believed|said|thought|assumed)\b"
    rf"|\b(?:according to|in|on) (?:an? |the |some |several |many )?(?:\w+[\s-]){{0,3}}{_POSTS}\b(?!-)"
    rf"|\bviral (?:\w+ ){{0,2}}(?:{_POSTS}|claims?)\b"
    r"|\b(?:images?|photos?|pictures?|clips?|recordings?|articles?|e-?mails?|leaflets?|fl[iy]ers?|documents?)\b"
    r"[^.!?\n:;]{0,60}?\b(?:purport\w*|falsely|claim(?:s|ed))\b"
    r"|\bit (?:is|was|has been) (?:being )?(?:\w+ly )?(?:shared|circulated|spread|posted) (?:\w+ ){0,3}that\b"
    # What the page itself said once but no longer says.
    r"|\b(?:earlier|previous|prior|original|older|first) versions? of (?:this|the|our) (?:article|story|report|page|"
    rf"post|paper|text|piece)\b[^.!?\n]{{0,30}}?\b(?:{_CLAIMED}|{_POSTED}|gave\b)"
    r"|\b(?:social media|facebook|twitter|tiktok|instagram|whatsapp|telegram)\b[^.!?\n]{0,60}?"
    rf"\b(?:{_POSTS}|users?|claims?|{_CLAIMED})",
    re.IGNORECASE,
)
_CLAIMED_NEXT = re.compile(rf"\s*(?:\w+ly )?(?:{_CLAIMED}|{_POSTED})", re.IGNORECASE)
_CONTRAST = re.compile(
    r"\b(?:but|however|yet|although|though|while|whereas|despite|in fact|in reality|actually)\b|[;\u2013\u2014]",
    re.IGNORECASE,
)


def reports_rumour(sentence: str) -> bool:
    """Return whether a sentence repeats what others claim ("A post claims …") without contradicting it."""
    if _RUMOUR_LABEL.match(sentence):
        return True
    found = _RUMOUR.search(sentence)
    if found is None or VERDICT.search(sentence, 0, found.end()):
        return False
    rest = sentence[found.end() :]
    contrast = _CONTRAST.search(rest)
    if contrast is not None and contradicts(rest[contrast.end() :]):
        return False
    # "The claim that … is false" is a verdict, "a post claims that … is false" is none.
    is_of_claim = found.group().lower().endswith(" that")
    is_of_posts = _CLAIMED_NEXT.match(rest) is None and re.search(rf"{_POSTS}$", found.group(), re.IGNORECASE)
    return not ((is_of_claim or is_of_posts) and VERDICT.search(rest))


def mentions_rumour(sentence: str) -> bool:
    """Return whether a sentence mentions what others claim, contradicted or not."""
    return _RUMOUR_LABEL.match(sentence) is not None or _RUMOUR.search(sentence) is not None


def contradicts(sentence: str) -> bool:
    """Return whether a sentence denies something or calls it untrue."""
    return denies(sentence) or VERDICT.search(sentence) is not None


_FINDING = r"(?:results?|findings?|stud(?:y|ies)|evidence|effects?|exceptions?|risks?|limitations?)"
_LIMITING_START = re.compile(
    r"\W*(?:(?:however|but|yet|still|nevertheless|nonetheless|even so|that said|though|although|except|unless|"
    r"on the other hand|by contrast|in contrast|in rare|rarely|in (?:some|a few) (?:cases|people)|exceptions?)\b"
    rf"|(?:this|that|it|these|they|(?:the|these|those|such) {_FINDING})\s+(?:\w+\s+){{0,3}}?"
    r"(?:not (?:(?:yet |since )?been )?(?:mean|apply|hold|prove|show|true|include|cover|rule|seen|found|observed"
    r"|shown|confirmed|repeated|replicated|reproduced|tested)|yet to be"
    r"|need\w* to be (?:confirmed|repeated|replicated|tested)"
    r"|only|limited|unclear|uncertain|differ\w*)\b"
    rf"|(?:the|these|those|such) {_FINDING}\s+(?:may|might|could)\b"
    r"|more (?:research|studies) (?:is|are)\b|further research\b|whether\b)",
    re.IGNORECASE,
)


_STUDY = r"(?:stud(?:y|ies)|trials?|experiments?|findings?|results?|reviews?|research|analys[ie]s)"
_ANIMALS = (
    r"(?:mice|mouse|rats?|animals?|monkeys?|dogs?|rabbits?|pigs?|cells?|cell cultures?|test tubes?|(?:a|the) lab\w*|"
    r"vitro(?! fert))"
)
_GROUP = (
    r"(?:people|patients|participants|volunteers|subjects|adults|men|women|children|infants|babies|teenagers|those|"
    r"(?:high|low|large|small)(?:er)? doses?|pregnan\w+)"
)
_STUDIED = r"(?:included|studied|tested|enrolled|examined|observed|followed)"
# For whom a finding holds, how it was made, and what it leaves open.
_SCOPE = re.compile(
    rf"\W*(?:(?:note|of note)\W+(?:that )?)?(?:in {_ANIMALS}\b"
    rf"|only\b[^.;]{{0,80}}\b(?:took part|participated|(?:were|was) {_STUDIED})\b"
    rf"|all (?:of the )?(?:participants|patients|volunteers|subjects|people in the {_STUDY}) (?:were|had)\b"
    rf"|(?:the|this|these|that|most|all)(?: of the)? {_STUDY}\b[^.;]{{0,60}}\b(?:{_ANIMALS}|small|short|preliminary"
    r"|observational|retrospective|limited|alone|only|paid for|funded|sponsored|no control|not (?:been |yet )?"
    r"(?:peer|randomi[sz]ed|blinded))\b"
    rf"|(?:this|it|that) (?:was|has been) (?:\w+ )?(?:shown|seen|found|done|tested|true)\b[^.;]{{0,20}}\b"
    rf"(?:in|for|of|on) (?:{_ANIMALS}|most|some|{_GROUP})\b"
    rf"|(?:this|it|that) is (?:only )?true (?:for|of|in) (?:most|some|{_GROUP})\b"
    rf"|(?:\w+ )?{_GROUP}\b[^.;]{{0,50}}\b(?:were|was) (?:(?:not|never) {_STUDIED}|excluded)\b"
    rf"|no (?:\w+ ){{1,3}}(?:took part|were {_STUDIED}|participated)\b"
    r"|(?:\w+[ -]){0,3}(?:effects?|safety|benefits?) (?:(?:is|are) (?:not (?:yet )?known|un(?:known|clear|certain)))\b"
    r"|it is (?:not (?:yet )?(?:known|clear)|un(?:known|clear)) (?:whether|if)\b"
    r"|(?:the )?(?:evidence|data|certainty|quality of (?:the )?evidence) (?:is|are|was|were)(?: of)?(?: very)? "
    r"(?:low|weak|limited|poor|mixed|uncertain)\b"
    rf"|(?:for|in|among|at) (?:\w+ )?{_GROUP}\b[^.;]{{0,60}}\b(?:(?:not (?:yet )?|un)known|unclear|uncertain"
    r"|limited|higher|greater|differ\w*)\b"
    r"|(?:the )?(?:researchers|authors|scientists)\b[^.;]{0,60}\b(?:preliminary|caution\w*|warn\w*|limitations?)\b)",
    re.IGNORECASE,
)


def limits_previous(sentence: str) -> bool:
    """Return whether a sentence limits the one before it: "However, …", "Only men took part"."""
    return _LIMITING_START.match(sentence) is not None or states_scope(sentence)


def states_scope(sentence: str) -> bool:
    """Return whether a sentence says for whom the next one holds, or how it was found: "In mice, …"."""
    return _SCOPE.match(sentence) is not None


_TONE_PATTERNS = (LOADED, INSULTS, SPECULATION, FIRST_PERSON, SECOND_PERSON, ALL, CERTAIN, HEDGE)
_ADVERB = re.compile(r"[a-z]{4,}ly")
_NOT_ADVERBS = frozenset("family daily supply reply assembly anomaly butterfly monopoly italy july".split())


def is_about_tone(word: str) -> bool:
    """Return whether a word in lower case says how something is said."""
    if _ADVERB.fullmatch(word):
        return word not in _NOT_ADVERBS
    return any(pattern.fullmatch(word) for pattern in _TONE_PATTERNS)
