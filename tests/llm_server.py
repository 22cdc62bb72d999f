"""A server on loopback that speaks the OpenAI protocol and does what a test tells it, failures included."""

from __future__ import annotations

import json
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.shared import PATIENCE

Body = dict[str, Any]


@dataclass
class Say:
    """One reply. With `status` other than 200, `text` is the error's message; `raw` is sent as it is.

    A stream begins with what it `thinks`, a piece each `pause` seconds; without `streams` it answers in one piece
    whatever is asked for. With `by_hand`, that writes all of it, headers too; it may go on until the client hangs up.
    """

    text: str = ""
    status: int = 200
    finish: str = "stop"
    refusal: str | None = None
    usage: tuple[int, int] | None = (100, 20)
    tokens: Sequence[tuple[str, Mapping[str, float]]] | None = None
    thinks: Sequence[str] = ()
    thinks_as: str = "reasoning_content"
    streams: bool = True
    pause: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    breaks_after: int | None = None
    raw: bytes | None = None
    by_hand: Callable[[BaseHTTPRequestHandler], None] | None = None


class LLMServer:
    """Replies with `answer(body)`; keeps every request's body and headers, and how many ran at once."""

    def __init__(self, answer: Callable[[Body], Say | str]) -> None:
        self.answer = answer
        self.requests: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.models = ["small", "large"]
        self.models_reply: Say | None = None
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                if server.models_reply is not None:
                    _write(self, {}, server.models_reply)
                    return
                data = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in server.models]
                _send(self, 200, json.dumps({"object": "list", "data": data}).encode(), {})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server._reply(self, body)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def _reply(self, handler: BaseHTTPRequestHandler, body: Body) -> None:
        with self._lock:
            self.requests.append(body)
            self.headers.append({name.lower(): value for name, value in handler.headers.items()})
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            said = self.answer(body)
            say = Say(said) if isinstance(said, str) else said
            time.sleep(say.wait)
            _write(handler, body, say)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client gave up, as some tests want
        finally:
            with self._lock:
                self._now -= 1

    @contextmanager
    def running(self) -> Iterator[LLMServer]:
        self._thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            self._http.server_close()
            self._thread.join(PATIENCE)


def _send(handler: BaseHTTPRequestHandler, status: int, data: bytes, headers: Mapping[str, str]) -> None:
    handler.send_response(status)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


def _write(handler: BaseHTTPRequestHandler, body: Body, say: Say) -> None:
    if say.by_hand is not None:
        handler.close_connection = True
        with suppress(BrokenPipeError, ConnectionResetError):
            say.by_hand(handler)
    elif say.raw is not None:
        _send(handler, say.status, say.raw, say.headers)
    elif say.status != 200:
        error = {"error": {"message": say.text, "type": "test", "code": None}}
        _send(handler, say.status, json.dumps(error).encode(), say.headers)
    elif body.get("stream") and say.streams:
        _stream(handler, body, say)
    else:
        message = {"role": "assistant", "content": say.text, "refusal": say.refusal}
        choice: Body = {"index": 0, "finish_reason": say.finish, "message": message, "logprobs": _logprobs(say)}
        whole = {"id": "c", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}
        _send(handler, 200, json.dumps({**whole, **_usage(say)}).encode(), say.headers)


def _stream(handler: BaseHTTPRequestHandler, body: Body, say: Say) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("connection", "close")
    handler.end_headers()
    handler.close_connection = True
    base = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}
    deltas = [{say.thinks_as: piece} for piece in say.thinks]
    deltas += [{"content": say.text[i : i + 16]} for i in range(0, len(say.text), 16)]
    for number, delta in enumerate(deltas):
        if say.breaks_after is not None and number >= say.breaks_after:
            return
        time.sleep(say.pause if number < len(say.thinks) else 0.0)
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        handler.wfile.write(f"data: {json.dumps({**base, 'choices': [choice]})}\n\n".encode())
    end = {"index": 0, "delta": {"refusal": say.refusal}, "finish_reason": say.finish, "logprobs": _logprobs(say)}
    handler.wfile.write(f"data: {json.dumps({**base, 'choices': [end]})}\n\n".encode())
    if say.usage is not None and (body.get("stream_options") or {}).get("include_usage"):
        handler.wfile.write(f"data: {json.dumps({**base, 'choices': [], **_usage(say)})}\n\n".encode())
    handler.wfile.write(b"data: [DONE]\n\n")


