"""Builds what a model is asked: the prompt, the data between marks, the form of the answer.

Text from outside goes as marked data: between lines that it cannot forge, without injected instructions and invisible
letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from typing import Any, Generic

from crowdnotes.domain import Evidence, Passage, Post, Source, Span
from crowdnotes.engines.base import EngineStep
from crowdnotes.engines.llm.parsing import A, Answer, read_answer, verdict_place, without_thoughts
from crowdnotes.engines.llm.server import Message
from crowdnotes.engines.prompt_injection import visible, without_injections
from crowdnotes.engines.prompts import Prompt, load_prompt
from crowdnotes.text.boilerplate import split_evidence
from crowdnotes.text.markdown import host
from crowdnotes.text.publishers import publisher_name
from crowdnotes.text.sentences import split_sentences

_FENCE = re.compile(r"<{3,}|>{3,}")
_NOTHING = "(nothing)"


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of data. `label` is the program's own ("passage E1"); `text` may come from anywhere.

    Text that is `cleared` was assembled by the program from pieces without injections.
    """

    label: str
    text: str
    cleared: bool = False


def data_blocks(blocks: Sequence[Block], boundary: str) -> str:
    """Return the blocks, each between an opening and a closing line, both with the boundary.

    What looks like such a line is broken up inside the text, so only the program can end a block.
    """
    return "\n\n".join(
        f"<<<DATA {boundary} {block.label}>>>\n{_inside(block, boundary)}\n<<<END {boundary}>>>" for block in blocks
    )


def _inside(block: Block, boundary: str) -> str:
    text = visible(block.text if block.cleared else without_injections(block.text))
    # The boundary first: what is left around it may only then look like such a line.
    text = _FENCE.sub(lambda match: " ".join(match.group()), text.replace(boundary, ""))
    return re.sub(r"[ \t]{3,}", "  ", text).strip() or _NOTHING


_LONGEST_USELESS = 4_000  # characters of an answer that the model sees again
_CONTEXT = "(What it replies to or quotes, by somebody else, to understand it; not what it claims:)"
_SHORT = 900  # characters of a block for a model that finds the question too long


@dataclass(frozen=True, slots=True)
class Question(Generic[A]):
    """What to ask: the prompt with its values as system message, the data as marked blocks.

    `shorter` are blocks to ask with if the model's server finds the question too long.

    `read` turns the model's words into the answer or raises ModelAnswerError; `schema` is the JSON schema for servers
    that take one; `verdict` finds the place right before a yes or no whose probability is wanted. `top_p` is None for
    the server's own value. `variant` distinguishes questions that differ by chance only. `useless` is the previous
    answer, if the question is asked again.
    """

    step: str
    prompt: Prompt
    blocks: Sequence[Block]
    read: Callable[[str], A]
    schema: Mapping[str, Any] | None = None
    values: Mapping[str, object] = field(default_factory=dict)
    verdict: re.Pattern[str] | None = None
    temperature: float = 0.0
    top_p: float | None = None
    variant: int = 0
    image: str = ""
    useless: Useless | None = None
    shorter: Sequence[Block] = ()


@dataclass(frozen=True, slots=True)
class Useless:
    """The model's previous answer, and in plain words why it could not be used."""

    said: str
    fault: str

    def turns(self, boundary: str) -> list[Message]:
        """Return the model's answer and the message about it, to follow the question."""
        said = _FENCE.sub(" ", without_thoughts(self.said)).replace(boundary, "")[:_LONGEST_USELESS] or _NOTHING
        fault = _FENCE.sub(" ", self.fault).replace(boundary, "")
        complaint = f"That could not be used: {fault} Answer the same question again, in the form asked for."
        return [{"role": "assistant", "content": said}, {"role": "user", "content": complaint}]


def question(
    step: EngineStep,
    prompt: str,
    form: type[A],
    blocks: Sequence[Block],
    *,
    values: Mapping[str, object] | None = None,
    check: Callable[[A], None] | None = None,
    verdict: str = "",
    temperature: float = 0.0,
    image: str = "",
) -> Question[A]:
    """Return a question whose answer must fit `form` and pass `check` (which raises AnswerUnreadableError).

    `verdict` is the form's yes-or-no field whose probability is wanted.
    """
    data = [block.text for block in blocks]
    asked = load_prompt(prompt)

    def read(words: str) -> A:
        answer = read_answer(words, form, data, asked.words)
        if check is not None:
            check(answer)
        return answer

    return Question(
        step=step.value,
        prompt=asked,
        blocks=blocks,
        read=read,
        schema=schema_of(form),
        values=values or {},
        verdict=verdict_place(verdict) if verdict else None,
        temperature=temperature,
        image=image,
        shorter=shortened(blocks),
    )


