# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Each kind of hardware has an answer of its own; kinds are never ranked together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_analyzer.domain.profiles import Conclusion, Profile
from model_analyzer.domain.slots import Lane
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.reports.remarks import remarks_of
from model_analyzer.results.answer import answer_of, by_model
from model_analyzer.results.conditions import Conditions, Intended, Wanted
from model_analyzer.results.ranking import Ranking, rank, rank_across
from tests.unit.builders import conclusion, failure, goal, measurement, record, trial, variant

L4 = ServerSetup(version="2.51.0", devices=("NVIDIA L4",))
TWO_L4 = replace(L4, devices=("NVIDIA L4", "NVIDIA L4"))
H100 = replace(L4, devices=("NVIDIA H100",))

DEFAULT = variant("m_config_default", max_batch_size=1)
SMALL = variant("m_config_0", max_batch_size=2)
LARGE = variant("m_config_1", max_batch_size=8)

RECORDS = (
    record(DEFAULT, measurement(100), setup=L4),
    record(DEFAULT, measurement(900), setup=H100),
    record(SMALL, measurement(150), setup=L4),
    record(SMALL, measurement(300), setup=H100),
    record(LARGE, failure("out of memory"), setup=L4),
    record(LARGE, measurement(1200), setup=H100),
)


def best(rankings: tuple[Ranking, ...]) -> dict[str, str]:
    return {ranking.hardware: ranking.results[0].name for ranking in rankings}


def test_each_kind_is_ranked_alone() -> None:
    on_h100, on_l4 = rank(Profile(records=RECORDS), "m", goal())

    assert (on_l4.hardware, on_h100.hardware) == ("1 x NVIDIA L4", "1 x NVIDIA H100")
    assert [result.name for result in on_l4.results] == ["m_config_0", "m_config_default"]
    assert [result.name for result in on_h100.results] == [
        "m_config_1", "m_config_default", "m_config_0",
    ]  # fmt: skip
    assert (len(on_l4.failed), len(on_h100.failed)) == (1, 0)
    # other kinds are answered, not left out
    assert (on_l4.left_out, on_h100.left_out) == ((), ())
    assert [group.kind for group in on_l4.beside] == ["1 x NVIDIA H100"]


def test_the_number_of_equal_gpus_makes_a_kind() -> None:
    more = (*RECORDS, record(DEFAULT, measurement(200), setup=TWO_L4))
    assert best(rank(Profile(records=more), "m", goal())) == {
        "1 x NVIDIA L4": "m_config_0",
        "1 x NVIDIA H100": "m_config_1",
        "2 x NVIDIA L4": "m_config_default",
    }


def test_with_one_kind_the_hardware_is_not_mentioned() -> None:
    (only,) = rank(Profile(records=RECORDS[::2]), "m", goal())
    assert (only.hardware, only.kind) == ("", "1 x NVIDIA L4")


def test_each_kind_has_the_conclusion_and_the_state_of_its_own_search() -> None:
    best_on_h100 = RECORDS[-1].trial
    concluded: dict[Lane, Conclusion] = {
        Lane("m", "1 x NVIDIA H100"): conclusion(best_on_h100, trials=3)
    }
    unfinished = frozenset({Lane("m", "1 x NVIDIA L4")})
    profile = Profile(records=RECORDS, conclusions=concluded, unfinished=unfinished)

    on_h100, on_l4 = rank(profile, "m", goal())

    assert (on_l4.conclusion, on_l4.is_unfinished) == (None, True)
    assert (on_h100.conclusion is not None, on_h100.is_unfinished) == (True, False)


def test_the_number_of_a_group_selects_one_kind() -> None:
    profile = Profile(records=RECORDS)
    (chosen,) = rank(profile, "m", goal(), conditions=2)
    assert (chosen.hardware, chosen.left_out) == ("1 x NVIDIA H100", ())
    with pytest.raises(ValueError, match="there is no group 3: there are 1 to 2"):
        rank(profile, "m", goal(), conditions=3)


