"""Finds text that gives instructions to a language model, in posts, pages and notes, and removes it.

What is found never reaches a model, cannot support a sentence of a note, and is shown to the person. What is not found
still meets the other bounds: marked data, answers in a fixed form, quotes and ids checked.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import unicodedata
from functools import lru_cache
from urllib.parse import unquote

from crowdnotes.domain import Evidence, Span
from crowdnotes.text.sentences import split_sentences

_MODEL = (
    r"(?:ais?|a\.i\.|language models?|llms?|chatbots?|chat ?gpt|gpt-?\d\w*|"
    r"(?:ai|automated|automatic|machine) (?:\w+ )?(?:assistant|model|judge|reviewer|grader|rater|evaluator|agent|"
    r"system|"
    r"writer|summari[sz]er|moderator)s?|fact[- ]checking (?:model|assistant|bot)s?|note[- ]writing (?:model|"
    r"assistant|bot)s?)"
)
_EARLIER = r"(?:previous|prior|above|earlier|preceding|system|initial|original|foregoing|former|your)"
_TOLD = (
    r"(?:instructions?|prompts?|rules?|guidelines?|directives?|messages?|orders?|commands?|texts?|context|criteria|"
    r"task)"
)

ENGLISH = (
    rf"\b(?:ignore|disregard|forget|override|bypass|discard)\b[^.!?\n]{{0,30}}\b{_EARLIER} (?:\w+ ){{0,2}}{_TOLD}\b",
    r"\b(?:ignore|disregard|override|bypass)\b[^.!?\n]{0,30}\b(?:instructions?|prompts?)\b",
    r"\b(?:ignore|disregard|forget)\b (?:all|everything)(?: of)?(?: the)? ?(?:that (?:is|was|came) )?(?:above|"
    r"before|so far)\b",
    r"^\W{0,6}(?:system|assistant|developer)(?: (?:message|prompt|note|override|notice|update|"
    r"instructions?))?\W{0,4}:",
    r"\[(?:system|assistant|developer|admin)[^\]]{0,40}\]|\b(?:begin|end|"
    r"start)(?:ning)?[ _-](?:of[ _-])?(?:the[ _-])?"
    r"(?:system|untrusted|user|quoted|data|input)[ _-]?(?:prompt|message|input|data|block|section|text|"
    r"content)?\b(?! stage)",
    rf"\b(?:you are|you're|act as|pretend to be|behave as|role-?play as)\b[^.!?\n]{{0,30}}\b(?:{_MODEL}|dan|"
    rf"jailbroken|"
    r"unrestricted|in developer mode|the (?:judge|grader|evaluator))\b",
    rf"\b(?:dear|hey|hello|attention|(?:note|message|instructions?|orders?|reminder) (?:to|for)|if you are|"
    rf"to (?:any|all|every|the)|for (?:any|all|every))\b,? (?:an? |any |all |the |"
    rf"every )?{_MODEL}\b(?=[^a-z]*(?:[:,.!]|$|"
    r"reading|that reads?|who reads?|processing|judging|you|must|should|please|write|say))",
    rf"\b{_MODEL}s? (?:reading|processing|judging|evaluating|rating|summari[sz]ing) this\b",
    r"\b(?:respond|reply|answer|output)s? (?:only |just |exactly |simply |always )*(?:with|in|as|only|exactly|"
    r"by saying)"
    r" (?:only |just |exactly )*(?:[\"'“‘{\[`]|json\b|yes\b|no\b|true\b|false\b|the (?:word|phrase|sentence|"
    r"following|"
    r"verdict|string)\b|final decision)",
    r"\boutput (?:only |exactly )?(?:[{\[\"“`]|the following|json|yes\b)",
    r"\b(?:mark|rate|score|judge|classify|label|grade|deem|approve|declare|evaluate|report|rule|find|"
    r"treat)\b[^.!?\n]{0,25}"
    r"\b(?:this|the|that|every|any|all|each)(?: \w+)? (?:notes?|passages?|evidence|answers?|drafts?|texts?|"
    r"candidates?)\b"
    r"[^.!?\n]{0,25}\b(?:helpful|relevant|faithful|correct|accurate|passed|pass|approved|supported|maximum|"
    r"not[ _]needed)\b",
    r"\b(?:verdict|final decision|your (?:answer|decision|score|verdict|output))\b[^.!?\n]{0,12}"
    r"\b(?:must|should|shall|has to|needs to|will) be\b",
    r"\bfinal decision\W{0,4}[:=]\W{0,4}(?:yes|no)\b",
    r"[\"'“]\s*(?:verdict|relevant|faithful|helpful|passes|decision|evidence_ids?|role|follows|picks?|not_needed|"
    r"to_program|carried|grades?|basis|settled_by|candidates|verdicts|replies)\s*"
    r"[\"'”]\s*:",
    r"\b(?:include|add|append|insert|put|cite|paste|write|say|state|mention|copy|repeat|print|link|"
    r"claim)\b[^.!?\n]{0,60}"
    r"\b(?:in|into|to|at the end of|as|with) (?:the|your|every|any|each) (?:\w+ )?(?:note|answer|response|reply|"
    r"output|"
    r"draft|verdict|json)s?\b",
    r"(?<!vaccine )(?<!package )\b(?:include|add|append|insert|cite|put|"
    r"end (?:it )?with)\b[^.!?\n]{0,30}(?:\b(?:the|this|following) (?:link|url)\b|"
    r"https?://)",
    r"\b(?:use|cite|set|give|return|report) (?:the )?evidence[ _]ids?\b",
    r"\bsystem prompt\b|\bdeveloper mode\b|\bprompt injection\b|\bjailbr(?:eak|oken)\b|\bdo anything now\b",
    r"\b(?:your|the) (?:new|updated|real|revised|actual|only) (?:instructions?|task|orders?|role|job)\b (?:is|are|"
    r":|now)",
    r"\b(?:new|updated|revised|real|override) (?:instructions?|directives?) ?(?:\([^)]*\) ?)?:",
    r"\b(?:do not|don't|never) (?:write|draft|propose|suggest|publish|produce) (?:a|any|the|"
    r"this) (?:community )?note\b",
    r"\b(?:say|answer|conclude|decide|report|reply|state|tell (?:them|the user)) (?:that )?(?:no note is needed|"
    r"the note is "
    r"not needed|not[ _]needed|no note\b)",
    r"\bfrom now on,? (?:you|answer|respond|reply|write)\b",
)
MARKUP = (
    r"<\|[^|>\n]{1,40}\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|</?(?:system|assistant|user|instructions?|"
    r"prompt|"
    r"tool_call|function_call|think|untrusted|data)(?:\s[^>]{0,60})?>|#{2,}\s*(?:instructions?|system|response|"
    r"assistant)\b|"
    r"<<<\s*(?:data|end)\b",
)
OTHER_LANGUAGES = (
    r"\b(?:ignor[ae]\w*|olvid[ae]\w*|descart[ae]\w*|omit[ae]\w*)\b[^.!?\n]{0,40}\b(?:instrucci|indicaci|órdenes)",
    r"\b(?:ignore[zr]?|oublie[zr]?)\b[^.!?\n]{0,40}\b(?:consignes|directives|instructions)",
    r"\b(?:ignorier\w*|vergiss|vergessen sie|missacht\w*)\b[^.!?\n]{0,40}\b(?:anweisung|anleitung|vorgabe|befehl)",
    r"\b(?:ignor\w+|esque[çc]a\w*)\b[^.!?\n]{0,40}\binstruç",
    r"\b(?:ignora\w*|dimentica\w*)\b[^.!?\n]{0,40}\b(?:istruzioni|comandi)",
    r"\b(?:negeer|vergeet)\b[^.!?\n]{0,40}\b(?:instructies|opdracht)",
    r"(?:игнорируй|забудь|не обращай)\w*[^.!?\n]{0,50}(?:инструкц|указани|команд|правил)",
    r"(?:ігноруй|забудь)\w*[^.!?\n]{0,50}(?:інструкц|вказів)",
    r"(?:忽略|无视|無視|忘记|忘掉|不要理会)[^。\n]{0,16}(?:指令|指示|提示|说明|說明|规则|規則|要求)",
    r"(?:指示|命令|プロンプト|ルール)[^。\n]{0,10}(?:無視|忘れ)",
    r"(?:지시|명령|프롬프트|지침)[^.\n]{0,12}(?:무시|잊)",
    r"(?:تجاهل|انس|أهمل)[^.\n]{0,40}(?:تعليمات|أوامر|توجيهات)",
    r"(?:निर्देश|आदेश)[^।\n]{0,30}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल)",
    r"\b(?:talimat|yönerge)\w*[^.!?\n]{0,30}(?:yok say|unut|görmezden)",
    r"\b(?:zignoruj|zapomnij)\w*[^.!?\n]{0,40}(?:instrukcj|polece)",
    r"התעלם[^.\n]{0,30}(?:הוראות|הנחיות)",
    r"\babaikan\b[^.!?\n]{0,40}(?:instruksi|perintah|petunjuk)",
    r"\bbỏ qua\b[^.!?\n]{0,40}(?:hướng dẫn|chỉ dẫn|lệnh)",
)
INJECTION = re.compile("|".join(f"(?:{pattern})" for pattern in (*ENGLISH, *MARKUP, *OTHER_LANGUAGES)), re.MULTILINE)
# What comes right after an instruction and carries it out: a command, a quotation, JSON or a link.
PAYLOAD = re.compile(
    r"^\W*+(?:instead|also|then|and|now|please|always|just|simply)?[\s,:]*+(?:write|say|answer|reply|output|include|"
    r"add|append"
    r"|state|print|return|mark|rate|cite|use|respond|set|treat|claim|tell|link|put|do not|don't|never|pick|choose|"
    r"give)\b"
    r"|^\s*+[\"“‘'`{\[]|https?://"
)


TO_AI_SENTENCE = "These words speak to an AI, not to readers."
_CODED = re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}")
_URL = re.compile(r"https?://\S+")  # the words of an address are no instructions
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}){6,}")
_SPELLED = re.compile(r"(?:\b\w[ .\-_*]{1,2}){15,}\w\b")  # "B R E A K I N G" is for readers, a whole sentence is not
_LOOKALIKE = str.maketrans("аеорсухіѕјһԁɡοαερνι", "aeopcyxisjhdgoaepvi")
_LEET = str.maketrans("01345@$", "oieasas")
_TAGS = range(0xE0020, 0xE007F)  # invisible copies of the ASCII characters
_BRACKETS = {"[": "]", "{": "}"}
_UNSEEN = {"Cc", "Cf", "Co", "Cs"}  # controls, zero-width and direction marks, private and broken characters
_PIECE = 500  # characters folded at once
_MAX_LENGTH = 1500  # characters searched in one sentence; a pattern spans a hundred at most


@lru_cache(maxsize=512)  # every step checks each passage
def find_injections(text: str) -> tuple[Span, ...]:
    """Return the sentences that speak to a model, with what follows and carries it out, in text order."""
    sentences = split_sentences(text)
    words = [text[span.start : span.end] for span in sentences]
    flagged = [_speaks_to_model(sentence) for sentence in words]
    for i in range(len(words) - 1):
        if not (flagged[i] or flagged[i + 1]) and _matches(f"{words[i]} {words[i + 1]}"):
            flagged[i] = flagged[i + 1] = True  # an instruction split over two lines
    open_bracket = ""  # an injection includes what its open bracket encloses
    for i, sentence in enumerate(words):
        if open_bracket or (i and flagged[i - 1] and PAYLOAD.search(visible(sentence).lower())):
            flagged[i] = True
        if flagged[i]:
            open_bracket = _left_open(open_bracket + sentence)
    return tuple(span for span, is_injected in zip(sentences, flagged, strict=True) if is_injected)


def without_injections(text: str) -> str:
    """Return the text with every injection replaced by spaces, so that offsets stay true."""
    spans = find_injections(text)
    if not spans:
        return text
    letters = list(text)
    for span in spans:
        for i in range(span.start, span.end):
            if letters[i] != "\n":
                letters[i] = " "
    return "".join(letters)


def cleared(item: Evidence) -> Evidence:
    """Return the evidence with the injections in its passage blanked; offsets stay true."""
    text = without_injections(item.passage.text)
    if text == item.passage.text:
        return item
    return item.replace(passage=item.passage.replace(text=text))


def holds_injection(text: str) -> bool:
    """Return whether any sentence of a text speaks to a model."""
    return bool(find_injections(text))


def visible(text: str) -> str:
    """Return what a reader sees: compatibility forms folded, without controls, zero-width and direction marks."""
    return "".join(char for char in _folded(text) if char in "\n\t" or unicodedata.category(char) not in _UNSEEN)


def _folded(text: str) -> str:
    """Apply NFKC in pieces: ordering a long run of combining marks takes the square of its length."""
    if text.isascii():
        return text
    pieces = []
    at = 0
    while at < len(text):
        end = at + _PIECE
        while end < at + _PIECE + 30 and end < len(text) and unicodedata.combining(text[end]):
            end += 1
        pieces.append(unicodedata.normalize("NFKC", text[at:end]))
        at = end
    return "".join(pieces)


def _speaks_to_model(sentence: str) -> bool:
    if any(ord(char) in _TAGS for char in sentence):
        return True  # nobody writes to people in invisible letters
    if _matches(sentence):
        return True
    shown = visible(sentence[:_MAX_LENGTH])
    return _SPELLED.search(shown) is not None or any(_matches(decoded) for decoded in _decoded(shown))


def _left_open(text: str) -> str:
    """Return the text from its last open bracket; "" when all are closed, or when it is too long to be one."""
    depths = {opening: text.count(opening) - text.count(closing) for opening, closing in _BRACKETS.items()}
    starts = [text.rfind(opening) for opening, depth in depths.items() if depth > 0]
    return text[min(starts) :] if starts and len(text) < _MAX_LENGTH else ""


def _matches(words: str) -> bool:
    shown = _URL.sub("https://", visible(words[:_MAX_LENGTH]).lower())
    views = {shown, shown.translate(_LOOKALIKE), shown.translate(_LEET)}
    return any(INJECTION.search(view) for view in views)


def _decoded(text: str) -> list[str]:
    """Return decodings of the coded parts of a sentence: base64, hex, percent, rot13, backwards."""
    found = [codecs.encode(text, "rot13"), text[::-1]]
    found += [unquote(match.group()) for match in _PERCENT.finditer(text)]
    for match in _CODED.finditer(text):
        raw = match.group()
        for decode in (_from_base64, _from_hex):
            decoded = decode(raw)
            if decoded is not None:
                found.append(decoded)
    return found


def _from_base64(raw: str) -> str | None:
    try:
        padded = raw.rstrip("=") + "=" * (-len(raw.rstrip("=")) % 4)
        return base64.urlsafe_b64decode(padded.replace("+", "-").replace("/", "_")).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None


def _from_hex(raw: str) -> str | None:
    try:
        return bytes.fromhex(raw).decode("utf-8")
    except (UnicodeDecodeError, ValueError):
        return None