def shortened(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return the blocks with long ones cut at the end of a sentence, for a small context; () if none is long."""
    cut = tuple(replace(block, text=_cut_at_sentence(block.text)) for block in blocks)
    return cut if cut != tuple(blocks) else ()


def _cut_at_sentence(text: str) -> str:
    if len(text) <= _SHORT:
        return text
    ends = [span.end for span in split_sentences(text[:_SHORT])[:-1]]
    return text[: ends[-1] if ends else _SHORT]


def post_block(post: Post) -> Block:
    """Return the post with its image texts, its context if a person gave it, and what could not be seen."""
    context = f"\n\n{_CONTEXT}\n{post.context}" if post.context else ""
    unseen = f"\n\n(Not seen, so nothing is known of it: {'; '.join(post.unseen)}.)" if post.unseen else ""
    return Block("post", f"{post.whole_text}{context}{unseen}")


def passage_block(
    item: Evidence, today: date | None = None, gives: str = "", also: Sequence[Span] = (), *, is_brief: bool = False
) -> Block:
    """Return an excerpt of a passage under its id, with its publisher, title and date: all of it from outside.

    With `today` it says whether it is old by then; `gives` is what a judge found in it. See `excerpt` for the others.
    """
    source = item.source
    name, site = publisher_name(source), host(source.url)
    publisher = name or (f"not known (site {site})" if site else "not known")
    parts = (f"publisher: {publisher}", f"title: {source.title}", f"date: {_describe_date(source, today)}", gives)
    shown = excerpt(item.passage, also, is_brief=is_brief)
    return Block(f"passage {item.id}", f"({' · '.join(filter(None, parts))})\n{shown}")


_MAX_EXCERPT_CHARACTERS = 1_150  # of a passage: as much in all as judge, writer and checker saw separately
_MAX_BRIEF_CHARACTERS = 600  # with answers and what notes rest on, this held 47 of 47 quotes of revised notes


def excerpt(passage: Passage, also: Sequence[Span] = (), *, is_brief: bool = False) -> str:
    """Return the part of a passage that judge, writer and checker all see.

    Without boilerplate and words to a model. A short passage, or one without places to show, is whole; a long one has
    its key sentences, the best first, with their surroundings, and "…" for a gap. `also` are further places to show.
    `is_brief`: less of it, only around `also` if there are any.
    """
    text = without_injections(passage.text)
    pieces = split_evidence(text)
    sizes = [len(_fold_space(text[piece.start : piece.end])) + 1 for piece in pieces]

    def overlapping(span: Span) -> set[int]:
        return {at for at, piece in enumerate(pieces) if piece.overlaps(span)}

    kept = set(range(len(pieces)))
    places = passage.key_sentences or passage.marks or also
    limit = _MAX_EXCERPT_CHARACTERS
    if is_brief:
        places, limit = also or places, _MAX_BRIEF_CHARACTERS
    if sum(sizes) > limit and places:
        kept = set()
        for span in places:
            wanted = kept | overlapping(span)
            if not kept or sum(sizes[at] for at in wanted) <= limit:
                kept = wanted
        marked = sorted(kept)
        # In both directions: the text before the words says as much as the text after them.
        for at in sorted(range(len(pieces)), key=lambda at: min((abs(at - other) for other in marked), default=0)):
            is_next = not kept.isdisjoint({at - 1, at + 1}) or not kept
            if is_next and sum(sizes[i] for i in kept | {at}) <= limit:
                kept.add(at)
        kept.update(*map(overlapping, also))
    shown, end = "", 0
    for piece in (pieces[at] for at in sorted(kept)):
        between = text[end : piece.start]
        is_gap = any(map(str.isalnum, between))
        shown += f"{' … ' if is_gap and shown else '' if is_gap else between}{text[piece.start : piece.end]}"
        end = piece.end
    return _fold_space(f"{shown}{'' if any(map(str.isalnum, text[end:])) else text[end:]}")


def _fold_space(text: str) -> str:
    return re.sub(r" *\n\s*", "\n", re.sub(r" {2,}", " ", text)).strip()


def _describe_date(source: Source, today: date | None) -> str:
    """Return the day of a source, or its year if no day is known."""
    if source.year is None:
        return "not known, undated"
    years = 0 if today is None else source.years_if_old(today)
    day = str(source.stated_day or source.year)
    return f"{day}, old: {years} years" if years else day


@cache
def schema_of(form: type[Answer]) -> dict[str, Any]:
    """Return the JSON schema of a form for strict servers: whole, all fields required, no others, no titles."""
    whole = form.model_json_schema()
    schema: dict[str, Any] = _make_strict(whole, whole.get("$defs", {}))
    return schema


def _make_strict(node: Any, parts: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_make_strict(item, parts) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _make_strict(parts[node["$ref"].removeprefix("#/$defs/")], parts)
    left_out = ("default", "description", "$defs")
    out = {key: _make_strict(value, parts) for key, value in node.items() if key not in left_out}
    if isinstance(out.get("title"), str):
        del out["title"]
    if out.get("type") == "object":
        out["additionalProperties"] = False
        out["required"] = list(out.get("properties", {}))
    return out
