# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison of two checkpoints: as tables, Markdown, JSON and JUnit XML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any
from xml.etree import ElementTree

from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import load_words, under
from model_analyzer.domain.words import counted, number_text
from model_analyzer.features.compare.facts.comparison import (
    ComparedPair,
    Ground,
    Judgement,
    Live,
    ModelComparison,
    Status,
    verdict,
)
from model_analyzer.noise.noise import FEWEST_CHANGES, Interval
from model_analyzer.reports.markdown import escaped, markdown_table
from model_analyzer.reports.tables import Table
from model_analyzer.results.change import Change
from model_analyzer.results.ranking import Ranking

_FORMAT = 1  # of the JSON document

# Characters that XML does not allow, even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A compared checkpoint: its name as the user gave it, its UUID and its time."""

    name: str
    uuid: str
    time: str

    def __str__(self) -> str:
        details = ", ".join(filter(None, (self.uuid[:8], self.time)))
        return f"{self.name} ({details})" if details else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonReport:
    """The result of comparing two checkpoints.

    `differences` (name, value in the base, value in the new one) are differences in the setup that
    could explain a change; `remarks` are sentences. `rankings` has those of BASE and NEW for each
    comparison.
    """

    base: Side
    new: Side
    differences: tuple[tuple[str, str, str], ...]
    remarks: tuple[str, ...]
    comparisons: tuple[ModelComparison, ...]
    rankings: tuple[tuple[Ranking, Ranking], ...]
    judgements: tuple[Judgement, ...]

    @property
    def is_regression(self) -> bool:
        return bool(self.wrong_outputs) or any(each.is_regression for each in self.judgements)

    @property
    def wrong_outputs(self) -> Sequence[str]:
        """The models whose outputs are known to differ."""
        return [each.name for each in self.comparisons if each.has_wrong_outputs]


def to_lines(report: ComparisonReport) -> Sequence[str]:
    """The lines above the tables."""
    lines = [f"BASE: {report.base}", f"NEW:  {report.new}"]
    if report.differences:
        lines.append("Differences in the setup, which may explain the changes:")
        lines += [f"  {text}" for text in _difference_texts(report)]
    return [*lines, *report.remarks]


def best_table(comparison: ModelComparison) -> Table:
    """The change between the best of both sides, and the median change of the common trials."""
    rows = []
    for label, changes in _parts(comparison):
        for tag in comparison.tags:
            change = changes[tag]
            rows.append(
                (
                    label, METRICS[tag].header, _value(change.base), _value(change.new),
                    _percent(change.percent), _interval(change.interval),
                    verdict(tag, change).value,
                )
            )  # fmt: skip
    for name, old, later in comparison.live.once if comparison.live is not None else ():
        percent = _percent(100 * (later / old - 1) if old else None)
        rows.append(("once", name, _value(old), _value(later), percent, "-", "-"))
    return Table(
        headers=("Of", "Metric", "Base", "New", "Change", "95 % interval", "Verdict"),
        rows=tuple(rows),
    )


def trials_table(comparison: ModelComparison) -> Table:
    """A row for each common trial, the largest regression first."""
    rows = (
        ((pair.new.trial.variants, load_words(pair.new.trial)), pair.changes)
        for pair in comparison.trials
    )
    return changes_table(("Configuration", "Load"), comparison.tags, rows)


def changes_table(
    headers: Sequence[str],
    tags: Sequence[str],
    rows: Iterable[tuple[Sequence[str], Mapping[str, Change] | None]],
) -> Table:
    """Each change of the metrics with its verdict, behind the first cells of each row; None are
    the changes to failures.
    """

    def cells(changes: Mapping[str, Change] | None, tag: str) -> tuple[str, str]:
        if changes is None:
            return "-", "only failures"
        return change_text(changes[tag]), verdict(tag, changes[tag]).value

    return Table(
        headers=(*headers, *(text for tag in tags for text in (METRICS[tag].name, "Verdict"))),
        rows=tuple(
            (*first, *(text for tag in tags for text in cells(changes, tag)))
            for first, changes in rows
        ),
    )


def rules_table(report: ComparisonReport) -> Table:
    """The result of each rule for each model."""
    return Table(
        headers=("Model", "Rule", "Result", "Reason"),
        rows=tuple(
            (
                judgement.comparison.name,
                str(judgement.rule),
                judgement.status.value,
                _reason(judgement),
            )
            for judgement in report.judgements
        ),
    )


def best_title(comparison: ModelComparison) -> str:
    """A title that names the best configuration of both sides."""
    if comparison.best is None:
        return f"{comparison.name}: only failures in NEW"
    if comparison.live is not None:
        live, load = comparison.live, under(comparison.best.base.trial)
        return f"{comparison.name} {load}: {counted(live.pairs, 'pair')} in {live.seconds:.0f} s"
    base, new = comparison.best.base, comparison.best.new
    if comparison.best.is_of_one_trial:
        other = base.trial.variants if base.trial.variants != new.trial.variants else ""
        named = f" ({other} in BASE)" if other else ""
        return f"{comparison.name}: best in both is {_shown(new)}{named}"
    return f"{comparison.name}: best in BASE is {_shown(base)}, in NEW {_shown(new)}"


