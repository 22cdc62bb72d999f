"""How the steps put their questions: in a form, with the checks that the step adds; and judges' votes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from crowdnotes.domain import Evidence, Post
from crowdnotes.engines.base import EngineStep
from crowdnotes.engines.llm.answers import Answer, read_answer
from crowdnotes.engines.llm.asking import Answered, Asker, Question
from crowdnotes.engines.llm.forms import schema_of
from crowdnotes.engines.llm.marked import Block
from crowdnotes.engines.local.publishers import publisher_name
from crowdnotes.engines.metering import side_by_side
from crowdnotes.engines.prompts import load_prompt

A = TypeVar("A", bound=Answer)
_VOTE_TEMPERATURE = 0.7  # at 0 every vote would be the same


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
    variant: int = 0,
    image: str = "",
) -> Question[A]:
    """A question whose answer must fit `form` and pass `check` (which raises AnswerUnreadableError).

    `verdict` is the form's yes-or-no field whose probability is wanted.
    """
    data = [block.text for block in blocks]

    def read(words: str) -> A:
        answer = read_answer(words, form, data)
        if check is not None:
            check(answer)
        return answer

    return Question(
        step=step.value,
        prompt=load_prompt(prompt),
        blocks=blocks,
        read=read,
        schema=schema_of(form),
        values=values or {},
        verdict=re.compile(rf'"{verdict}"\s*:\s*"') if verdict else None,
        temperature=temperature,
        variant=variant,
        image=image,
    )


def judged(asker: Asker, asked: Question[A], says_yes: Callable[[A], bool], votes: int) -> Answered[A]:
    """The judge's answer and the probability of its "yes".

    From the tokens where the server tells; else from `votes` answers to the same question, of which one
    of the majority is returned; else None. A vote that fails is not counted.
    """
    first = asker.ask(asked)
    if first.probability is not None or votes <= 1:
        return first
    again = [replace(asked, temperature=_VOTE_TEMPERATURE, variant=number) for number in range(1, votes)]
    results = side_by_side([_asking(asker, other) for other in again], votes)
    answers = [first.value, *(result.value for result in results if isinstance(result, Answered))]
    for_yes = [answer for answer in answers if says_yes(answer)]
    for_no = [answer for answer in answers if not says_yes(answer)]
    majority = for_yes if len(for_yes) > len(for_no) else for_no
    return Answered(majority[0], len(for_yes) / len(answers))


def _asking(asker: Asker, asked: Question[A]) -> Callable[[], Answered[A]]:
    return lambda: asker.ask(asked)


def post_block(post: Post) -> Block:
    """The post with what its images say."""
    return Block("post", post.whole_text)


def passage_block(item: Evidence) -> Block:
    """A passage under its id, with who published it, under what title and when: all of it from outside."""
    source = item.source
    name, host = publisher_name(source), host_of(source.url or "")
    is_known = bool(name) and name.strip("“”") not in source.title  # else it is no more than the title
    publisher = name if is_known else f"not known (site {host})" if host else "not known"
    about = f"(publisher: {publisher} · title: {source.title} · date: {source.published or 'not known'})"
    return Block(f"passage {item.id}", f"{about}\n{item.passage.text}")


def host_of(url: str) -> str:
    """The site of a web address without "www."; "" without one."""
    return re.sub(r"^https?://(?:www\.)?|/.*$", "", url)
