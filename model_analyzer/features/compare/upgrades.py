# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is known to differ between two versions of Triton, as far as it touches a model. Pure.

docs/versions.md has the whole list, also of what only a profiler notices.
"""

from __future__ import annotations

from collections.abc import Iterator

from model_analyzer.domain.flags import shares_memory
from model_analyzer.domain.models import is_cached, is_decoupled, platform_of
from model_analyzer.domain.trials import Trial
from model_analyzer.runner.versions import is_before, short

# From which version on, what is so, and what it touches (see `_traits`).
_CHANGES = (
    ("2.33", "the response cache is a library that --cache-config sets up", "cached"),
    ("2.36", "clients see the end of a decoupled model's responses", "decoupled"),
    ("2.36", "a model without instance_group loads on a machine without GPU", "unplaced"),
    ("2.39", "a Python model is told about cancelled requests", "python"),
    ("2.39", "nv_inference_pending_request_count is among the metrics", "any"),
    ("2.44", "HTTP answers errors with 404, 500 and 503 (before, with 400)", "http"),
    ("2.44", "loading an ensemble keeps configurations given for its parts", "ensemble"),
    ("2.48", "nv_inference_request_failure has a series for each reason (before, one)", "any"),
    ("2.68", "shared memory of clients needs --allow-client-shm=true", "shared memory"),
)


def known_changes(base: str, new: str, trial: Trial) -> Iterator[str]:
    """What differs between servers of these versions for the models of a trial, in sentences."""
    traits = {*_traits(trial)}
    for since, what, touched in _CHANGES:
        if is_before(base, since) != is_before(new, since) and touched in traits:
            yield f"known between Triton {short(base)} and {short(new)}: from {since} on, {what}"


def _traits(trial: Trial) -> Iterator[str]:
    yield from ("any", trial.setup.protocol)
    for work in trial.workloads:
        config = work.variant.config
        holds = {
            "cached": is_cached(config),
            "decoupled": is_decoupled(config),
            "unplaced": "instance_group" not in config,
            "ensemble": work.variant.is_ensemble,
            "shared memory": shares_memory(work.flags),
            platform_of(config): True,
        }
        yield from (trait for trait, is_so in holds.items() if is_so)
