# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A client of a server with OpenAI's API, which tells the names of its models and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.domain.models import OPENAI, ModelConfig
from model_analyzer.domain.protocols import Route
from model_analyzer.domain.statistics import ModelStatistics
from model_analyzer.runner.client.interface import InferenceAnswer, ServerCallError, text_of
from model_analyzer.runner.load.token_stream import CHAT

if TYPE_CHECKING:
    from model_analyzer.runner.client.http import HttpClient

_MODELS = "/v1/models"
_NO_CALL = "OpenAI's API has no such call"


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
        """No version: the API tells none. A server that lists its models is ready."""
        self.models()
        return "with OpenAI's API"

    def models(self) -> Mapping[str, tuple[str, ...]]:
        text = self._http.text(_MODELS)
        try:
            names = [text_of(model["id"]) for model in parse_json(text)["data"]]
        except (KeyError, TypeError, ValueError) as error:
            message = f"{_MODELS} of the server is no list of models: it has no OpenAI API"
            raise ServerCallError(message) from error
        return dict.fromkeys(names, ("1",))

    def model_config(self, name: str) -> ModelConfig:
        return {"name": name, "platform": OPENAI}

    def load(self, name: str, config: ModelConfig | None, timeout_s: float) -> None:
        raise ServerCallError(_NO_CALL)

    def unload(self, name: str) -> None:
        raise ServerCallError(_NO_CALL)

    def statistics(self, name: str) -> ModelStatistics:
        raise ServerCallError(_NO_CALL)

    def infer_zeros(self, config: ModelConfig, timeout_s: float) -> InferenceAnswer:
        raise ServerCallError(_NO_CALL)
