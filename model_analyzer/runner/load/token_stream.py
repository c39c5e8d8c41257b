# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Requests and answers of OpenAI's API: which tokens came when, and whether an answer failed. Pure.

An answer is a stream of events, or a single JSON object. perf_analyzer exports the pieces in which
it came, and takes each for a success: a server that fails after it has sent the headers can only
say so in the stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.foreign_json import parse_json

CHAT = "v1/chat/completions"

# The request of a run whose user gives none: its answer is long enough to time its tokens.
_QUESTION = "Explain in a few sentences how a computer multiplies two matrices."
_TOKENS = 64

_EVENT, _LAST = "data:", "[DONE]"
_CUT = "the stream ended before its end"
_MOST_CHARACTERS = 300


def usual_request(model: str, endpoint: str) -> bytes:
    """perf_analyzer's file of input data with one request that streams its answer."""
    is_chat = "chat" in endpoint
    asked = (
        {"messages": [{"role": "user", "content": _QUESTION}]} if is_chat else {"prompt": _QUESTION}
    )
    payload = {"model": model, "stream": True, "max_tokens": _TOKENS, **asked}
    return json.dumps({"data": [{"payload": [payload]}]}).encode()


@dataclass(frozen=True, slots=True)
class StreamedAnswer:
    """When the pieces of an answer with text came (ns), each with its tokens; `error` is why it
    failed, or "".
    """

    came: Sequence[int]
    tokens: Sequence[int]
    error: str


def read_answer(pieces: Sequence[tuple[int, str]]) -> StreamedAnswer:
    """The answer in these pieces, each with the time when it came."""
    came: list[int] = []
    usage, is_complete = 0, False
    for time, text in _events(pieces):
        if text == _LAST:
            is_complete = True
            continue
        try:
            event = parse_json(text)
            error = event.get("error")
            choices = event.get("choices") or ()
            usage = int((event.get("usage") or {}).get("completion_tokens") or usage)
            came += [time] if any(map(_has_text, choices)) else []
            is_complete = is_complete or any(each.get("finish_reason") for each in choices)
        except (AttributeError, TypeError, ValueError):
            error = f"no answer of OpenAI's API: {text}"
        if error:
            return StreamedAnswer(came, [1] * len(came), _message(error))
    # without the server's own count, an event is a token
    share, rest = divmod(max(usage, len(came)), len(came) or 1)
    tokens = [share + (place < rest) for place in range(len(came))]
    return StreamedAnswer(came, tokens, "" if is_complete else _CUT)


def _events(pieces: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The events of a stream, each with the time of the piece that completed it; or all of an
    answer that is no stream.
    """
    whole = "".join(text for _, text in pieces)
    if whole.lstrip().startswith("{"):
        yield pieces[-1][0], whole
        yield pieces[-1][0], _LAST
        return
    line = ""
    for time, text in (*pieces, (pieces[-1][0], "\n")):
        *ended, line = f"{line}{text}".split("\n")
        for each in ended:
            if each.startswith(_EVENT):
                yield time, each.removeprefix(_EVENT).strip()


def _has_text(choice: Mapping[str, Any]) -> bool:
    """Whether there is text, or a part of a call, in an event or in a whole answer."""
    said = choice.get("delta") or choice.get("message") or {"text": choice.get("text")}
    return any(value for key, value in said.items() if key != "role")


def _message(error: Any) -> str:
    text = error.get("message") if isinstance(error, dict) else error
    return str(text or error)[:_MOST_CHARACTERS]
