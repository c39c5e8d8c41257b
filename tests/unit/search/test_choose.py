# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which search is for which models, and what cannot be searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.settings import SearchMode, SearchSettings
from model_analyzer.domain.trials import LoadKind, ServerSetup
from model_analyzer.errors import ConfigError
from model_analyzer.forecast.run_plan import forecast
from model_analyzer.forecast.time_left import TrialsLeft
from model_analyzer.search.choose import check, mode_of
from model_analyzer.search.plan import Subject
from tests.unit.search.surfaces import (
    bounds,
    composing,
    counts,
    ensemble,
    flat,
    limits,
    load,
    model,
    saturating,
    search,
    sequence,
    subject,
    together,
    visits,
)

BRUTE, QUICK, OPTUNA = SearchMode.BRUTE, SearchMode.QUICK, SearchMode.OPTUNA

PLAIN = subject()
ENSEMBLE = subject(ensemble(model("a"), model("b")))
BLS = subject(model("m", model("a")))
SEVERAL = together(subject(model("m")), subject(model("n")))


ITS_OWN = "preferred_batch_size 64 is above max_batch_size 32"
REFUSED = model(max_batch_size=32, dynamic_batching={"preferred_batch_size": [64]})


@pytest.mark.parametrize(
    ("target", "where", "where_it_is", "others"),
    [
        (subject(REFUSED), limits(disable=True), "m", ""),
        (
            subject(REFUSED),
            limits(instances=(1, 2), batch=(1, 4), quick=bounds(batch=(None, 4))),
            "m",
            ", and the 6 others of the search",
        ),
        (
            subject(ensemble(replace(REFUSED, name="part"), max_batch_size=32)),
            limits(disable=True),
            "part",
            "",
        ),
    ],
)
def test_a_search_of_which_the_server_would_refuse_everything_is_refused(
    target: Subject, where: SearchSettings, where_it_is: str, others: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        check([target], where)

    assert list(map(str, raised.value.problems)) == [
        f"{where_it_is}: the server would refuse its own configuration{others}: {ITS_OWN}"
        " (correct its config.pbtxt)"
    ]


def test_a_rate_limit_that_no_instance_meets_is_refused() -> None:
    limiter = {"resources": [{"name": "R1", "count": 1}]}
    groups = [{"count": 1, "rate_limiter": limiter}]
    flags = {"rate-limit": "execution_count", "rate-limit-resource": "R1:0"}
    target = subject(model(instance_group=groups), parameters={"instance_group": [groups]})
    assert not check([target], limits())

    with pytest.raises(ConfigError, match="m needs 1 of the resource R1, but rate-limit-resource"):
        check([replace(target, setup=ServerSetup(flags=flags))], limits())


@pytest.mark.parametrize("mode", [BRUTE, QUICK, SearchMode.ADAPTIVE])
def test_a_model_that_the_server_would_refuse_as_it_is_gets_a_word(mode: SearchMode) -> None:
    remarks = check([subject(REFUSED)], limits(mode=mode, batch=(32, 64)))

    assert remarks[0] == (
        "m: its own configuration is left out, because the server would refuse it:"
        f" {ITS_OWN}; correct its config.pbtxt"
    )


@pytest.mark.parametrize(
    ("target", "where", "mode"),
    [
        (PLAIN, limits(), BRUTE),
        (PLAIN, limits(mode=QUICK), QUICK),
        (ENSEMBLE, limits(), QUICK),
        (BLS, limits(), QUICK),
        (SEVERAL, limits(), QUICK),
        (ENSEMBLE, limits(disable=True), BRUTE),
        (SEVERAL, limits(disable=True), BRUTE),
        (subject(ensemble(model("a")), loads=(1, 2)), limits(), BRUTE),
        (together(subject(model("m"), loads=(1,)), subject(model("n"))), limits(), BRUTE),
        (PLAIN, limits(mode=OPTUNA), OPTUNA),
        (subject(mode=QUICK), limits(mode=OPTUNA), QUICK),
        (subject(mode=BRUTE), limits(), BRUTE),
    ],
)
def test_without_a_choice_the_kind_of_the_models_decides(
    target: Subject, where: SearchSettings, mode: SearchMode
) -> None:
    assert mode_of(target, where) is mode


@pytest.mark.parametrize(
    ("target", "log"),
    [
        (PLAIN, "Starting automatic brute search"),
        (ENSEMBLE, "Starting quick mode search to find optimal configs"),
        (BLS, "Starting quick mode search to find optimal configs"),
    ],
)
def test_the_search_is_that_of_the_mode(target: Subject, log: str, caplog) -> None:
    with caplog.at_level("INFO"):
        search(target, limits(concurrency=(1, 1))).ask()

    assert log in caplog.messages


@pytest.mark.parametrize("facts", [ensemble(model("a")), model("m", model("a"))])
def test_with_listed_loads_a_model_that_calls_others_is_measured_unchanged(facts: object) -> None:
    target = subject(facts, loads=(1, 3, 5))  # type: ignore[arg-type]

    asked = search(target, limits())

    assert visits(sequence(asked, flat)) == [("default", 1), ("default", 3), ("default", 5)]
    assert asked.most_trials == 3


def test_two_models_with_searching_disabled_are_measured_in_all_combinations() -> None:
    models = [subject(model(name), loads=(1, 2), batch_sizes=(1, 2)) for name in ("m", "n")]

    trials = sequence(search(together(*models), limits(disable=True)), flat)

    # what is listed is the default again: that is known
    assert [trial.variants for trial in trials] == ["m_config_default,n_config_default"] * 16
    assert len({trial.key for trial in trials}) == 16


TWO_SIZES_EACH = limits(instances=(1, 2), batch=(1, 2), concurrency=(1, 4))
SIX_LISTED = {**counts(1, 2), "max_batch_size": (2, 4, 8)}


@pytest.mark.parametrize(
    ("target", "trials"),
    [
        # each: loads of the defaults, then those of four variants (2 instances, 2 batch limits)
        (
            together(subject(model("m"), loads=(1, 2)), subject(model("n"), loads=(4, 8))),
            2 * 2 * (1 + 4 * 4),  # 68
        ),
        # of one model alone: the other is swept from 1 to 4
        (together(subject(model("m"), loads=(1, 2)), subject(model("n"))), 2 * 3 * (1 + 4 * 4)),
        # listed variants of one model, sizes of the other
        (
            together(
                subject(model("m"), loads=(1, 2, 4), parameters=SIX_LISTED),
                subject(model("n"), loads=(1, 2)),
            ),
            3 * 2 * (1 + 6 * 4),  # 150
        ),
        (
            together(
                subject(model("m"), loads=(1, 2, 4), parameters=SIX_LISTED),
                subject(model("n"), loads=(1, 2)),
                subject(model("o"), loads=(1, 2)),
            ),
            3 * 2 * 2 * (1 + 6 * 4 * 4),  # 1164
        ),
        # a model that does not batch has no limit to vary
        (
            together(
                subject(model("m"), loads=(1,)), subject(model("n", max_batch_size=0), loads=(1,))
            ),
            1 + 4 * 2,
        ),
    ],
)
def test_with_listed_loads_models_measured_together_are_searched_in_all_combinations(
    target: Subject, trials: int
) -> None:
    asked = sequence(search(target, TWO_SIZES_EACH), saturating)

    assert len({trial.key for trial in asked}) == len(asked) == trials
    assert search(target, TWO_SIZES_EACH).most_trials == trials
    plan = forecast(target, TWO_SIZES_EACH)
    assert (plan.is_exact, plan.size, plan.most_trials) == (True, trials, trials)
    assert plan.trials is not None
    assert [trial.key for trial in plan.trials] == [trial.key for trial in asked]
    expected = TrialsLeft(target, TWO_SIZES_EACH)
    for done, trial in enumerate(asked[:100]):
        assert expected.remaining().trials == trials - done
        expected.record(trial, saturating(trial))


def test_models_measured_together_are_called_automatic_where_sizes_are_varied(caplog) -> None:
    target = together(subject(model("m"), loads=(1,)), subject(model("n"), loads=(1,)))

    with caplog.at_level("INFO"):
        search(target, TWO_SIZES_EACH).ask()
        search(target, limits(disable=True)).ask()

    assert [text for text in caplog.messages if text.startswith("Starting")] == [
        "Starting automatic brute search",
        "Starting manual brute search",
    ]


@pytest.mark.parametrize(
    "target", [PLAIN, ENSEMBLE, BLS, SEVERAL, subject(loads=(1, 2), batch_sizes=(1, 2))]
)
def test_supported_searches_pass(target: Subject) -> None:
    assert check([target], limits()) == []


@pytest.mark.parametrize(
    ("target", "where", "message"),
    [
        (ENSEMBLE, limits(mode=BRUTE), "brute does not support ensembles such as m"),
        (together(ENSEMBLE, subject(model("n"))), limits(), "ensemble cannot be profiled concu"),
        (subject(load_kind=LoadKind.REQUEST_RATE), limits(mode=QUICK), "not request rates"),
        (
            subject(ensemble(model("a")), load_kind=LoadKind.REQUEST_RATE),
            limits(),
            "not request rates",
        ),
        (subject(loads=(1, 2)), limits(mode=QUICK), "supports one load, not 2"),
        (
            subject(ensemble(model("a")), batch_sizes=(1, 2, 4)),
            limits(),
            "supports one batch size, not 3",
        ),
        (
            subject(
                ensemble(model("a")),
                composing("a", parameters={"optimization": [{}, {"priority": 1}]}),
            ),
            limits(),
            "optimization has 2 values",
        ),
    ],
)
def test_an_unsupported_search_is_an_error_before_anything_runs(
    target: Subject, where: SearchSettings, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        check([PLAIN, target] if where.mode is None else [target], where)


@pytest.mark.parametrize(
    "target",
    [
        subject(model("m", model("a")), parameters={"max_batch_size": [4, 8]}),
        subject(ensemble(model("a")), parameters={"max_batch_size": [4]}),
        together(subject(model("m")), subject(model("n"), parameters=counts(1, 2))),
        subject(ensemble(model("a")), composing("a", parameters=counts(1, 4, 6))),
    ],
)
def test_quick_as_the_default_mode_takes_lists_of_sizes(target: Subject) -> None:
    assert check([target], limits()) == []


@pytest.mark.parametrize(
    ("target", "where"),
    [
        (subject(loads=(1, 2)), limits(mode=QUICK)),
        (subject(ensemble(model("a")), batch_sizes=(1, 2)), limits()),
        (subject(ensemble(model("a")), load_kind=LoadKind.REQUEST_RATE), limits()),
        (ENSEMBLE, limits(mode=BRUTE)),
        (
            subject(
                ensemble(model("a")),
                composing("a", parameters={"optimization": [{}, {"priority": 1}]}),
            ),
            limits(),
        ),
    ],
)
def test_adaptive_supports_these_on_request(target: Subject, where: SearchSettings) -> None:
    with pytest.raises(ConfigError) as raised:
        check([target], where)

    assert all("adaptive" in problem.hint for problem in raised.value.problems)
    assert check([target], limits(mode=SearchMode.ADAPTIVE)) == []


@pytest.mark.parametrize("mode", [None, QUICK])
@pytest.mark.parametrize(
    "target",
    [
        subject(ensemble(model("a")), composing("a", parameters=counts(1, 2, 4))),
        subject(ensemble(model("a")), composing("a", parameters={"max_batch_size": [1, 7, 9]})),
        # profiled, and called by another one
        together(
            subject(model("n", model("m")), composing("m")),
            subject(model("m"), composing("m"), parameters={"max_batch_size": [4, 8]}),
        ),
    ],
)
def test_quick_takes_lists_for_composing_models(target: Subject, mode: SearchMode | None) -> None:
    assert check([target], limits(mode=mode)) == []


@pytest.mark.parametrize("mode", [None, BRUTE])
@pytest.mark.parametrize("facts", [ensemble(model("a")), model("m", model("a"))])
def test_ignored_options_of_a_composing_model_are_named(
    facts: ModelFacts, mode: SearchMode | None
) -> None:
    target = subject(facts, composing("a", parameters=counts(1, 2)), loads=(4, 8))

    assert check([target], limits(mode=mode)) == [
        "model_config_parameters of a is ignored: another model calls it, and loads are listed;"
        " --search adaptive varies it"
    ]
    adaptive = limits(mode=SearchMode.ADAPTIVE)
    assert check([target], adaptive) == []
    asked = sequence(search(target, adaptive), saturating)
    assert {load(trial) for trial in asked} <= {4, 8}
    assert len({trial.content for trial in asked}) > 1


def test_options_of_a_composing_model_cause_a_remark_if_the_search_is_disabled() -> None:
    target = subject(ensemble(model("a")), composing("a", parameters=counts(2)))

    (remark,) = check([target], limits(disable=True))
    assert "another model calls it, and searching is disabled" in remark
    only_kind = subject(ensemble(model("a")), composing("a", cpu_only=True))
    assert check([only_kind], limits(disable=True)) == []


@pytest.mark.parametrize(
    "target", [subject(ensemble(model("a")), loads=(2,)), subject(ensemble(model("a")))]
)
def test_brute_measures_an_ensemble_unchanged_on_request(target: Subject) -> None:
    where = limits(mode=BRUTE, disable=not target.lists_loads)

    assert check([target], where) == []


@pytest.mark.parametrize("others", [(), (PLAIN,)])
def test_options_for_models_that_nobody_calls_are_ignored_with_a_message(
    others: Sequence[Subject],
) -> None:
    target = subject(ensemble(model("a")), composing("a"), composing("b", cpu_only=True))

    assert check([target, *others], limits()) == [
        "b is not called by any model of this run: ignored"
    ]


def test_options_for_the_parts_of_a_model_without_parts_cause_a_message() -> None:
    assert check([subject(model("m"), composing("a"))], limits()) == [
        "a is not called by any model of this run: ignored"
    ]


def test_cpu_only_parts_of_a_model_without_parts_are_an_error() -> None:
    with pytest.raises(ConfigError, match="a is not called") as raised:
        check([subject(model("m"), composing("a", cpu_only=True))], limits())

    assert raised.value.problems[0].where == "cpu_only_composing_models"