def until_hung_up(handler: BaseHTTPRequestHandler) -> None:
    """To be written by hand: nothing, until the client hangs up."""
    handler.connection.settimeout(PATIENCE)
    handler.connection.recv(1)


def _usage(say: Say) -> Body:
    if say.usage is None:
        return {}
    read, wrote = say.usage
    return {"usage": {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}}


def _logprobs(say: Say) -> Body | None:
    if say.tokens is None:
        return None
    content = []
    for text, options in say.tokens:
        top = [{"token": name, "logprob": math.log(p), "bytes": None} for name, p in options.items()]
        content.append({"token": text, "logprob": math.log(options.get(text, 1.0)), "bytes": None, "top_logprobs": top})
    return {"content": content}


_FORMS = (
    "candidates", "verdicts", "replies", "breaks",
    "claims", "queries", "picks", "passages", "decision", "grades", "faithful", "helpful", "shows", "overall",
)  # fmt: skip


def form_of(body: Body) -> str:
    """Which form an answer should have, by a field of the prompt's own example: "claims", "picks", "passages", …"""
    system = str(body["messages"][0]["content"])
    match = re.search(r"^Form: (\{.*\})$", system, re.MULTILINE)
    if match is None:
        return "final decision"
    keys = list(json.loads(match.group(1)))
    return next(name for name in _FORMS if name in keys)


def data_of(body: Body) -> dict[str, str]:
    """The marked data of a request, by label."""
    content = next(message["content"] for message in body["messages"] if message["role"] == "user")
    text = content if isinstance(content, str) else content[0]["text"]
    blocks = re.findall(
        r"^<<<DATA [0-9a-f]{10} (.+?)>>>\n(.*?)\n<<<END [0-9a-f]{10}>>>$", text, re.MULTILINE | re.DOTALL
    )
    return dict(blocks)


def passages_of(body: Body) -> dict[str, str]:
    """The passages of a request, by id, without the line on their source."""
    found = {label: text for label, text in data_of(body).items() if label.startswith("passage E")}
    return {label.removeprefix("passage "): text.split("\n", 1)[-1] for label, text in found.items()}


def honest(body: Body) -> str:
    """The answer of a plain and honest model, whatever is asked."""
    return json.dumps(honest_answer(body))


