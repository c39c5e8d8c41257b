# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Ensembles, BLS models and several models at once: what varies, under which names and loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import ModelFacts, VariantNames, thaw
from model_analyzer.domain.settings import QuickSettings
from model_analyzer.domain.trials import Trial
from model_analyzer.search.plan import Subject
from tests.unit.search.surfaces import (
    QUICK,
    UNBOUNDED,
    all_parts,
    bounds,
    composing,
    counts,
    ensemble,
    flat,
    limits,
    measurement,
    model,
    saturating,
    search,
    sequence,
    subject,
    together,
)

SMALL = bounds(batch=(None, 16), instances=(None, 4))


def trials_of(
    target: Subject, *, quick: QuickSettings = SMALL, names: VariantNames | None = None
) -> list[Trial]:
    return sequence(search(target, QUICK, quick=quick, names=names), saturating)


def sizes(trial: Trial) -> dict[str, tuple[int, int]]:
    """Batch limit and instances of every model that the server has for the trial."""
    return {
        name: (
            variant.max_batch_size,
            sum(group["count"] for group in variant.config.get("instance_group", ())),
        )
        for name, variant in all_parts(trial).items()
    }


# -- ensembles ---------------------------------------------------------------------------------


def test_the_parts_of_an_ensemble_vary_and_it_follows_their_batch_limits() -> None:
    trials = trials_of(subject(ensemble(model("a"), model("b"))))

    assert sizes(trials[1]) == {"m": (1, 0), "a": (1, 1), "b": (1, 1)}
    for trial in trials[1:]:
        of_each = sizes(trial)
        assert of_each["m"][0] == min(of_each["a"][0], of_each["b"][0])
    for part in ("a", "b"):
        limits_tried, counts_tried = zip(*(sizes(trial)[part] for trial in trials[1:]), strict=True)
        assert len(set(limits_tried)) > 1
        assert len(set(counts_tried)) > 1


def test_an_ensemble_without_batching_stays_without() -> None:
    parts = (model("a", max_batch_size=0), model("b"))

    trials = trials_of(subject(ensemble(*parts, max_batch_size=0)))

    assert {"max_batch_size" in trial.workloads[0].variant.config for trial in trials} == {False}
    assert max(sizes(trial)["b"][0] for trial in trials) > 1


def test_a_climb_over_an_ensemble_widens_its_narrowest_part() -> None:
    trials = trials_of(subject(ensemble(model("a"), model("b"))))

    assert throughput(max(trials, key=throughput)) > 4 * throughput(trials[1])


def throughput(trial: Trial) -> float:
    return float(saturating(trial).models[0].values["perf_throughput"])


def test_an_ensemble_has_a_number_for_each_list_of_composing_variants() -> None:
    trials = trials_of(subject(ensemble(model("a"), model("b"))))

    lists = [tuple(part.name for part in trial.workloads[0].variant.composing) for trial in trials]
    assert lists[0] == ("a_config_default", "b_config_default")
    assert lists[1] == ("a_config_0", "b_config_0")
    assert len(set(lists)) == len({trial.variants for trial in trials}) == len(trials)
    assert [trial.variants for trial in trials] == [
        "m_config_default",
        *(f"m_config_{number}" for number in range(len(trials) - 1)),
    ]
    assert len({trial.key for trial in trials}) == len(trials)


def test_the_log_names_parts_and_ensembles(caplog: pytest.LogCaptureFixture) -> None:
    target = subject(
        ensemble(model("a"), model("b")),
        composing("a", parameters=counts(1, 2, kind="KIND_CPU")),
        composing("b", parameters=counts(2, kind="KIND_GPU")),
    )

    with caplog.at_level("INFO"):
        trials_of(target)

    assert caplog.messages[3:15] == [
        "Creating model config: a_config_0",
        "  Setting instance_group to [{'count': 1, 'kind': 'KIND_CPU'}]",
        "  Setting max_batch_size to 1",
        "  Enabling dynamic_batching",
        "",
        "Creating model config: b_config_0",
        "  Setting instance_group to [{'count': 2, 'kind': 'KIND_GPU'}]",
        "  Setting max_batch_size to 1",
        "  Enabling dynamic_batching",
        "",
        "Creating ensemble model config: m_config_0",
        "  Setting max_batch_size to 1",
    ]
    assert any(text.startswith("Found existing model config: b_config") for text in caplog.messages)


