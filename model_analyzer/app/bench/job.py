# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The input of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from model_analyzer.config.places import Places
from model_analyzer.config.prices import read_prices
from model_analyzer.config.resolve import Resolved
from model_analyzer.domain.prices import Prices
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.runner.repository_copy import RepositoryCopy
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
        the file with prices is not valid.
        """
        path = resolved.settings.prices
        return cls(
            settings=resolved.settings,
            places=resolved.places,
            environment=dict(environment),
            timings=timings or Timings(),
            remarks=resolved.remarks,
            prices=None if path is None else read_prices(path),
        )
