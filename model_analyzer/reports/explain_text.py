# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Why a variant is slow, in sentences for people and as a document for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.hardware import place_text
from model_analyzer.domain.models import thaw
from model_analyzer.domain.words import capitalized
from model_analyzer.results.explain.explain import Explanation
from model_analyzer.results.explain.finding import Change, Finding
from model_analyzer.results.explain.situation import Times
from model_analyzer.results.explain.texts import ms, percent

# The version of the layout; increased when readers of the last version would misread this one.
EXPLAIN_VERSION = 1

_METRICS = ("perf_throughput", *(f"perf_latency_{name}" for name in ("avg", "p50", "p95", "p99")))

_PLACES = {
    "queue": "waiting in the queue",
    "inputs": "copying inputs",
    "compute": "executing the model",
    "outputs": "copying outputs",
    "outside": "outside the model (client, network, server)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainReport:
    """The explanation of a variant of a `model` on one `kind` of hardware, "" if it is the only
    one.
    """

    model: str
    kind: str
    explanation: Explanation


def explain_lines(report: ExplainReport) -> Iterator[str]:
    """The explanation for a terminal."""
    explanation, situation = report.explanation, report.explanation.situation
    place = f" {place_text(report.kind)}" if report.kind else ""
    yield (
        f"{situation.variant.telling_name}{place} with {situation.load}:"
        f" {situation.throughput:.4g} infer/s,"
        f" p50 {ms(situation.value('perf_latency_p50'))},"
        f" p99 {ms(situation.value('perf_latency_p99'))}."
    )
    yield times_text(situation.times)
    yield ""
    if not explanation.findings:
        yield "Nothing unusual."
    for number, finding in enumerate(explanation.findings, start=1):
        yield from _finding_lines(number, finding)
    if explanation.lacks:
        yield ""
        yield f"Not measured: {'; '.join(explanation.lacks)}."


def times_text(times: Times) -> str:
    """Where the time of an average request goes, the largest part first."""
    parts = {place: getattr(times, place) for place in _PLACES}
    ordered = sorted(parts, key=lambda place: -parts[place])
    shown = [
        f"{ms(parts[place])} {_PLACES[place]} ({percent(times.share(parts[place]))})"
        for place in ordered
        if times.share(parts[place]) >= 0.01
    ]
    return f"An average request takes {ms(times.total)}: {', '.join(shown)}."


def _finding_lines(number: int, finding: Finding) -> Iterator[str]:
    yield f"{number}. {capitalized(finding.cause.value)}"
    for evidence in finding.evidence:
        yield f"   - {evidence}"
    yield f"   Advice: {finding.advice}."


def explain_document(reports: Sequence[ExplainReport]) -> dict[str, Any]:
    """The explanations for programs, with unrounded numbers."""
    return {
        "version": EXPLAIN_VERSION,
        "model": reports[0].model,
        "hardware": [_on_kind(report) for report in reports],
    }


def _on_kind(report: ExplainReport) -> dict[str, Any]:
    explanation, situation = report.explanation, report.explanation.situation
    load = situation.work.load
    return {
        "kind": report.kind,
        "variant": situation.variant.telling_name,
        "load": {"kind": load.kind.value, "value": load.value, "batch_size": load.batch_size},
        "metrics": {
            tag: value
            for tag in _METRICS
            if (value := situation.measurement.value(tag)) is not None
        },
        "average_ms": {place: getattr(situation.times, place) for place in _PLACES},
        "measurements": explanation.measured,
        "causes": [_finding(finding) for finding in explanation.findings],
        "not_measured": list(explanation.lacks),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "cause": finding.cause.name.lower(),
        "name": finding.cause.value,
        "weight": round(finding.weight, 4),
        "evidence": list(finding.evidence),
        "advice": finding.advice,
        "change": None if finding.change is None else _change(finding.change),
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "model": change.model,
        "parameters": thaw(change.parameters),
        "perf_analyzer_flags": dict(change.flags),
    }