def trials_title(comparison: ModelComparison) -> str:
    return f"{comparison.name}: {counted(len(comparison.trials), 'common trial')}"


def titled_tables(report: ComparisonReport) -> Iterator[tuple[str, Table]]:
    """The tables of each model on each kind of hardware, with their titles."""
    for comparison in report.comparisons:
        yield best_title(comparison), best_table(comparison)
        if comparison.trials:
            yield trials_title(comparison), trials_table(comparison)


def verdict_lines(report: ComparisonReport, *, broken: bool = False) -> Sequence[str]:
    """The status of each rule with its reason; with `broken`, only the broken rules."""
    return [
        *(f"{name}: other outputs" for name in report.wrong_outputs),
        *(
            f"{judgement.comparison.name}: {judgement.rule}: {judgement.status.value}"
            f" ({_reason(judgement)})"
            for judgement in report.judgements
            if judgement.is_regression or not broken
        ),
    ]


def comparison_remarks(comparison: ModelComparison) -> Iterator[str]:
    """Caveats of a comparison, as sentences."""
    model, count = comparison.name, len(comparison.trials)
    if comparison.taken_over:
        yield (
            f"{model}: {comparison.taken_over} measurements are in both checkpoints (NEW resumed"
            " from BASE), so they show no change"
        )
    best = comparison.best
    if count < FEWEST_CHANGES and best is not None and not best.new.measurement.is_round:
        yield (
            f"{model}: {count} common trials; {FEWEST_CHANGES} are needed to estimate the noise"
            " between runs, so latencies that were measured once have no interval"
        )


def rendered(report: ComparisonReport, form: str) -> str | None:
    """The report as `md`, `markdown`, `json` or `junit`; None for another form."""
    match form:
        case "md" | "markdown":
            return to_markdown(report)
        case "json":
            return to_json(report)
        case "junit":
            return to_junit(report)
    return None


def to_markdown(report: ComparisonReport) -> str:
    """The report as a comment for a pull request."""
    lines = ["## Model Analyzer: changes", ""]
    if report.judgements or report.wrong_outputs:
        lines += [f"**{result_text(report)}**", ""]
    if report.judgements:
        lines += [*markdown_table(rules_table(report)), ""]
    lines += [f"Base: {escaped(str(report.base))}  ", f"New: {escaped(str(report.new))}", ""]
    if report.differences:
        lines += ["> [!WARNING]", "> Differences in the setup, which may explain the changes:", ">"]
        lines += [f"> * {escaped(text)}" for text in _difference_texts(report)]
        lines.append("")
    lines += [f"* {escaped(remark)}" for remark in report.remarks]
    for comparison in report.comparisons:
        lines += ["", f"### {escaped(best_title(comparison))}", ""]
        lines += markdown_table(best_table(comparison))
        if comparison.trials:
            table = markdown_table(trials_table(comparison), "more, with smaller regressions")
            title = escape(trials_title(comparison))  # HTML: Markdown is not parsed here
            lines += ["", f"<details><summary>{title}</summary>", "", *table, ""]
            lines.append("</details>")
    return "\n".join([*lines, ""])


def result_text(report: ComparisonReport) -> str:
    """What the rules say together: a regression, that it is not certain, or none."""
    count = len(report.judgements)
    broken = sum(judgement.is_regression for judgement in report.judgements)
    if report.wrong_outputs:
        return f"Regression: other outputs of {', '.join(report.wrong_outputs)}"
    uncertain = sum(judgement.status is Status.UNCERTAIN for judgement in report.judgements)
    if broken:
        return f"Regression: {broken} of {counted(count, 'rule')} broken"
    if uncertain:
        return f"Not certain: {uncertain} of {counted(count, 'rule')} cannot be decided"
    return f"No regression: {counted(count, 'rule')} checked"


def to_json(report: ComparisonReport) -> str:
    """The whole report as JSON, with unrounded numbers."""
    document = {
        "format": _FORMAT,
        "base": asdict(report.base),
        "new": asdict(report.new),
        "differences": [
            {"what": name, "base": base, "new": new} for name, base, new in report.differences
        ],
        "remarks": list(report.remarks),
        "models": [_comparison(comparison) for comparison in report.comparisons],
        "rules": [
            {
                "model": judgement.comparison.model,
                "hardware": judgement.comparison.hardware,
                "rule": str(judgement.rule),
                "status": judgement.status.value,
                "by": judgement.ground.value,
            }
            for judgement in report.judgements
        ],
        "regression": report.is_regression,
    }
    return json.dumps(document, indent=1) + "\n"


