# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The model repository of a run on this machine: a path, or a copy of what a URL names."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from model_analyzer.app.bench.job import Job, with_matching_models
from model_analyzer.errors import ConfigError, Problem, RepositoryError
from model_analyzer.runner.repository_copy import Snapshot, repository_copy


def fetched(job: Job, stack: ExitStack, snapshot: Snapshot | None = None) -> Job:
    """The job with its model repository at a path. That of a URL is fetched, in the state of the
    `snapshot` if there is one, and kept until the `stack` closes. Raises RepositoryError.
    """
    url = job.settings.repository.url
    if url is None or job.settings.server.reload_disable:
        return job
    copy = stack.enter_context(repository_copy(url, job.environment, snapshot))
    repository = replace(job.settings.repository, source=copy.path)
    settings = with_matching_models(replace(job.settings, repository=repository), job.places)
    return replace(job, settings=settings, fetched=copy)


def fetched_for_user(job: Job, stack: ExitStack) -> Job:
    """Like `fetched`, but raises ConfigError with the place of the option."""
    try:
        return fetched(job, stack)
    except RepositoryError as error:
        where = job.places.for_all("model_repository")
        raise ConfigError(Problem(where=where, message=error.message, hint=error.hint)) from error
