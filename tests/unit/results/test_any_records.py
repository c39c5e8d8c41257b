# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever a checkpoint holds, each of its records is ranked, or counted once with a reason."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any

import jsonschema
import pytest
from hypothesis import Phase, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import DEFAULT_SUFFIX
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.trials import Load, LoadKind, ServerSetup, Trial, Workload
from model_analyzer.reports.build import Summary
from model_analyzer.reports.document import results_document, results_schema
from model_analyzer.reports.html import render_summary
from model_analyzer.results.answer import Answer, AnswerVerdict, answer_of
from model_analyzer.results.ranking import Ranking, rank, rank_across
from tests.drawn import NOT_DRAWN
from tests.phrases import DEFAULT_IS_BEST
from tests.sizes import costly
from tests.unit.builders import (
    at_least,
    at_most,
    failure,
    objectives,
    origin,
    rank_one,
    summary_page,
    variant,
)
from tests.unit.builders import together as measured_together

SETUPS = [
    ServerSetup(),
    ServerSetup(version="2.51.0"),
    ServerSetup(launch="docker", devices=("NVIDIA L4",)),
    ServerSetup(version="2.51.0", devices=("NVIDIA L4",)),
    ServerSetup(flags={"pinned-memory-pool-byte-size": 0}),
]
FLAGS = [{}, {"string-length": "16"}, {"shape": ("a:1", "b:2")}]
VALUES = st.sampled_from([0.0, 5.0, 9.9, 10.0, 10.04, 11.0, 100.0])
# what is bounded, and wished for, was not always measured
GOALS = [
    ModelGoal(),
    ModelGoal(constraints=at_most(perf_latency_p99=10)),
    ModelGoal(constraints=at_most(perf_latency_p95=10) + at_least(perf_throughput=10)),
    ModelGoal(objectives=objectives(gpu_used_memory=1, perf_throughput=10)),
    ModelGoal(objectives=objectives(perf_latency_p99=1), constraints=at_most(gpu_utilization=1)),
]

# these values are large: to make failing ones smaller takes minutes
MANY = hypothesis_settings(costly(3), phases=[Phase.explicit, Phase.reuse, Phase.generate])


@st.composite
def workloads(draw: st.DrawFn, model: str) -> Workload:
    name = draw(st.sampled_from([DEFAULT_SUFFIX, "_config_0", "_config_1"]))
    parts = []
    if draw(st.booleans()):
        parts = [variant(f"part{DEFAULT_SUFFIX}", model="part", max_batch_size=2)]
    return Workload(
        variant=variant(
            f"{model}{name}",
            model=model,
            files=draw(st.sampled_from(["", "before", "now"])),
            composing=parts,
            max_batch_size=draw(st.sampled_from([1, 2])),
            parameters={"exact": {"string_value": draw(st.sampled_from(["yes", "no"]))}},
        ),
        load=Load(
            kind=draw(st.sampled_from(LoadKind)),
            value=draw(st.sampled_from([1, 2])),
            batch_size=draw(st.sampled_from([1, 2])),
        ),
        flags=draw(st.sampled_from(FLAGS)),
        inputs=draw(st.sampled_from(["", "text"])),
        base=draw(st.sampled_from(["", "", "old", "new"])),
    )


@st.composite
def records(draw: st.DrawFn, names: Sequence[str]) -> TrialRecord:
    order = draw(st.sampled_from(list(permutations(names))))
    works = [draw(workloads(model)) for model in order]
    trial = Trial(
        workloads=tuple(works),
        setup=draw(st.sampled_from(SETUPS)),
        repetition=draw(st.sampled_from([0, 0, 1, 2])),
    )
    if draw(st.integers(0, 4)) == 0:
        return TrialRecord(trial=trial, outcome=failure())
    tags = ["perf_throughput", "perf_latency_p99", "perf_latency_p95"]
    values = [{tag: draw(VALUES) for tag in tags if draw(st.integers(0, 5))} for _ in works]
    return TrialRecord(trial=trial, outcome=measured_together(*values))


def by_key(record: TrialRecord) -> str:
    return record.trial.key


