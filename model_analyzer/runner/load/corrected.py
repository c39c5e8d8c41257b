# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Values of an open load that perf_analyzer sent at times of its own, from when its requests were
due. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from model_analyzer.domain.flags import Flag
from model_analyzer.domain.measurements import Values
from model_analyzer.domain.models import empty
from model_analyzer.domain.trials import Workload
from model_analyzer.runner.load.intended import intended, values_of_sending
from model_analyzer.runner.load.own_schedule import own_due_times
from model_analyzer.runner.load.profile_export import Export
from model_analyzer.runner.load.sampling import latency_values
from model_analyzer.runner.load.tokens import token_metrics


def corrected(
    work: Workload, flags: Mapping[str, Flag], export: Export, intervals: str = ""
) -> Values:
    """The latencies of the requests in the windows that perf_analyzer reports, from the times at
    which they were due, and how late they were sent; nothing if these times are not known.

    `flags` are those that perf_analyzer got, `intervals` is the text of the file in them.
    """
    due = own_due_times(work, flags, len(export.requests), intervals)
    if due is None:
        return empty()
    period = export.reported
    moved = intended(export, due).ended_within(*period)
    if not moved.export.requests:
        return empty()
    tokens = token_metrics(moved.export, *period) if work.times_tokens else None
    return {**latency_values(moved.latencies), **(tokens or {}), **values_of_sending(moved)}
