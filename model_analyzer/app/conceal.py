# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Masks the secrets of a run in the output of servers and load generators."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from model_analyzer.domain.secrets import Veil, hidden_values, without_values
from model_analyzer.domain.settings import ModelSettings, ProfileSettings
from model_analyzer.errors import ConfigError, ModelAnalyzerError
from model_analyzer.runner.client.connect import headers
from model_analyzer.runner.server.local import expanded

Conceal = Callable[[str], str]


def concealing(settings: ProfileSettings) -> Conceal:
    """A function that masks the secrets of these options in a text."""
    veil = Veil(shown=frozenset(settings.server.show_environment))
    values = {
        value
        for model in settings.models
        for value in (*_variables(veil, model), *_header_values(model))
    }
    return lambda text: without_values(text, values)


def conceal_error(error: ModelAnalyzerError, conceal: Conceal) -> None:
    """Masks secrets in the message of an error."""
    error.args = tuple(conceal(text) if isinstance(text, str) else text for text in error.args)


def _variables(veil: Veil, model: ModelSettings) -> Iterator[str]:
    pairs = (text.partition("=") for text in model.docker_arguments.get("environment", ()))
    in_container: Mapping[str, str] = {name: value for name, _, value in pairs}
    for variables in (in_container, model.server_environment):
        yield from hidden_values(veil, variables)
        yield from hidden_values(veil, expanded(variables, os.environ))


def _header_values(model: ModelSettings) -> Iterator[str]:
    try:
        yield from filter(None, headers(model.perf_analyzer_flags).values())
    except ConfigError:
        pass  # the connection reports it