def counts(rankings: Iterable[Ranking]) -> tuple[int, int]:
    """Measurements and failures that are ranked, or counted as left out."""
    measured = failed = 0
    for ranking in rankings:
        # equal variants with different names share measurements
        measured += len({id(run) for item in ranking.measured for run in item.runs})
        failed += len(ranking.failed)
        measured += sum(part.measurements for part in ranking.left_out)
        failed += sum(part.failures for part in ranking.left_out)
    return measured, failed


def held(profile: Profile, names: Sequence[str], kind: str | None = None) -> tuple[int, int]:
    """Those of just these models, on this kind of hardware or on all, that the profile has."""
    own = [
        isinstance(record.outcome, Measurement)
        for record in profile.records
        if sorted(work.variant.model for work in record.trial.workloads) == sorted(names)
        and kind in (None, record.trial.setup.kind)
    ]
    return sum(own), len(own) - sum(own)


def check(rankings: Sequence[Ranking]) -> None:
    """What is shown does not contradict itself."""
    answers = [answer_of(ranking) for ranking in rankings]
    text = json.loads(json.dumps(results_document(answers, origin(), complete=None)))
    jsonschema.validate(text, results_schema())
    page = summary_page(*rankings)
    assert (page.hardware is not None) == (len(rankings) > 1)
    for answer, model, summary in zip(answers, text["models"], page.parts, strict=True):
        check_part(answer, model, summary)
    assert ">None</td>" not in render_summary(page, NOT_DRAWN)


def check_part(answer: Answer, model: Mapping[str, Any], summary: Summary) -> None:
    ranking = answer.ranking
    gains = [figure for figure in summary.figures if figure.label == "Gain over the default"]
    for gain in gains:
        if gain.note == "not clear":
            assert answer.verdict is AnswerVerdict.EQUAL
        else:
            assert answer.verdict is AnswerVerdict.RECOMMENDED
            assert int(gain.value.split()[0]) > 0
    assert (model["verdict"] in ("nearest", "nothing")) == (not summary.statement.is_met)
    if answer.verdict is AnswerVerdict.KEEP:
        assert ranking.results[0].is_default
        if answer.rivals:
            assert DEFAULT_IS_BEST not in summary.statement.sentence
    if ranking.any_passes:
        assert ranking.results[0].passes
    assert not re.search(r"(?<!\d)0 % better", summary.statement.sentence)


@pytest.mark.parametrize("names", [("m",), ("a", "b")])
@MANY
@given(data=st.data())
def test_each_record_is_ranked_or_counted_once(names: Sequence[str], data: st.DataObject) -> None:
    mine = data.draw(st.lists(records(names), max_size=12, unique_by=by_key))
    others = data.draw(st.lists(records(("m", "b")[: len(names)]), max_size=2))
    together = ",".join(names)
    present: list[dict[str, tuple[str, ...]]] = [
        {}, {together: ("new",) * len(names)}, {together: ("old",)},
    ]  # fmt: skip
    bases = data.draw(st.sampled_from(present))
    profile = Profile(records=(*mine, *others), bases=bases)
    goal = Goal(models=tuple(data.draw(st.sampled_from(GOALS)) for _ in names))

    by_default = rank(profile, ",".join(names), goal)
    assert counts(by_default) == held(profile, names)
    assert len({ranking.kind for ranking in by_default}) == len(by_default)
    check(by_default)
    for number, group in enumerate(by_default[0].groups, 1):
        chosen = rank_one(profile, ",".join(names), goal, conditions=number)
        assert (chosen.group, chosen.groups) == (group, by_default[0].groups)
        assert counts([chosen]) == held(profile, names, group.kind)
    swapped = rank(profile, ",".join(reversed(names)), goal)
    assert counts(swapped) == counts(by_default)


@MANY
@given(data=st.data())
def test_the_answer_across_models_is_in_order(data: st.DataObject) -> None:
    parts = [
        data.draw(st.lists(records((name,)), min_size=1, max_size=5, unique_by=by_key))
        for name in ("m", "n")
    ]
    goal = Goal(models=(data.draw(st.sampled_from(GOALS)),))
    profile = Profile(records=[record for part in parts for record in part])
    rankings = [ranking for name in ("m", "n") for ranking in rank(profile, name, goal)]
    every = rank_across(rankings, goal, "all")
    summary_page(*every)
    for across in every:
        assert [result.passes for result in across.results] == sorted(
            (result.passes for result in across.results), reverse=True
        )
