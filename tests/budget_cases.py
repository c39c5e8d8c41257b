# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of the ranking at several limits, from tests/golden/budget: for Python and for the page.

A case has measurements, a goal, and for limits of its metric the answer: the best measurement, its
ties, and whether it meets the constraints.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import MeasuredTrial, TrialRecord
from model_analyzer.results.ranking import Ranking
from tests.unit.builders import (
    at_least,
    at_most,
    goal,
    measurement,
    objectives,
    one_round,
    ranking,
    record,
    variant,
)

DIRECTORY = Path(__file__).parent / "golden" / "budget"
CASES: Mapping[str, Mapping[str, Any]] = {
    path.stem: json.loads(path.read_text()) for path in sorted(DIRECTORY.glob("*.json"))
}


def goal_of(case: Mapping[str, Any], limit: float | None) -> Goal:
    """The goal of a case with this limit on its metric; None: without."""
    most = {**case.get("at_most", {}), **({} if limit is None else {case["metric"]: limit})}
    return goal(
        *at_most(**most),
        *at_least(**case.get("at_least", {})),
        wished=objectives(**case["objectives"]) if "objectives" in case else None,
    )


def records_of(case: Mapping[str, Any]) -> Iterator[TrialRecord]:
    """All runs of all trials of a case."""
    for trial in case["trials"]:
        name = trial["configuration"]
        configuration = variant(
            name,
            max_batch_size=trial.get("max_batch_size", 8),
            instance_group=[{"count": trial.get("instances", 1), "kind": "KIND_CPU"}],
            backend="python",
        )
        for number, run in enumerate(trial["runs"]):
            load = {"concurrency": trial["concurrency"], "repetition": number}
            yield record(configuration, _measured(run, trial), **load)


def _measured(run: Mapping[str, Any], trial: Mapping[str, Any]) -> Measurement:
    values = {tag: value for tag, value in run.items() if tag not in ("windows", "latencies")}
    if "latencies" in run:
        return one_round(run["latencies"], **values)
    memory = trial.get("memory", 300.0)  # null: not measured
    host = {} if memory is None else {"cpu_used_ram": memory}
    return measurement(windows=run.get("windows", ()), host=host, **values)


def ranking_of(case: Mapping[str, Any], limit: float | None) -> Ranking:
    """The ranking of a case at a limit."""
    return ranking(*records_of(case), by=goal_of(case, limit))


def name_of(item: MeasuredTrial) -> str:
    """`m_config_3 at 8`."""
    return f"{item.trial.variants} at {item.trial.workloads[0].load.value}"


def answer_at(case: Mapping[str, Any], limit: float | None) -> Mapping[str, Any]:
    """The answer of the tool at a limit, as in the files."""
    return told(ranking_of(case, limit), limit)


def told(ranked: Ranking, limit: float | None) -> Mapping[str, Any]:
    """What a ranking at a limit says, as in the files."""
    best = ranked.results[0]
    return {
        "limit": limit,
        "best": name_of(best.best),
        "ties": sorted(map(name_of, ranked.ties)),
        "passes": best.passes,
    }


def limits_of(case: Mapping[str, Any]) -> Sequence[float | None]:
    return [answer["limit"] for answer in case["answers"]]