def test_a_nested_ensemble_is_as_good_as_its_parts() -> None:
    inner = ensemble(model("a"), model("b"), name="inner")

    trials = trials_of(subject(ensemble(inner, model("a"), model("c", max_batch_size=2))))

    for trial in trials[1:]:
        of_each = sizes(trial)
        assert of_each["inner"][0] == min(of_each["a"][0], of_each["b"][0])
        assert of_each["m"][0] == min(of_each["inner"][0], of_each["c"][0])
        outer = trial.workloads[0].variant
        # the same model twice is the same variant twice
        assert outer.composing[0].composing[0] == outer.composing[1]


def test_more_than_four_parts_are_searched_too() -> None:
    def one_after_another(trial: Trial) -> Measurement:
        times = [1 / (limit * count) for limit, count in sizes(trial).values() if count]
        return measurement(1 / sum(times))

    groups = [{"count": 1}]
    parts = [model(f"part{number}", instance_group=groups) for number in range(7)]
    target = subject(ensemble(*parts))

    trials = sequence(search(target, QUICK, quick=SMALL), one_after_another)

    start, *_, end = (sizes(trial) for trial in trials[1:])
    assert all(end[part.name] > start[part.name] for part in parts)


# -- BLS ---------------------------------------------------------------------------------------


def test_a_bls_model_and_its_composing_models_vary() -> None:
    trials = trials_of(subject(model("m", model("a"), model("b", max_batch_size=0))))

    assert sizes(trials[1]) == {"m": (1, 1), "a": (1, 1), "b": (0, 1)}
    for name in ("m", "a", "b"):
        assert len({sizes(trial)[name] for trial in trials[1:]}) > 1


def test_a_bls_model_has_a_name_for_each_combination() -> None:
    trials = trials_of(subject(model("m", model("a"))))

    contents = {trial.variants: sizes(trial) for trial in trials}
    own = {str(thaw(trial.workloads[0].variant.config)) for trial in trials}

    assert len(contents) == len(trials) > len(own)


def test_a_bls_model_may_call_an_ensemble() -> None:
    inner = ensemble(model("a"), model("b"), name="inner")

    trials = trials_of(subject(model("m", inner)))

    assert set(sizes(trials[1])) == {"m", "inner", "a", "b"}
    assert sizes(trials[1])["inner"] == (1, 0)


# -- what the user says about composing models -------------------------------------------------


@pytest.mark.parametrize(
    ("said", "cpu_only", "kind"),
    [
        (None, False, "KIND_GPU"),
        (None, True, "KIND_CPU"),
        (composing("a", cpu_only=True), False, "KIND_CPU"),
        (composing("a", cpu_only=False), True, "KIND_GPU"),
        (composing("a", cpu_only=True, parameters=counts(1, kind="KIND_GPU")), True, "KIND_GPU"),
        (
            composing("a", parameters={"instance_group": [[{"kind": "KIND_CPU"}]]}),
            False,
            "KIND_CPU",
        ),
    ],
)
def test_the_nearest_setting_decides_the_kind_of_a_part(
    said: Any, cpu_only: bool, kind: str
) -> None:
    target = subject(ensemble(model("a")), *filter(None, [said]), cpu_only=cpu_only)

    trials = trials_of(target)

    kinds = {
        group["kind"]
        for trial in trials[1:]
        for group in all_parts(trial)["a"].config["instance_group"]
    }
    assert kinds == {kind}


def test_without_gpus_all_instances_are_on_cpus() -> None:
    target = subject(ensemble(model("a"), model("b")), composing("a", cpu_only=False))

    (trial,) = trials_of(target.without_gpus())[1:2]

    for part in ("a", "b"):
        assert all_parts(trial)[part].config["instance_group"][0]["kind"] == "KIND_CPU"


def test_fields_of_a_part_are_in_all_its_variants() -> None:
    batching = {"dynamic_batching": [{"max_queue_delay_microseconds": 0}]}
    target = subject(ensemble(model("a")), composing("a", parameters=batching))

    for trial in trials_of(target)[1:]:
        assert all_parts(trial)["a"].config["dynamic_batching"] == {
            "max_queue_delay_microseconds": 0
        }


# -- loads -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        # the part that needs the fewest requests
        (ensemble(model("a", max_batch_size=4), model("b"), max_batch_size=4), 8),
        (ensemble(model("a", max_batch_size=0), max_batch_size=0), 2),
        (
            ensemble(
                ensemble(model("a"), model("b", max_batch_size=1), name="inner", max_batch_size=1),
                max_batch_size=1,
            ),
            2,
        ),
        # a BLS model is its own
        (model("m", model("a", max_batch_size=1), max_batch_size=4), 8),
    ],
)
def test_the_load_keeps_the_narrowest_part_busy(facts: ModelFacts, expected: int) -> None:
    first = search(subject(facts), QUICK).ask()

    assert first is not None
    assert first.workloads[0].load.value == expected


