"""Whom a note speaks of, defends or attacks, and whose sources it cites. One row a note, from its text alone.

Names and topics come from `leanings`; what is said of a name is read from the words around it, within its
sentence. Positive columns called "lean" point to the right.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from crowdnotes.jury.leanings import Leanings, Match, Token, shipped_leanings, tokens_of
from crowdnotes.jury.parsed import parsed
from crowdnotes.jury.raters import Floats
from crowdnotes.jury.sources import HOST, X

_SIDES = {"left": -1, "right": 1}
_LEANS = (-2, -1, 1, 2)
_NOT_NEEDED, _NEEDED = "not_needed", "needed"
_REACH = 60  # characters on each side of a name that speak of it
# What is said of a name: how many other words may stand between it and the words that say it, and these.
_AFTER = {
    "denied of": (
        4,
        r"did not|didn't|never|was not|wasn't|is not|isn't|are not|aren't|were not|weren't|has not|hasn't|have not|"
        r"haven't|had not|hadn't|does not|doesn't|do not|don't|cannot|can't|won't|will not|no longer|denied|denies|"
        r"refuted|rejected|disavowed|condemned",
    ),
    "blamed": (
        3,
        r"lied|lies|lying|liar|falsely|false|claimed|claims|is a|was a|convicted|indicted|charged|arrested|guilty|"
        r"found liable|pardoned|fired|cut|cuts|cutting|blocked|voted against|voted to|voted no|refused|failed|"
        r"threatened|attacked|assaulted|killed|killing|murdered|shot|bombed|raped|stole|committed|admitted|supported|"
        r"wants|wanted|tried|attempted|ordered|caused|illegally|is responsible|are responsible|started|promised|"
        r"campaigned|flip|ended|gutted|released|opened|allowed|let|encouraged|incited|promoted|spread|pushed|peddled",
    ),
    "quoted": (
        2,
        r"said|says|stated|states|explained|clarified|was referring|was talking|referred|quoted|tweeted|posted|"
        r"announced|called for|told|confirmed|apologi[sz]ed",
    ),
    "praised": (
        3,
        r"won|signed|passed|supports?|helped|saved|created|reduced|increased|protects?|defended|donated|founded|"
        r"served|graduated|received|awarded|legally|legal|lawful\w*|correctly|rightfully|accurately|"
        r"has the (?:right|authority)|victims?|survivors?|peaceful\w*",
    ),
}
_BEFORE = {
    "denied of": (
        4,
        r"no evidence|no proof|false(?:ly)?|not|never|isn't|wasn't|didn't|doesn't|baseless|debunked|hoax|"
        r"out of context|misquot\w+|misrepresent\w+|misattribut\w+|fake|fabricated|satire|edited|ai generated|"
        r"attacks? on|attacking on|assassination of|murder of|killing of|tried to kill|shot at|shot",
    ),
    "blamed": (
        1,
        r"blame|thanks to|because of|due to|caused by|signed by|under|by|against|from|corrupt|racist|evil|radical|"
        r"convicted felon|liar|criminal|extremist|terrorist|violent",
    ),
}
_SAID = {
    name: re.compile(rf"^\W{{0,3}}(?:\w+\W+){{0,{between}}}?(?:{words})\b") for name, (between, words) in _AFTER.items()
}
_SAID_BEFORE = {
    name: re.compile(rf"\b(?:{words})\W+(?:\w+\W+){{0,{between}}}?$") for name, (between, words) in _BEFORE.items()
}


def stances(notes: Sequence[str]) -> Floats:
    """Numbers of about unit size, (n, len(stance_names()))."""
    known = shipped_leanings()
    rows = [list(_row(note, known).values()) for note in notes]
    return np.asarray(rows, dtype=np.float64).reshape(len(rows), len(stance_names()))


@lru_cache(maxsize=1)
def stance_names() -> tuple[str, ...]:
    """The columns' names, in order."""
    return tuple(_row("", shipped_leanings()))


def _row(note: str, known: Leanings) -> dict[str, float]:
    row, cited, paths = _sources(note, known)
    read = parsed(note)
    path_tokens = tokens_of(paths)
    names = read.names
    said = [_said_of(read.plain, read.tokens, name) for name in names]
    topics = Counter(match.group for match in read.topics)
    path_topics = Counter(match.group for match in known.topics.find(path_tokens))
    path_names = Counter(match.group for match in known.names.find(path_tokens))
    for topic, leans in known.topic_sides.items():
        row[f"topic {topic}"] = min(topics[topic], 3) / 2
        if leans or topic not in (_NOT_NEEDED, _NEEDED):
            row[f"link topic {topic}"] = min(path_topics[topic], 2) / 2
    for group in known.sides:
        mine = [words for name, words in zip(names, said, strict=True) if name.group == group]
        row[f"named {group}"] = min(len(mine), 3) / 2
        row[f"link named {group}"] = min(path_names[group], 2) / 2
        row[f"denied of {group}"] = min(sum("denied of" in words or "denied before" in words for words in mine), 2) / 2
        row[f"blamed {group}"] = min(sum("blamed" in words or "blamed before" in words for words in mine), 2) / 2
    row |= _summed(names, said, known)
    in_paths = sum(known.sides[group] * count for group, count in path_names.items())
    row["lean of names in links"] = float(np.clip(in_paths, -3, 3)) / 2
    by_topic = sum(known.topic_sides[topic] for topic, count in topics.items() if count)
    row["lean of topics"] = float(np.clip(by_topic, -3, 3)) / 2
    return row | _by_need(row, cited, bool(topics[_NOT_NEEDED]), bool(topics[_NEEDED]))