def to_junit(report: ComparisonReport) -> str:
    """A test suite for each model (on each kind of hardware), with a test case for each rule
    (without rules, one that passes). Rules with an uncertain result are skipped.
    """
    root = ElementTree.Element("testsuites", name="model-analyzer compare")
    above = "\n".join(to_lines(report))
    for comparison in report.comparisons:
        judged = [each for each in report.judgements if each.comparison is comparison]
        suite = _element(
            root,
            "testsuite",
            name=comparison.name,
            tests=str((len(judged) or 1) + comparison.has_wrong_outputs),
            failures=str(sum(each.is_regression for each in judged) + comparison.has_wrong_outputs),
            skipped=str(sum(judgement.status is Status.UNCERTAIN for judgement in judged)),
            errors="0",
        )
        if not judged:
            _element(suite, "testcase", classname=comparison.name, name="compare")
        if comparison.live is not None and comparison.has_wrong_outputs:
            _, reason = comparison.live.outputs or (None, "")
            case = _element(suite, "testcase", classname=comparison.name, name="outputs")
            _element(case, "failure", message=reason)
        for judgement in judged:
            name = str(judgement.rule)
            case = _element(suite, "testcase", classname=comparison.name, name=name)
            if judgement.status is not Status.PASSED:
                kind = "failure" if judgement.is_regression else "skipped"
                _element(case, kind, message=_reason(judgement))
        out = _element(suite, "system-out")
        out.text = _NOT_XML.sub("?", "\n".join([above, best_title(comparison)]))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def change_text(change: Change) -> str:
    """A change in percent, with its interval if known."""
    interval = "" if change.interval is None else f"({_interval(change.interval)})"
    return f"{_percent(change.percent)} {interval}"


def _element(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    clean = {key: _NOT_XML.sub("?", value) for key, value in attributes.items()}
    return ElementTree.SubElement(parent, tag, clean)


def _reason(judgement: Judgement) -> str:
    comparison, tag = judgement.comparison, judgement.rule.tag
    if judgement.ground is Ground.FAILURES or comparison.best is None:
        return "NEW has only failures"
    if judgement.ground is Ground.TRIALS:
        change = comparison.overall[tag]
        return f"median of the common trials: {change_text(change)}"
    change = comparison.best.changes[tag]
    if change.new is None or (judgement.rule.is_change and change.base is None):
        return f"best: {METRICS[tag].name} was not measured"
    if judgement.rule.is_change:
        return f"best: {change_text(change)}"
    interval = comparison.best.new_values[tag]
    bounds = f" ({number_text(interval.low)} to {number_text(interval.high)})" if interval else ""
    return f"best: {_value(change.new)} {METRICS[tag].unit}{bounds}"


def _parts(comparison: ModelComparison) -> Iterator[tuple[str, Mapping[str, Change]]]:
    if comparison.best is not None:
        live = comparison.live
        yield "best" if live is None else counted(live.pairs, "pair"), comparison.best.changes
    if comparison.trials:
        yield "median of common trials", comparison.overall


def _comparison(comparison: ModelComparison) -> Mapping[str, Any]:
    best = comparison.best
    return {
        "model": comparison.model,
        "hardware": comparison.hardware,
        "best": None if best is None else _pair(best),
        "common_trials": [_pair(pair) for pair in comparison.trials],
        "measured_once": comparison.taken_over,
        "median_of_common_trials": _changes(comparison.overall),
        **({} if comparison.live is None else {"live": _live(comparison.live)}),
    }


def _live(live: Live) -> Mapping[str, Any]:
    verdict, reason = live.outputs or (None, "")
    return {
        "pairs": live.pairs,
        "values": {tag: [*map(list, pairs)] for tag, pairs in live.values.items()},
        "seconds": live.seconds,
        "outputs": None if verdict is None else {"verdict": verdict.value, "reason": reason},
        "once": [{"what": what, "base": base, "new": new} for what, base, new in live.once],
    }


def _pair(pair: ComparedPair) -> Mapping[str, Any]:
    return {
        "base": _trial(pair.base),
        "new": _trial(pair.new),
        "metrics": _changes(pair.changes),
    }


def _trial(item: MeasuredTrial) -> Mapping[str, Any]:
    return {"trial": item.trial.key, "variant": item.trial.variants, "load": item.trial.loads}


def _changes(changes: Mapping[str, Change]) -> Mapping[str, Any]:
    return {
        tag: {
            "base": change.base,
            "new": change.new,
            "change_percent": change.percent,
            "interval_percent": None
            if change.interval is None
            else [change.interval.low, change.interval.high],
            "verdict": verdict(tag, change).value,
        }
        for tag, change in changes.items()
    }


def _difference_texts(report: ComparisonReport) -> Iterator[str]:
    for name, base, new in report.differences:
        yield f"{name}: {base or 'none or unknown'} in BASE, {new or 'none or unknown'} in NEW"


def _shown(item: MeasuredTrial) -> str:
    return f"{item.trial.variants} {under(item.trial)}"


def _value(value: float | None) -> str:
    return "-" if value is None else number_text(float(value))


def _percent(percent: float | None) -> str:
    return "-" if percent is None else f"{percent:+.1f} %"


def _interval(interval: Interval | None) -> str:
    return "-" if interval is None else f"{interval.low:+.1f} to {interval.high:+.1f}"
