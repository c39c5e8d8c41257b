# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the events of a run (docs/progress.md) say together, as a document and as figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

_OUTCOMES = {"trial_finished": "measured", "trial_failed": "failed"}

# The names of figures, and what they are about.
FIGURES = {
    "phase": "1 for what the run does now.",
    "trials": "Measurements that have ended.",
    "trials_expected": "Measurements that are expected in all.",
    "left_seconds": "Time until the run is expected to end.",
    "best": "Values of the best so far.",
    "best_low": "The low ends of their 95 % intervals.",
    "best_high": "The high ends of their 95 % intervals.",
}

# One of `FIGURES`, its value and its labels.
Figure = tuple[str, float, Mapping[str, str]]


class ToldProgress:
    """What the events so far say."""

    def __init__(self) -> None:
        self._latest: dict[str, Mapping[str, Any]] = {}
        self._best: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._answers: list[Mapping[str, Any]] = []
        self._ended = Counter[tuple[str, str]]()  # by model and outcome
        self._expected: dict[str, int] = {}  # measurements, by model
        self._left_s: float | None = None

    def take(self, event: Mapping[str, Any]) -> None:
        name = event["event"]
        self._latest[name] = event
        self._left_s = event.get("time_left_s", self._left_s)
        model = ",".join(work["model"] for work in event.get("workloads", ()))
        if "expected_trials" in event:
            self._expected[model] = event["expected_trials"]
        match name:
            case "trial_finished" | "trial_failed":
                self._ended[model, _OUTCOMES[name]] += 1
            case "best":
                self._best[model, event["hardware"]] = event
            case "answer":
                self._answers.append(event)
            case "run_finished":
                self._left_s = None

    @property
    def document(self) -> Mapping[str, Any]:
        """The same for programs; null is unknown."""
        phase = self._latest.get("phase", {})
        failed = sum(count for (_, how), count in self._ended.items() if how == "failed")
        return {
            "phase": phase.get("phase"),
            "model": phase.get("model"),
            "trials_done": self._ended.total(),
            "trials_failed": failed,
            "expected_trials": next(reversed(self._expected.values()), None),
            "expected_left_s": self._left_s,
            "best_so_far": [*self._best.values()] if not self._answers else [],
            "answers": self._answers,
            "exit_status": self._latest.get("run_finished", {}).get("exit_status"),
        }

    @property
    def figures(self) -> Iterator[Figure]:
        """The numbers to follow it by."""
        phase = self._latest.get("phase", {})
        state = "ended" if "run_finished" in self._latest else phase.get("phase") or "starting"
        yield "phase", 1, {"phase": state, "model": phase.get("model") or ""}
        for (model, how), count in self._ended.items():
            yield "trials", count, {"model": model, "outcome": how}
        for model, count in self._expected.items():
            yield "trials_expected", count, {"model": model}
        if self._left_s is not None:
            yield "left_seconds", self._left_s, {}
        for (model, hardware), best in self._best.items():
            for metric, value in best["metrics"].items():
                labels = {"model": model, "hardware": hardware, "metric": metric}
                yield "best", value, labels
                low_high = best["intervals"].get(metric, ())
                for name, bound in zip(("best_low", "best_high"), low_high, strict=False):
                    yield name, bound, labels
