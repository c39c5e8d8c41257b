# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Facts of models from their server, if their files are not accessible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from model_analyzer.domain.models import (
    ModelConfig,
    ModelFacts,
    fingerprint,
    is_openai,
    step_models,
)
from model_analyzer.domain.words import closest, first_few
from model_analyzer.errors import RepositoryError, ServerError
from model_analyzer.runner.client.interface import ServerCallError, ServerClient
from model_analyzer.runner.file_trees import CONFIG
from model_analyzer.runner.model_config import completed


def served_facts(client: ServerClient, name: str, *, timeout_s: float) -> ModelFacts:
    """The facts of a model, from the server, which loads it if necessary.

    The numbers of the loaded versions are its fingerprint, since its files are unknown. Raises
    RepositoryError if the server does not have the model, ServerError if it does not load.
    """
    return _facts(client, name, timeout_s, above=())


def _facts(client: ServerClient, name: str, timeout_s: float, above: Sequence[str]) -> ModelFacts:
    if name in above:
        raise RepositoryError(f"{name} contains itself: {' > '.join((*above, name))}")
    config = served_config(client, name, timeout_s=timeout_s)
    steps = step_models(config)
    if "" in steps:
        raise RepositoryError(f"ensemble {name} of the server has a step without a model name")
    return ModelFacts(
        name=name,
        config=config,
        files=fingerprint(["versions", sorted(client.models().get(name, ()))]),
        composing=tuple(
            _facts(client, part, timeout_s, (*above, name)) for part in dict.fromkeys(steps)
        ),
    )


def served_config(client: ServerClient, name: str, *, timeout_s: float) -> ModelConfig:
    """The model's configuration as the server has completed it. The model stays loaded."""
    try:
        models = client.models()
        if name not in models:
            raise RepositoryError(f"the server has no model {name!r} ({_hint(name, models)})")
        if not models[name]:
            client.load(name, None, timeout_s)
        answer = client.model_config(name)
    except ServerCallError as error:
        raise ServerError(f"the server could not load {name}: {error}") from error
    if is_openai(answer):
        return answer
    # the content of its file is unknown
    return completed(answer, {}, f"{name}/{CONFIG}")


def other_models(client: ServerClient, profiled: Iterable[ModelFacts]) -> Sequence[str]:
    """Loaded models of the server that are not profiled."""
    names = {part.name for model in profiled for part in model.with_parts()}
    return sorted(
        name for name, versions in client.models().items() if versions and name not in names
    )


def _hint(name: str, models: Iterable[str]) -> str:
    if match := closest(name, models):
        return f"did you mean {match!r}?"
    available = first_few(sorted(models))
    return f"available: {available}" if available else "it has no models: check its repository"
