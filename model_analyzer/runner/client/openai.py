# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A client of a server with OpenAI's API, which tells the names of its models, if even that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.domain.models import OPENAI, ModelConfig
from model_analyzer.domain.protocols import Route
from model_analyzer.runner.client.interface import ServerCallError, text_of
from model_analyzer.runner.load.token_stream import CHAT
from model_analyzer.runner.versions import OPENAI_API

if TYPE_CHECKING:
    from model_analyzer.runner.client.http import HttpClient

_MODELS = "/v1/models"
# Where such a server answers requests; one of them is enough.
_PATHS = (f"/{CHAT}", "/v1/completions", "/v1/embeddings")
_NO_API = f"the server has no OpenAI API: {_MODELS} is no list of models"


def openai_route(url: str) -> Route:
    """How perf_analyzer reaches a server there. Without `async`, it does not start; `endpoint` is
    another one if the flags of the model say so.
    """
    return Route(flags={"url": url, "service-kind": OPENAI, "endpoint": CHAT, "async": "true"})


class OpenAiClient:
    """A `ServerClient` for OpenAI's API. Its server loads nothing, and has no statistics."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http

    def close(self) -> None:
        """Does nothing: no connection is open between calls."""

    def version(self) -> str:
        """No version: the API tells none. A server that has the API is ready."""
        self._listed()
        return OPENAI_API

    def models(self) -> Mapping[str, tuple[str, ...]]:
        return self._listed() or {}

    def _listed(self) -> Mapping[str, tuple[str, ...]] | None:
        """The models of the server; None if it has the API, but no list."""
        try:
            listed = parse_json(self._http.text(_MODELS))["data"]
            return {text_of(model["id"]): ("1",) for model in listed}
        except (KeyError, TypeError, ValueError) as error:
            raise ServerCallError(_NO_API, denied=True) from error
        except ServerCallError as error:
            if error.timed_out or error.lost or error.denied:
                raise
            if any(self._is_there(path, error) for path in _PATHS):
                return None
            status = str(error).partition(":")[0]
            raise ServerCallError(f"{_NO_API} ({status})", denied=True) from error

    def model_config(self, name: str) -> ModelConfig:
        listed = self._listed()
        if listed is not None and name not in listed:
            raise ServerCallError(f"the server has no model {name!r}")
        return {"name": name, "platform": OPENAI}

    def _is_there(self, path: str, unlisted: ServerCallError) -> bool:
        """Whether requests can be sent there: then the server refuses to be asked without one, or,
        where it knows paths only together with methods, answers what is no complete request, if
        only by refusing it. A server that is asked for its models and has the path (`unlisted` says
        what it answers) may refuse all that is not posted.
        """
        for body in (None, b"{}") if unlisted.absent else (b"{}",):
            try:
                self._http.text(path, body=body)
                is_there = body is not None
            except ServerCallError as error:
                if error.timed_out or error.lost:
                    raise
                is_there = not error.absent and str(error) != str(unlisted)
            if is_there:
                return True
        return False

    def _unknown(self, *values: Any, **named: Any) -> Any:
        raise ServerCallError("OpenAI's API has no such call")

    load = unload = statistics = infer_zeros = _unknown
