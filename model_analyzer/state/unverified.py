# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The identity of a trial by what upstream stores of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from model_analyzer.domain.environment import settings_of
from model_analyzer.domain.flags import PERF_ANALYZER_SWITCHES, is_on
from model_analyzer.domain.models import fingerprint
from model_analyzer.domain.secrets import masked_values
from model_analyzer.domain.trials import FLAGS_WITHOUT_MEANING, Trial

# Upstream stores the names of files, not their content: so the names count.
_FLAGS_WITH_FILES = frozenset({"input-data", "request-intervals"})

# The load has the last three. Upstream stores a request count only as it was before it enlarged
# windows.
_IGNORED_FLAGS = frozenset(
    {
        *(FLAGS_WITHOUT_MEANING - _FLAGS_WITH_FILES), "measurement-request-count",
        "batch-size", "concurrency-range", "request-rate-range",
    }
)  # fmt: skip


def unverified_key(trial: Trial) -> str:
    """Fingerprint of what an upstream checkpoint has of a trial: the same for a trial of ours and
    for the unverified trial of the same measurement.

    It covers the models and their configurations (composing models included), the loads, the
    perf_analyzer flags that change the outcome (files by name), the protocol, and the variables of
    the server. It does not cover the content of files, nor the version, flags and container of the
    server. Whoever opens the checkpoint compares the GPUs.
    """
    return fingerprint(
        [
            "c_api" if trial.setup.launch == "c_api" else trial.setup.protocol,
            settings_of(trial.setup.kept_environment),
            [
                [
                    work.variant.unverified_identity,
                    [work.load.kind.value, work.load.value, work.load.batch_size],
                    _flags(work.flags),
                    *([masked_values(work.genai_perf)] if work.times_tokens else []),
                ]
                for work in trial.workloads
            ],
            *([trial.repetition] if trial.repetition else []),
        ]
    )


def _flags(flags: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    """The flags that change the outcome, as far as upstream stores them, without those that
    upstream always sets.
    """
    texts_by_flag = {}
    for flag, value in masked_values(flags).items():
        texts = [str(item) for item in (value if isinstance(value, (list, tuple)) else [value])]
        if flag in PERF_ANALYZER_SWITCHES:
            texts = ["true"] if any(map(is_on, texts)) else []
        is_usual = flag == "measurement-mode" and texts == ["count_windows"]
        if texts and not is_usual and flag not in _IGNORED_FLAGS:
            texts_by_flag[flag] = texts
    return texts_by_flag
