# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""All results as one machine-readable document: results.json (see results.schema.json)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.domain.goals import Constraint, Goal, ModelGoal, are_met
from model_analyzer.domain.hardware import Device
from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Outcome
from model_analyzer.domain.metrics import METRICS, Unit, canonical
from model_analyzer.domain.models import ModelVariant, group_members, is_openai, thaw
from model_analyzer.domain.profiles import Conclusion, FailedTrial, MeasuredTrial, Proof
from model_analyzer.domain.secrets import masked_values
from model_analyzer.domain.trials import Trial
from model_analyzer.noise.noise import Interval
from model_analyzer.noise.noise_model import intervals_of
from model_analyzer.reports.build import ReportOrigin, state_answer
from model_analyzer.reports.remarks import certainty_text, changes_text, remarks_of
from model_analyzer.results.answer import Answer
from model_analyzer.results.columns import moment_text
from model_analyzer.results.conditions import LeftOut
from model_analyzer.results.ranking import Costs, Ranking, VariantResult

# The version of the layout; increased when readers of the last version would misread this one.
RESULTS_VERSION = 3


def results_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document."""
    schema: dict[str, Any] = parse_json(
        Path(__file__).with_name("results.schema.json").read_text(encoding="utf-8")
    )
    return schema


def results_document(
    answers: Sequence[Answer], origin: ReportOrigin, *, complete: bool | None
) -> dict[str, Any]:
    """The answers with all their measurements. `complete` means that all searches finished; None
    means unknown.
    """
    return {
        "version": RESULTS_VERSION,
        "complete": complete,
        "origin": {
            "tool": origin.tool,
            "written": origin.written,
            "checkpoint": origin.checkpoint,
            "host": dict(origin.host),
            "gpus": [_gpu(device) for device in origin.devices],
        },
        "metrics": {
            tag: {
                "name": METRICS[tag].name,
                "unit": _unit(tag, answers),
                "better": METRICS[tag].better.value,
            }
            for tag in _tags([answer.ranking for answer in answers])
        },
        "models": [_model(answer) for answer in answers],
    }


def variant_document(result: VariantResult, ranking: Ranking) -> dict[str, Any]:
    """A variant of the ranking: its configuration, and all its measurements, best first."""
    return {
        "variant": result.name,
        "is_default": result.is_default,
        "satisfies_constraints": are_met(ranking.goal, result.best.measurement),
        "models": [_variant(variant, result.best.trial.gpus) for variant in result.variants],
        "measurements": [_measured(item, ranking) for item in result.measured],
    }


def _tags(rankings: Sequence[Ranking]) -> Sequence[str]:
    """The metrics in the document, in the order of the catalogue."""
    present = {
        tag
        for ranking in rankings
        for item in ranking.measured
        for values in _all_values(item.measurement)
        for tag in values
    }
    wanted = {tag for ranking in rankings for tag in ranking.goal.tags}
    return [tag for tag in METRICS if tag in present | wanted]


def _unit(tag: str, answers: Sequence[Answer]) -> str:
    """The unit of a metric; that of costs is the currency of the prices."""
    unit = METRICS[tag].unit
    costs = [answer.ranking.costs for answer in answers if answer.ranking.costs is not None]
    return costs[0].prices.currency if unit is Unit.CURRENCY and costs else str(unit)


def _all_values(measurement: Measurement) -> Iterator[Mapping[str, float]]:
    yield measurement.host
    yield from measurement.gpus.values()
    for model in measurement.models:
        yield model.values
        yield from model.composing.values()


def _model(answer: Answer) -> dict[str, Any]:
    ranking, conclusion = answer.ranking, answer.ranking.conclusion
    names = group_members(ranking.model)
    trials = [*(item.trial for item in ranking.measured), *(item.trial for item in ranking.failed)]
    default = ranking.default
    return {
        "model": ranking.model,
        "hardware": _hardware([*ranking.measured, *ranking.failed]),
        "sentence": state_answer(answer, complete=True).sentence,
        "verdict": answer.verdict.value,
        "changes": changes_text(answer) or None,
        "certainty": certainty_text(answer) or None,
        "remarks": list(remarks_of(answer)),
        "goals": [_goal(name, goal) for name, goal in zip(names, ranking.goal.models, strict=True)],
        "unmeasured_objectives": [canonical(tag) for tag in ranking.unmeasured],
        "server": thaw(trials[0].setup.meaning) if trials else None,
        "recommended": None if answer.best is None else _recommended(answer, answer.best),
        "conclusion": None if conclusion is None else _concluded(conclusion),
        "default": None if default is None else default.name,
        "hourly_cost": None if ranking.costs is None else _hourly_cost(ranking.costs),
        "circumstances": None if ranking.group is None else ranking.group.number,
        "left_out": [_left_out(part) for part in ranking.left_out],
        "proofs": [_proof(proof) for proof in ranking.proofs],
        "variants": [variant_document(result, ranking) for result in ranking.results],
        "failures": [_failed(item) for item in ranking.failed],
    }


def _hardware(items: Sequence[MeasuredTrial | FailedTrial]) -> dict[str, Any] | None:
    """The kind of hardware, and the machines that measured; None without trials."""
    if not items:
        return None
    outcomes = (
        run
        for item in items
        for run in (item.runs if isinstance(item, MeasuredTrial) else (item.failure,))
    )
    machines = dict.fromkeys(run.machine for run in outcomes if run.machine is not None)
    setup = items[0].trial.setup
    return {
        "kind": setup.kind,
        "gpus": list(setup.devices),
        "machines": [
            {
                "host": machine.host,
                "gpus": [_gpu(device) for device in machine.devices],
                "driver": machine.driver,
                "processor": machine.processor,
                "cores": machine.cores,
                "niceness": machine.niceness,
                "omp_num_threads": machine.threads,
            }
            for machine in machines
        ],
    }


def _gpu(device: Device) -> dict[str, Any]:
    return {"uuid": device.uuid, "name": device.name, "memory_mb": device.memory}


def _hourly_cost(costs: Costs) -> dict[str, Any]:
    amount = costs.hourly.amount
    return {
        "amount": None if amount is None else float(amount),
        "currency": costs.prices.currency,
        "date": costs.prices.date,
        "basis": costs.hourly.basis,
    }


def _left_out(part: LeftOut) -> dict[str, Any]:
    return {
        "reason": part.reason,
        "measurements": part.measurements,
        "failures": part.failures,
        "circumstances": part.conditions,
    }


def _proof(proof: Proof) -> dict[str, Any]:
    return {
        "kind": proof.kind.value,
        "verdict": proof.verdict.value,
        "variant": proof.variant,
        "load": proof.load or None,
        "sentence": proof.sentence,
        "numbers": dict(proof.numbers),
        "at": moment_text(proof.at),
    }


def _goal(name: str, goal: ModelGoal) -> dict[str, Any]:
    return {
        "model": name,
        "weighting": goal.weighting,
        "objectives": [
            {"metric": canonical(objective.tag), "weight": objective.weight}
            for objective in goal.objectives
        ],
        "constraints": [bounds(constraint) for constraint in goal.constraints],
    }


def bounds(constraint: Constraint) -> dict[str, Any]:
    """The limits of a constraint, None where there is none."""
    return {
        "metric": canonical(constraint.tag),
        "minimum": constraint.minimum,
        "maximum": constraint.maximum,
    }


def _recommended(answer: Answer, best: VariantResult) -> dict[str, Any]:
    """The recommended variant and load: the first of the ranking, even if it misses constraints."""
    ranking, gain, compliance = answer.ranking, answer.gain, answer.compliance
    return {
        "variant": best.name,
        "loads": _loads(best.best.trial),
        "metrics": best.best.measurement.totals,
        "times_measured": answer.times,
        **_evidence(best.best, ranking),
        "satisfies_constraints": are_met(ranking.goal, best.best.measurement),
        "shortfall_percent": ranking.goal.shortfall(best.best.measurement),
        "constraints": list(
            verdicts(ranking.goal, group_members(ranking.model), best.best.measurement)
        ),
        "compliance": None
        if compliance is None
        else {
            "kept": compliance.times_met,
            "measurements": len(compliance.measurements),
            "chance_percent": 100 * compliance.chance,
        },
        "gain_over_default": None
        if gain is None
        else {
            "percent": gain.percent,
            "noise_percent": gain.noise,
            "interval": _interval(gain.interval),
            "is_clear": gain.is_clear,
            "loads": None if gain.at is None else _loads(gain.at),
        },
        "ties": [_item(item) for item in ranking.ties],
        "undecided": [
            {
                **_item(each.item),
                "gain_percent": each.gain_percent,
                "noise_percent": each.noise_percent,
            }
            for each in answer.undecided
        ],
        "near_misses": [
            {
                **_item(miss.item),
                "gain_percent": miss.gain_percent,
                "chance_percent": 100 * miss.chance,
            }
            for miss in answer.near_misses
        ],
    }


def _item(item: MeasuredTrial) -> dict[str, Any]:
    return {
        "variant": item.trial.variants,
        "loads": _loads(item.trial),
        "metrics": item.measurement.totals,
    }


def _concluded(conclusion: Conclusion) -> dict[str, Any]:
    return {
        "trials": conclusion.trials,
        "reason": conclusion.explanation,
        "limit": conclusion.limit,
        "margin_percent": 100 * conclusion.margin,
        "chance_percent": 100 * conclusion.chance,
        "expected_gain_percent": 100 * conclusion.gain if conclusion.feasible else None,
    }


def verdicts(
    goals: Goal, names: Iterable[str], measurement: Measurement
) -> Iterator[dict[str, Any]]:
    """Whether a measurement meets each constraint of the goals of models with these names; `met` is
    None if its metric was not measured.
    """
    for index, (name, goal) in enumerate(zip(names, goals.models, strict=True)):
        for constraint in goal.constraints:
            value = measurement.model_value(index, constraint.tag)
            missed = None if value is None else constraint.excess(value) * 100
            yield {
                "model": name,
                **bounds(constraint),
                "value": value,
                "met": None if missed is None else missed == 0,
                "missed_by_percent": missed,
            }


def _variant(variant: ModelVariant, gpus: int) -> dict[str, Any]:
    """A configuration, with those of its composing models."""
    is_unknown = is_openai(variant.config)
    own = () if variant.is_ensemble or is_unknown else variant.instances(gpus=gpus)
    return {
        "model": variant.model,
        "variant": variant.name,
        "instances": [{"count": count, "kind": kind} for count, kind in own],
        "max_batch_size": None if is_unknown else variant.max_batch_size,
        "dynamic_batching": None if is_unknown else variant.has_dynamic_batching,
        "configuration": thaw(masked_values(variant.config)),
        "composing": [_variant(part, gpus) for part in variant.composing],
    }


def _measured(item: MeasuredTrial, ranking: Ranking) -> dict[str, Any]:
    measurement = item.measurement
    names = [work.variant.model for work in item.trial.workloads]
    return {
        "trial": item.trial.key,
        "loads": _loads(item.trial),
        "times_measured": len(item.runs),
        **_evidence(item, ranking),
        "satisfies_constraints": are_met(ranking.goal, measurement),
        "shortfall_percent": ranking.goal.shortfall(measurement),
        "metrics": measurement.totals,
        "models": [
            _of_model(name, model) for name, model in zip(names, measurement.models, strict=True)
        ],
        "gpus": {uuid: dict(values) for uuid, values in measurement.gpus.items()},
        "doubts": [{"law": doubt.law, "text": doubt.sentence} for doubt in measurement.doubts],
        "notices": [
            {"kind": notice.kind.value, "text": notice.text} for notice in measurement.notices
        ],
        "commands": list(measurement.commands),
        "host": _host(measurement),
        "started": moment_text(measurement.started),
        "duration_s": measurement.duration_s,
    }


def _evidence(item: MeasuredTrial, ranking: Ranking) -> dict[str, Any]:
    """The number of rounds (None if it was measured in another way), the requests of all
    models, and the 95 % intervals of throughput, p99, tokens and the metrics of the goal.
    """
    measurement = item.measurement
    if not measurement.is_round:
        return {"instalments": None, "requests": None, "intervals": {}}
    intervals = intervals_of(ranking.noise_model, ranking.goal, item.runs)
    counts = [model.requests for model in measurement.models if model.requests is not None]
    return {
        "instalments": len(item.runs),
        "requests": sum(counts) if counts else None,
        "intervals": {tag: _interval(interval) for tag, interval in intervals.items()},
    }


def _interval(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else {"low": interval.low, "high": interval.high}


def _of_model(name: str, model: ModelMeasurement) -> dict[str, Any]:
    return {
        "model": name,
        "metrics": dict(model.values),
        "requests": model.requests,
        "windows": list(model.windows),
        "composing": {part: dict(values) for part, values in model.composing.items()},
    }


def _failed(item: FailedTrial) -> dict[str, Any]:
    failure = item.failure
    return {
        "trial": item.trial.key,
        "variant": item.trial.variants,
        "loads": _loads(item.trial),
        "reason": failure.reason.name,
        "message": failure.message,
        "hint": failure.hint,
        "log": list(failure.log),
        "commands": list(failure.commands),
        "host": _host(failure),
        "started": moment_text(failure.started),
        "duration_s": failure.duration_s,
    }


def _host(outcome: Outcome) -> str | None:
    return None if outcome.machine is None else outcome.machine.host


def _loads(trial: Trial) -> Sequence[dict[str, Any]]:
    """The load of each model; `value` is None for request intervals from a file."""
    return [
        {
            "model": work.variant.model,
            "kind": work.load.kind.value,
            "value": work.load.value or None,
            "batch_size": work.load.batch_size,
        }
        for work in trial.workloads
    ]
