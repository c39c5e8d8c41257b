# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The input of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from model_analyzer.config.places import Places
from model_analyzer.config.price_files import read_prices
from model_analyzer.config.resolve import Resolved
from model_analyzer.domain.costs import Prices
from model_analyzer.domain.models import is_pattern, unmatched
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.domain.words import first_few
from model_analyzer.errors import ConfigError, Problem, wrong
from model_analyzer.runner.repository import model_names
from model_analyzer.runner.repository_copy import RepositoryCopy
from model_analyzer.runner.runtime import with_runtime
from model_analyzer.runner.timings import Timings


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The settings of a run, with remarks about them and where the user gave each; environment
    variables; and how long the runner waits. `fetched` is the copy of a model repository that the
    user has given as a URL; then the settings have its path. `prices` are those of the hardware,
    None if the user gave none.
    """

    settings: ProfileSettings
    places: Places
    environment: Mapping[str, str]
    timings: Timings = field(default_factory=Timings)
    remarks: Sequence[str] = ()
    fetched: RepositoryCopy | None = None
    prices: Prices | None = None

    @classmethod
    def of(
        cls,
        resolved: Resolved[ProfileSettings],
        environment: Mapping[str, str],
        timings: Timings | None = None,
    ) -> Job:
        """The job of these settings; `timings` are the default ones if None. Raises ConfigError if
        the file with prices is not valid, or if a pattern matches no model.
        """
        path = resolved.settings.prices
        return cls(
            settings=with_matching_models(resolved.settings, resolved.places),
            places=resolved.places,
            environment=with_runtime(environment, resolved.settings.server.runtime_version),
            timings=timings or Timings(),
            remarks=resolved.remarks,
            prices=None if path is None else read_prices(path),
        )


def with_matching_models(settings: ProfileSettings, places: Places) -> ProfileSettings:
    """The settings with the models of the repository in place of patterns. If the repository has a
    URL, patterns remain until it is fetched. Raises ConfigError if a pattern matches no model.
    """
    names = [model.name for model in settings.models]
    patterns = [name for name in names if is_pattern(name)]
    path, is_url = settings.repository.path, settings.repository.url is not None
    if not patterns or (is_url and not settings.server.reload_disable):
        return settings
    if path is None or settings.server.reload_disable:
        raise wrong(
            places.for_model("", patterns[0]),
            f"{patterns[0]!r} stands for models of a model repository, but this run reads none",
            "name each model",
        )
    models = model_names(path)
    if not models:
        return settings  # the check of the repository says more
    problems = [
        Problem(
            where=places.for_model("", name),
            message=f"no model of the model repository matches {name!r}",
            hint=f"models there: {first_few(models)}",
        )
        for name in unmatched(patterns, models)
    ]
    if problems:
        raise ConfigError(*problems)
    chosen = settings.without_patterns(models)
    if chosen.bls_calls and len(chosen.models) > 1:
        message = f"bls_composing_models needs exactly one profiled model, not {len(chosen.models)}"
        raise wrong(places.for_all("bls_composing_models"), message)
    return chosen
