# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Why a variant is slow, in sentences for people and as a document for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.hardware import place_text
from model_analyzer.domain.measurements import REQUESTS_FOR_P99
from model_analyzer.domain.models import thaw
from model_analyzer.domain.trials import Failure, Workload
from model_analyzer.domain.words import capitalized, counted, number_text, setting_text
from model_analyzer.reports.remarks import failure_advice
from model_analyzer.results.change import Change
from model_analyzer.results.explain.explain import Explanation
from model_analyzer.results.explain.finding import AdvisedChange, Confirmation, FoundCause
from model_analyzer.results.explain.situation import Situation, ms, percent
from model_analyzer.results.time_parts import TimePart, TimeParts

# The version of the layout; increased when readers of the last version would misread this one.
EXPLAIN_VERSION = 1

_METRICS = ("perf_throughput", *(f"perf_latency_{name}" for name in ("avg", "p50", "p95", "p99")))

# In the first sentence: a metric, the words before and after it.
_SUBJECT = (
    ("perf_throughput", "", "infer/s"),
    ("time_to_first_token_p99", "p99 of the first token ", "ms"),
    ("inter_token_latency_p99", "p99 between tokens ", "ms"),
    ("perf_latency_p50", "p50 ", "ms"),
    ("perf_latency_p99", "p99 ", "ms"),
)