def _by_need(row: dict[str, float], cited: float, needless: bool, needed: bool) -> dict[str, float]:
    """The same leans where the note says that no note, or a note, is needed: the one turns whom it helps around."""
    added = {f"{name}, not needed": row[name] * needless for name in ("lean of topics", "lean of names")}
    added["lean of names, needed"] = row["lean of names"] * needed
    added["lean of sources, not needed"] = cited * needless
    for side in _SIDES:
        is_named, alone = row[f"{side} named"], row[f"only {side} named"]
        added[f"{side} named, not needed"], added[f"only {side} named, not needed"] = (
            is_named * needless,
            alone * needless,
        )
        added[f"{side} named, needed"], added[f"only {side} named, needed"] = is_named * needed, alone * needed
        added[f"{side} named, lean of sources"] = is_named * cited
    return added


def _sources(note: str, known: Leanings) -> tuple[dict[str, float], float, str]:
    """Columns of the links, the sign of their summed lean, and the words of their paths."""
    hosts: list[int] = []
    accounts: list[int] = []
    paths: list[str] = []
    official = scholarly = 0
    for url in parsed(note).links:
        parts = HOST.match(url.url if url.has_scheme else f"https://{url.url}")
        if parts is None:
            continue
        host = parts[1].lower()
        if host in X:
            accounts.append(known.accounts.get((parts[2] or "").lower(), 0))
        else:
            hosts.append(known.of_host(host))
            official += host.endswith(".gov")
            scholarly += host.endswith(".edu")
        paths.append(re.sub(r"[^a-z0-9]+", " ", re.sub(r"^https?://[^/]*", "", url.url.lower())))
    leaning = [lean for lean in hosts if lean]
    row = {f"hosts of lean {lean:+d}": min(hosts.count(lean), 2) / 2 for lean in _LEANS}
    row["lean of hosts, sum"] = float(np.clip(sum(hosts), -4, 4)) / 2
    row["lean of hosts, mean"] = float(np.mean(leaning)) / 2 if leaning else 0.0
    row["account of the left"] = float(any(lean < 0 for lean in accounts))
    row["account of the right"] = float(any(lean > 0 for lean in accounts))
    row["official hosts"], row["scholarly hosts"] = min(official, 2) / 2, min(scholarly, 2) / 2
    return row, float(np.sign(sum(hosts) + sum(accounts))), " ".join(paths)


def _said_of(text: str, tokens: Sequence[Token], name: Match) -> frozenset[str]:
    """What is said of a name in its sentence: the keys of `_AFTER`, and "denied before" or "blamed before"."""
    start, end = tokens[name.first].start, tokens[name.last].end
    after = text[end : end + _REACH].partition(".")[0]
    before = text[max(0, start - _REACH) : start].rpartition(".")[2]
    found = {key for key, pattern in _SAID.items() if pattern.match(after)}
    found |= {f"{key.split()[0]} before" for key, pattern in _SAID_BEFORE.items() if pattern.search(before)}
    return frozenset(found)


def _summed(names: Sequence[Match], said: Sequence[frozenset[str]], known: Leanings) -> dict[str, float]:
    """The columns by side, over all groups of names."""
    of_side = {
        side: [words for name, words in zip(names, said, strict=True) if known.sides[name.group] == sign]
        for side, sign in _SIDES.items()
    }
    keys = (*_SAID, *(f"{key.split()[0]} before" for key in _SAID_BEFORE))
    counted = {
        (side, key): sum(key in words for words in mentions) for side, mentions in of_side.items() for key in keys
    }
    row = {f"{side} {key}": min(count, 2) / 2 for (side, key), count in counted.items()}
    left, right = len(of_side["left"]), len(of_side["right"])
    row["lean of names"] = float(np.clip(right - left, -3, 3)) / 2
    for side, mine, others in (("left", left, right), ("right", right, left)):
        row[f"{side} named"] = float(mine > 0)
        row[f"only {side} named"] = float(mine > 0 and not others)
        row[f"{side} named first"] = float(bool(names) and known.sides[names[0].group] == _SIDES[side])
    for column, ways in (("defended", ("denied of", "denied before")), ("attacked", ("blamed", "blamed before"))):
        gap = sum(counted["right", way] - counted["left", way] for way in ways)
        row[f"lean of the {column}"] = float(np.clip(gap, -3, 3)) / 2
    return row