def honest_answer(body: Body) -> Body:
    """As `honest`, before it is written down: the first sentence of a passage is all that it takes from it."""
    said: Body
    data, passages = data_of(body), passages_of(body)
    match form_of(body):
        case "claims":
            quote = data["post"].split(". ")[0]
            record = {"implies": "", "settled_by": "A study of it.", "since": "", "kind": "checkable"}
            return {"claims": [{"quote": quote, "claim": quote, **record}], "queries": _searches(data["post"])}
        case "queries":
            return {"queries": _searches(data["post"])}
        case "picks":
            lines = [line for line in data["remaining results"].splitlines() if line != "(nothing)"]
            picks = [{"number": number, "tells": "It speaks to the claim."} for number in range(1, len(lines) + 1)]
            return {"picks": picks, "rest": "The others repeat it."}
        case "passages":
            said = {"tells": "It answers the claim.", "points": "against", "answer": "stated"}
            found = [{"id": name, "quote": _opening(text), **said} for name, text in passages.items()]
            return {"to_program": [], "passages": found, "missing": "", "searches": []}
        case "decision":
            notes = [{"sentences": [_sentence(name, text)]} for name, text in passages.items()]
            return {"reason": "It answers the claim.", "decision": "note", "notes": notes[:3]}
        case "grades":
            letters = [label.removeprefix("note ") for label in data if label.startswith("note ")]
            grades: list[Body] = [
                {"note": name, "objections": [], "grade": 9 - 2 * n} for n, name in enumerate(letters)
            ]
            best = data[f"note {letters[0]}"].rstrip(".")
            name = next((name for name, text in passages.items() if best in text), next(iter(passages)))
            sentences = [_sentence(name, passages[name])]
            return {"grades": grades, "final": {"sentences": sentences, "changes": "Nothing."}}
        case "candidates":
            firsts = [{"text": f"{_opening(text)}.", "notes": [name], "passages": []} for name, text in _notes(data)]
            return {"facts": "They answer it.", "candidates": [{"sentences": [item]} for item in firsts]}
        case "verdicts":
            letters = [label.removeprefix("candidate ") for label in data if label.startswith("candidate ")]
            verdicts = [{"note": name, "objections": [], "grade": 9 - 2 * n} for n, name in enumerate(letters)]
            final = {"text": data[f"candidate {letters[0]}"], "notes": [_notes(data)[0][0]], "passages": []}
            return {"verdicts": verdicts, "final": {"sentences": [final], "changes": "Nothing."}}
        case "breaks":
            return {"breaks": []}
        case "replies":
            count = sum(label.startswith("suggestion ") for label in data)
            no = {"reason": "No source carries it.", "changed": "", "answer": "no"}
            return {"replies": [{"number": number, **no} for number in range(1, count + 1)], "sentences": []}
        case "faithful":
            lines = [line.split(". ", 1)[1] for line in data["note, sentence by sentence"].splitlines()]
            carried = [{"sentence": number, **_carrier(line, passages)} for number, line in enumerate(lines, 1)]
            said = {"distortions": [], "reason": "It says what E1 says.", "faithful": "yes"}
            return {"to_program": [], "carried": carried, **said}
        case "helpful":
            kept = ["addresses_claim", "context", "neutral", "no_speculation", "readable", "wanted"]
            said = {"rewrite": "", "objections": [], "reason": "It is clear.", "helpful": "yes"}
            return {"broken": [], "kept": kept, **said}
        case "shows":
            return {"text": "WORDS", "shows": "A sign."}
        case "overall":
            criteria = ("accuracy", "directness", "sources", "neutrality", "brevity", "overall")
            return {"why": "They say the same.", **dict.fromkeys(criteria, "tie")}
    return {}


_LONGEST_SENTENCE = 200  # characters, so that a note of one always fits


def _opening(text: str) -> str:
    """The words of its first sentence, without the stop."""
    words = text.split(". ", maxsplit=1)[0].rstrip(".")
    return words if len(words) <= _LONGEST_SENTENCE else words[:_LONGEST_SENTENCE].rsplit(" ", 1)[0]


def _notes(data: Mapping[str, str]) -> list[tuple[str, str]]:
    """The existing notes of a request, by id, without the line on their ratings and their links."""
    found = [(label.removeprefix("note "), text) for label, text in data.items() if label.startswith("note N")]
    return [(name, re.sub(r" ?\[its link: [^]]*]", "", text.split("\n", 1)[-1])) for name, text in found]


def _sentence(name: str, text: str) -> Body:
    words = _opening(text)
    return {"text": f"{words}.", "passages": [{"id": name, "quote": words}], "basis": "stated"}


def _carrier(sentence: str, passages: Mapping[str, str]) -> Body:
    """The passage that has the sentence; else the first sentence of the first."""
    words = sentence.rstrip(".")
    name = next((name for name, text in passages.items() if words in text), None)
    first = next(iter(passages))
    return {"evidence_id": name or first, "quote": words if name else _opening(passages[first])}


def _searches(post: str) -> list[Body]:
    topic = " ".join(post.split()[:6])
    kinds = ("evidence", "statistics", "official statement")
    return [{"text": f"{topic} {kind}", "purpose": kind, "language": "en"} for kind in kinds]