_PLACES = {
    TimePart.QUEUE: "waiting in the queue",
    TimePart.FIRST_TOKEN: "to the first token",
    TimePart.FURTHER_TOKENS: "for the further tokens",
    TimePart.INPUTS: "copying inputs",
    TimePart.COMPUTE: "executing the model",
    TimePart.OUTPUTS: "copying outputs",
    TimePart.OUTSIDE: "outside the model (client, network, server)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainReport:
    """The explanation of a variant of a `model` on one `kind` of hardware, "" if it is the only
    one; the `goal` chose the load. `confirmations` are advice that was tested.
    """

    model: str
    goal: Goal
    kind: str
    explanation: Explanation
    confirmations: tuple[Confirmation, ...] = ()

    @property
    def variant(self) -> str:
        """The name of the variant."""
        return self.explanation.situation.variant.telling_name

    @property
    def findings(self) -> Sequence[FoundCause]:
        """The causes, without those that a test of their advice refuted."""
        refuted = {each.finding.cause for each in self.confirmations if each.refutes}
        return [each for each in self.explanation.findings if each.cause not in refuted]

    @property
    def unsure(self) -> str:
        """That the load was measured only briefly, and what to do; "" if it was not."""
        situation = self.explanation.situation
        if not situation.is_first_look:
            return ""
        is_tested = any(
            each.change is not None and each.under.work == situation.work
            for each in self.explanation.findings
        )
        advice = (
            "--confirm does"
            if is_tested
            else "profile again with a longer measurement-interval in perf_analyzer_flags"
        )
        return (
            f"Unsure: {counted(situation.requests, 'request')} {situation.under} were measured so"
            f" far, and {REQUESTS_FOR_P99} are needed for a p99: queues and slow requests may be"
            f" chance. Measure more: {advice}."
        )

    @property
    def notes(self) -> Sequence[str]:
        """Causes that measurements rule out, unless that is among the confirmations, and whether
        the explanation is unsure.
        """
        ruled_out = () if self.confirmations else self.explanation.ruled_out
        notes = [f"Ruled out: {confirmation_text(each)}" for each in ruled_out]
        return [*notes, self.unsure] if self.unsure else notes

    @property
    def failure(self) -> str:
        """What went wrong in other trials of the variant, and what to do; "" if nothing did."""
        failed = self.explanation.failed
        return failure_advice(self.variant, failed) if failed else ""

    @property
    def subject(self) -> str:
        """The variant, its load and its latency, in a sentence."""
        situation = self.explanation.situation
        place = f" {place_text(self.kind)}" if self.kind else ""
        values = [
            f"{before}{number_text(value)} {unit}"
            for tag, before, unit in _SUBJECT
            if (value := situation.value(tag)) is not None
        ]
        return f"{self.variant}{place} {situation.under}: {', '.join(values)}."

    @property
    def times(self) -> str:
        """Where the time of an average request goes, the largest part first."""
        return _times_text(self.explanation.situation.times)


def explain_lines(report: ExplainReport) -> Iterator[str]:
    """The explanation for a terminal."""
    explanation = report.explanation
    yield report.subject
    yield report.times
    yield ""
    if report.failure:
        yield report.failure
    elif not report.findings:
        yield "Nothing unusual."
    for number, finding in enumerate(report.findings, start=1):
        yield from _finding_lines(number, finding)
    if report.confirmations:
        yield ""
        yield "Tested on the server:"
        for confirmation in report.confirmations:
            yield f"   - {confirmation_text(confirmation)}"
    for note in report.notes:
        yield ""
        yield note
    if explanation.lacks:
        yield ""
        yield f"Not measured: {'; '.join(explanation.lacks)}."


def _times_text(times: TimeParts) -> str:
    """Where the time of an average request goes, the largest part first."""
    if not times.total:
        return "The average latency was not measured."
    if not times.parts:
        return f"An average request takes {ms(times.total)}; where that time goes is {times.why}."
    shown = [
        f"{ms(time)} {_PLACES[part]} ({percent(time / times.total)})"
        for part, time in sorted(times.parts.items(), key=lambda item: -item[1])
        if time >= 0.01 * times.total
    ]
    rest = times.total - sum(times.parts.values())
    if TimePart.COMPUTE in times.parts and rest >= 0.01 * times.total:
        shown.append(f"the other {ms(rest)} in queues of its models or outside (not told apart)")
    return f"An average request takes {ms(times.total)}: {', '.join(shown)}."


def _finding_lines(number: int, finding: FoundCause) -> Iterator[str]:
    yield f"{number}. {capitalized(finding.cause.value)}"
    for evidence in finding.evidence:
        yield f"   - {evidence}"
    yield f"   Advice: {finding.advice}."


def confirmation_text(confirmation: Confirmation) -> str:
    """What a change did, whether it helped or not."""
    finding, after = confirmation.finding, confirmation.after
    what = f"against “{finding.cause.value}”, {_change_text(confirmation)}"
    if isinstance(after, Failure):
        return f"{what}: {confirmation.effect.value} ({after.message})."
    before = confirmation.before
    return (
        f"{what}, {before.under}: {number_text(before.throughput)} →"
        f" {number_text(after.throughput)} infer/s{_interval(confirmation.throughput)},"
        f" p99 {ms(before.value('perf_latency_p99'))} →"
        f" {ms(after.value('perf_latency_p99'))}{_interval(confirmation.p99)}:"
        f" {confirmation.effect.value}."
    )


def _interval(change: Change | None) -> str:
    """The interval of a change in brackets, "" if it is unknown."""
    if change is None or change.interval is None:
        return ""
    return f" ({change.interval.low:+.0f} to {change.interval.high:+.0f} %)"


def _change_text(confirmation: Confirmation) -> str:
    """The change in words, with the variant that has it."""
    change = confirmation.finding.change
    assert change is not None, "it was tested"
    flags = [f"{name}: {value}" for name, value in change.flags.items()]
    if flags:
        return f"perf_analyzer with {', '.join(flags)}"
    own = confirmation.work.variant
    of = "" if change.model == own.model else f" of {change.model}"
    parameters = ", ".join(
        f"{name}{of} {setting_text(thaw(value), in_brackets=True)}"
        for name, value in change.parameters.items()
    )
    return f"{own.telling_name} ({parameters})"


def explain_document(reports: Sequence[ExplainReport]) -> dict[str, Any]:
    """The explanations for programs, with unrounded numbers."""
    return {
        "version": EXPLAIN_VERSION,
        "model": reports[0].model,
        "hardware": [_on_kind(report) for report in reports],
    }


def _on_kind(report: ExplainReport) -> dict[str, Any]:
    explanation, situation = report.explanation, report.explanation.situation
    return {
        "kind": report.kind,
        "variant": report.variant,
        "load": _load(situation.work),
        "metrics": _metrics(situation),
        "intervals": {tag: [each.low, each.high] for tag, each in explanation.intervals.items()},
        "average_ms": {part.value: time for part, time in situation.times.parts.items()} or None,
        "measurements": explanation.measured,
        "causes": [_finding(finding) for finding in report.findings],
        "ruled_out": [_confirmation(each) for each in explanation.ruled_out],
        "failed": [
            {
                "load": _load(each.trial.workloads[0]),
                "message": each.failure.message,
                "hint": each.failure.hint,
            }
            for each in explanation.failed
        ],
        "not_measured": list(explanation.lacks),
        "unsure": report.unsure,
        "confirmed": [_confirmation(each) for each in report.confirmations],
    }


def _load(work: Workload) -> dict[str, Any]:
    load = work.load
    return {"kind": load.kind.value, "value": load.value, "batch_size": load.batch_size}


def _finding(finding: FoundCause) -> dict[str, Any]:
    return {
        "cause": finding.cause.name.lower(),
        "name": finding.cause.value,
        "weight": round(finding.weight, 4),
        "evidence": list(finding.evidence),
        "advice": finding.advice,
        "change": None if finding.change is None else _change(finding.change),
    }


def _confirmation(confirmation: Confirmation) -> dict[str, Any]:
    after = confirmation.after
    return {
        "cause": confirmation.finding.cause.name.lower(),
        "variant": confirmation.work.variant.telling_name,
        "change": _finding(confirmation.finding)["change"],
        "effect": confirmation.effect.name.lower(),
        "before": _metrics(confirmation.before),
        "after": None if isinstance(after, Failure) else _metrics(after),
        "change_percent": {
            tag: None if change is None else _change_percent(change)
            for tag, change in (
                ("perf_throughput", confirmation.throughput),
                ("perf_latency_p99", confirmation.p99),
            )
        },
        "failure": after.message if isinstance(after, Failure) else None,
    }


def _change_percent(change: Change) -> dict[str, Any]:
    interval = change.interval
    return {
        "value": change.percent,
        "interval": None if interval is None else [interval.low, interval.high],
    }


def _metrics(situation: Situation) -> dict[str, float]:
    values = {tag: situation.measurement.value(tag) for tag in _METRICS}
    return {tag: value for tag, value in values.items() if value is not None}


def _change(change: AdvisedChange) -> dict[str, Any]:
    return {
        "model": change.model,
        "parameters": thaw(change.parameters),
        "perf_analyzer_flags": dict(change.flags),
    }