def test_within_a_kind_the_wanted_conditions_count_and_others_are_left_out() -> None:
    older = replace(H100, version="2.50.0")
    profile = Profile(records=(*RECORDS, record(DEFAULT, measurement(5), setup=older)))

    of_run = Conditions.of(trial(DEFAULT, setup=older))
    every: list[list[Wanted]] = [[of_run], [of_run, Intended(setup=L4, clients=("",))]]
    for wanted in every:
        on_h100, on_l4 = rank(profile, "m", goal(), conditions=wanted)
        assert (len(on_l4.results), on_l4.left_out) == (2, ())
        assert len(on_h100.results) == 1
        assert [part.reason for part in on_h100.left_out] == [
            "measured under different conditions (server version 2.51.0 instead of 2.50.0)"
        ]


def test_what_differs_besides_the_hardware_is_said() -> None:
    older = replace(H100, version="2.50.0")
    profile = Profile(records=(RECORDS[0], record(DEFAULT, measurement(5), setup=older)))

    said = [remarks_of(answer_of(ranking)) for ranking in rank(profile, "m", goal())]

    assert said == [
        [
            "On 1 x NVIDIA L4, not only the hardware is different: server version 2.51.0 instead"
            " of 2.50.0."
        ],
        [
            "On 1 x NVIDIA H100, not only the hardware is different: server version 2.50.0"
            " instead of 2.51.0."
        ],
    ]
    assert not any(
        remarks_of(answer_of(ranking))
        for ranking in rank(Profile(records=RECORDS[:4]), "m", goal())
    )


def test_a_kind_with_only_an_older_version_of_the_model_is_left_out() -> None:
    old = variant("m_config_0", max_batch_size=2, files="before")
    now = variant("m_config_0", max_batch_size=2, files="now")
    profile = Profile(
        records=(record(old, measurement(7), setup=H100), record(now, measurement(5), setup=L4))
    )

    (only,) = rank(profile, "m", goal())

    assert only.kind == "1 x NVIDIA L4"
    assert [(part.measurements, part.reason) for part in only.left_out] == [
        (1, "files of m have changed since")
    ]


def test_the_answers_of_a_model_come_together() -> None:
    other = record(variant("n_config_default", model="n"), measurement(3), setup=L4)
    profile = Profile(records=(*RECORDS, other))
    answers = [answer_of(ranking) for name in ("m", "n") for ranking in rank(profile, name, goal())]

    of_m, of_n = by_model(answers)

    assert (of_m.model, of_m.is_of_several_kinds) == ("m", True)
    assert [answer.ranking.kind for answer in of_m.answers] == ["1 x NVIDIA H100", "1 x NVIDIA L4"]
    assert (of_n.model, of_n.is_of_several_kinds) == ("n", False)


def test_across_models_each_kind_is_ranked_alone() -> None:
    on_h100 = record(variant("n_config_default", model="n"), measurement(950), setup=H100)
    profile = Profile(records=(*RECORDS, on_h100))
    rankings = [ranking for name in "mn" for ranking in rank(profile, name, goal())]

    across = rank_across(rankings, goal(), "all")

    assert {
        ranking.hardware: [result.name for result in ranking.results] for ranking in across
    } == {
        "1 x NVIDIA L4": ["m_config_0", "m_config_default"],
        "1 x NVIDIA H100": [
            "m_config_1", "n_config_default", "m_config_default", "m_config_0",
        ],
    }  # fmt: skip


def test_across_models_a_kind_is_named_if_each_model_was_measured_on_another() -> None:
    on_h100 = record(variant("n_config_default", model="n"), measurement(950), setup=H100)
    profile = Profile(records=(RECORDS[0], on_h100))
    rankings = [ranking for name in "mn" for ranking in rank(profile, name, goal())]
    assert [ranking.hardware for ranking in rankings] == ["", ""]
    assert [each.hardware for each in rank_across(rankings, goal(), "all")] == [
        "1 x NVIDIA H100", "1 x NVIDIA L4",
    ]  # fmt: skip