def test_models_that_are_no_steps_do_not_limit_an_ensemble() -> None:
    steps = ensemble(model("a"), model("b"))
    called = model("c", max_batch_size=1)
    facts = ModelFacts(
        name="m", config=steps.config, files="f", composing=(*steps.composing, called)
    )

    trials = trials_of(subject(facts))

    assert trials[0].workloads[0].load.value == 16
    assert all(sizes(t)["m"][0] == min(sizes(t)["a"][0], sizes(t)["b"][0]) for t in trials[1:])


# -- several models ----------------------------------------------------------------------------


def test_several_models_are_measured_together_each_under_its_load() -> None:
    target = together(subject(model("m")), subject(model("n", max_batch_size=0)))

    trials = trials_of(target, quick=UNBOUNDED)

    assert trials[0].variants == "m_config_default,n_config_default"
    for trial in trials[1:]:
        for work in trial.workloads:
            limit, count = sizes(trial)[work.variant.model]
            assert work.load.value == 2 * max(limit, 1) * count
    assert len({tuple(work.load.value for work in trial.workloads) for trial in trials}) > 1


def test_names_of_several_models_are_numbered_each_by_its_own_content() -> None:
    trials = trials_of(together(subject(model("m")), subject(model("n"))))

    for name in ("m", "n"):
        contents = {
            all_parts(trial)[name].name: all_parts(trial)[name].identity for trial in trials
        }
        assert len(set(contents.values())) >= len(contents) - 1  # the default may come again
    assert len({trial.variants for trial in trials}) == len(trials)


def test_the_sweep_puts_the_same_load_on_all_models() -> None:
    target = together(subject(model("m")), subject(model("n")))
    walked = len(sequence(search(target, QUICK), flat_for_all))

    trials = sequence(search(target, limits(concurrency=(1, 4)), best=1), flat_for_all)

    assert [[work.load.value for work in trial.workloads] for trial in trials[walked:]] == [
        [1, 1], [2, 2], [4, 4],
    ]  # fmt: skip


def flat_for_all(trial: Trial) -> Measurement:
    return Measurement(models=flat(trial).models * len(trial.workloads))


def test_all_models_count_in_the_direction() -> None:
    """The first model is the slower, the more the second one gets."""

    def rivals(trial: Trial) -> Measurement:
        (_, first), (_, second) = sizes(trial).values()
        values = (100.0 * first / max(second, 1), 50.0 * second)
        return Measurement(models=tuple(measurement(value).models[0] for value in values))

    target = together(subject(model("m", max_batch_size=0)), subject(model("n", max_batch_size=0)))

    trials = sequence(search(target, QUICK, quick=bounds(instances=(None, 6))), rivals)

    assert max(sizes(trial)["m"][1] for trial in trials) > 3


# -- names after an interruption ---------------------------------------------------------------


@pytest.mark.parametrize(
    "target",
    [
        subject(ensemble(model("a"), model("b"))),
        subject(model("m", ensemble(model("a"), model("b"), name="inner"), model("c"))),
        together(subject(model("m")), subject(model("n"))),
    ],
    ids=["ensemble", "BLS", "several"],
)
def test_known_variants_of_all_models_keep_their_names(target: Subject) -> None:
    whole = trials_of(target)

    for count in range(len(whole)):
        names = VariantNames.known(
            work.variant for trial in whole[:count] for work in trial.workloads
        )
        assert trials_of(target, names=names) == whole


def test_a_resumed_run_with_other_bounds_numbers_behind_the_known_ones() -> None:
    target = subject(ensemble(model("a"), model("b")))
    earlier = trials_of(target)
    names = VariantNames.known(work.variant for trial in earlier for work in trial.workloads)

    later = trials_of(target, quick=bounds(batch=(4, 64), instances=(2, 9)), names=names)

    for name in ("m", "a", "b"):
        assert (
            contents(earlier, name).items() | contents(later, name).items()
            == {**contents(earlier, name), **contents(later, name)}.items()
        )


def contents(trials: Sequence[Trial], name: str) -> Mapping[str, str]:
    """What each name of a variant of the model stands for."""
    return {all_parts(trial)[name].name: all_parts(trial)[name].identity for trial in trials}
