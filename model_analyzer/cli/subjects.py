# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is searched, one after another, once the models are known."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.settings import ModelSettings, ModelType, ProfileSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import ConfigError
from model_analyzer.runner.files import fingerprint_files
from model_analyzer.runner.load.command import named_files
from model_analyzer.runner.load.feasible import impossible, without_effect
from model_analyzer.search.choose import check
from model_analyzer.search.plan import SearchedModel, Subject

log = logging.getLogger(__name__)


def subjects_of(settings: ProfileSettings, facts: Mapping[str, ModelFacts]) -> Sequence[Subject]:
    """What is searched, one after another: each model, or all together; checked. Nothing is said
    about the server yet.
    """
    _check_feasible(settings, facts)
    models = [
        SearchedModel(
            facts=facts[model.name],
            settings=model,
            inputs=inputs_of(model),
            times_tokens=settings.load_generator.model_type is ModelType.LLM,
            composing=settings.composing,
        )
        for model in settings.models
    ]
    groups = [models] if settings.search.together else [[model] for model in models]
    subjects = [Subject(models=tuple(group), setup=ServerSetup()) for group in groups]
    for remark in check(subjects, settings.search, settings.quick):
        log.warning("%s", remark)
    return subjects


def _check_feasible(settings: ProfileSettings, facts: Mapping[str, ModelFacts]) -> None:
    problems = [
        problem
        for model in settings.models
        for problem in impossible(
            model,
            facts[model.name],
            search=settings.search,
            server=settings.server,
            user_directory=Path.cwd(),
        )
    ]
    if problems:
        raise ConfigError(*problems)
    for model in settings.models:
        for remark in without_effect(model, facts[model.name]):
            log.warning("%s", remark)


def inputs_of(model: ModelSettings) -> str:
    """A fingerprint of the files that the model's perf_analyzer flags name."""
    prints = [
        fingerprint_files(Path.cwd() / path) for _, path in named_files(model.perf_analyzer_flags)
    ]
    return ",".join(prints)
