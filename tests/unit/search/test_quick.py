# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Quick search of one model: where the walk goes on known surfaces, and what is measured there; the
coordinates around one, in their order, compared with all there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import thaw
from model_analyzer.domain.settings import QuickSettings, SearchMode
from model_analyzer.domain.trials import LoadKind, ServerSetup, Trial
from model_analyzer.search.modes.quick import Neighbourhood
from model_analyzer.search.plan import Subject
from model_analyzer.search.trial_map import INSTANCES, Coordinate, Dimension, Space
from tests.unit.search.surfaces import (
    QUICK,
    UNBOUNDED,
    Respond,
    batch_limit,
    bounds,
    client_batch,
    config,
    counts,
    ensemble,
    failure,
    flat,
    growing,
    instances,
    latency_within,
    limits,
    load,
    measurement,
    model,
    saturating,
    search,
    searched,
    sequence,
    short_name,
    subject,
    visits,
)

# (variant, batch limit, instances, concurrency)
Step = tuple[str, int, int, int]

DEFAULT: Step = ("default", 8, 1, 16)
TO_THE_FIRST_STEP: list[Step] = [
    DEFAULT, ("0", 1, 1, 2), ("1", 1, 2, 4), ("2", 2, 1, 4), ("3", 4, 3, 24),
]  # fmt: skip


def walk(target: Subject, respond: Respond, quick: QuickSettings = UNBOUNDED) -> list[Step]:
    """Every trial of a quick search without the sweep behind it."""
    trials = sequence(search(target, QUICK, quick=quick), respond)
    return [(short_name(t), batch_limit(t), instances(t), load(t)) for t in trials]


# -- worked sequences --------------------------------------------------------------------------


def test_without_constraints_it_climbs_until_nothing_grows() -> None:
    assert walk(subject(), saturating) == [
        *TO_THE_FIRST_STEP,
        ("4", 16, 5, 160),
        ("5", 16, 6, 192),
        ("6", 32, 5, 320),
        ("7", 32, 6, 384),
    ]


def test_where_a_constraint_breaks_it_steps_back_and_looks_all_around() -> None:
    assert walk(subject(constraints=[latency_within(12)]), saturating) == [
        *TO_THE_FIRST_STEP,
        ("4", 16, 5, 160),  # 20 ms
        *[("5", 2, 3, 12), ("6", 8, 3, 48), ("7", 4, 2, 16), ("8", 4, 4, 32)],
        *[("9", 16, 3, 96), ("10", 8, 2, 32), ("11", 8, 4, 64)],
        *[("12", 16, 4, 128), ("13", 8, 5, 80)],
    ]


def test_bounds_limit_the_values_and_not_the_walk() -> None:
    small = bounds(instances=(None, 2), batch=(None, 4))

    assert walk(subject(), saturating, small) == [*TO_THE_FIRST_STEP[:4], ("3", 4, 2, 16)]


def test_on_a_flat_surface_it_stays() -> None:
    assert walk(subject(), flat) == TO_THE_FIRST_STEP


# -- the walk ----------------------------------------------------------------------------------


@pytest.mark.parametrize("respond", [saturating, flat])
@pytest.mark.parametrize("constraints", [(), (latency_within(12),), (latency_within(0.1),)])
@pytest.mark.parametrize("max_batch_size", [0, 1, 8])
def test_nothing_is_asked_twice(
    respond: Respond, constraints: Sequence[Constraint], max_batch_size: int
) -> None:
    target = subject(model(max_batch_size=max_batch_size), constraints=constraints)

    trials = sequence(search(target, QUICK, quick=bounds(batch=(None, 32))), respond)

    assert len({(trial.key, trial.variants) for trial in trials}) == len(trials)
    assert len({trial.variants for trial in trials}) == len(trials)


def test_if_nothing_passes_it_moves_to_smaller_shortfalls() -> None:
    def slower_with_instances(trial: Trial) -> Outcome:
        return measurement(100.0, latency=100.0 / batch_limit(trial) + instances(trial))

    target = subject(constraints=[latency_within(1)])

    steps = walk(target, slower_with_instances, bounds(batch=(None, 64)))

    assert max(limit for _, limit, _, _ in steps) == 64


def test_a_failing_start_ends_it() -> None:
    assert walk(subject(), lambda t: failure() if short_name(t) == "0" else flat(t)) == [
        DEFAULT,
        ("0", 1, 1, 2),
    ]


def test_a_default_that_fails_does_not_end_it() -> None:
    def respond(trial: Trial) -> Outcome:
        return failure() if short_name(trial) == "default" else saturating(trial)

    assert walk(subject(), respond) == walk(subject(), saturating)


def test_the_default_is_no_place_to_step_back_to() -> None:
    """A start that fails a constraint which the default keeps is only the beginning."""
    at_least = Constraint(tag="perf_throughput", minimum=2500)

    steps = walk(subject(constraints=[at_least]), saturating)

    assert saturating_throughput(DEFAULT) > 2500 > saturating_throughput(steps[1])
    assert max(map(saturating_throughput, steps)) == 8000


def saturating_throughput(step: Step) -> float:
    return float(1000 * min(step[1], 16) ** 0.5 * min(step[2], 4) ** 0.5)


def test_a_home_that_fails_is_left_for_the_best_so_far() -> None:
    def large_ones_do_not_load(trial: Trial) -> Outcome:
        return failure() if instances(trial) > 4 else saturating(trial)

    steps = walk(subject(), large_ones_do_not_load, bounds(batch=(None, 16)))

    assert steps[5] == ("4", 16, 5, 160)
    assert max(steps[:5] + steps[6:], key=saturating_throughput)[1:3] == (16, 4)


def test_neighbours_that_fail_are_passed_over() -> None:
    def pairs_do_not_load(trial: Trial) -> Outcome:
        return failure() if instances(trial) == 2 else saturating(trial)

    steps = walk(subject(), pairs_do_not_load)

    assert max(map(saturating_throughput, steps)) == 8000


@pytest.mark.parametrize("best_limit", [8, 16, 32])
@pytest.mark.parametrize("growth", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("most", [1, 2])
def test_the_largest_instance_count_that_loads_is_reached(
    best_limit: int, growth: float, most: int
) -> None:
    def throughput(limit: int, count: int) -> float:
        return float(1000 * min(limit, best_limit) ** growth * count**growth)

    def respond(trial: Trial) -> Outcome:
        if instances(trial) > most:
            return failure()
        return measurement(throughput(batch_limit(trial), instances(trial)))

    loaded = [step for step in walk(subject(), respond) if step[2] <= most]

    best = max(throughput(limit, count) for _, limit, count, _ in loaded)
    assert best == throughput(best_limit, most)


def test_failed_neighbours_are_not_searched_forever() -> None:
    def respond(trial: Trial) -> Outcome:
        return failure() if instances(trial) > 1 else growing(trial)

    steps = walk(subject(), respond, bounds(batch=(None, 8)))

    assert {(limit, count) for _, limit, count, _ in steps} >= {(8, 1), (8, 2)}


def test_a_neighbourhood_without_enough_measurements_is_logged(caplog) -> None:
    target = subject(model(max_batch_size=0), parameters=counts(1, 2))

    with caplog.at_level("INFO"):
        steps = walk(target, flat)

    assert [count for _, _, count, _ in steps] == [1, 1, 2]
    assert "No coordinate to measure. Exiting" in caplog.messages


@pytest.mark.parametrize("numbers", [(1, 8), (1, 2, 4), (1, 3, 8)])
def test_only_listed_instances_are_measured(numbers: Sequence[int]) -> None:
    steps = walk(subject(parameters=counts(*numbers)), saturating)

    assert {count for _, _, count, _ in steps} == set(numbers)


def test_one_listed_count_leaves_the_batch_limit() -> None:
    steps = walk(subject(parameters=counts(3)), saturating, bounds(batch=(None, 16)))

    assert {count for _, _, count, _ in steps[1:]} == {3}
    assert {limit for _, limit, _, _ in steps[1:]} == {1, 2, 4, 8, 16}


def test_minimums_are_where_it_starts() -> None:
    steps = walk(subject(), saturating, bounds(batch=(4, None), instances=(2, None)))

    assert steps[1:4] == [("0", 4, 2, 16), ("1", 4, 3, 24), ("2", 8, 2, 32)]


def test_preferred_batches_make_no_start_illegal() -> None:
    target = subject(model(dynamic_batching={"preferred_batch_size": [4, 8]}))

    steps = walk(target, saturating)

    assert steps[1] == ("0", 8, 1, 16)
    assert len(steps) > 4


ANSWERS = st.lists(
    st.one_of(st.tuples(st.floats(0, 1000), st.floats(0.5, 100)), st.none()),
    min_size=1,
    max_size=40,
)
SUBJECTS = st.builds(
    subject,
    st.sampled_from(
        [
            model(),
            model(max_batch_size=0),
            ensemble(model("a"), model("b", max_batch_size=0), max_batch_size=0),
            model("m", ensemble(model("a"), model("b"), name="e")),
        ]
    ),
    constraints=st.sampled_from([(), (latency_within(30),)]),
)


@given(target=SUBJECTS, answers=ANSWERS)
def test_for_all_answers_it_ends_and_is_repeatable(
    target: Subject, answers: Sequence[tuple[float, float] | None]
) -> None:
    quick = bounds(batch=(2, 16), instances=(1, 3), concurrency=(2, 50))

    def in_turn() -> Respond:
        turn = cycle(answers)

        def respond(_trial: Trial) -> Outcome:
            answer = next(turn)
            return measurement(answer[0], latency=answer[1]) if answer else failure()

        return respond

    first, second = (sequence(search(target, QUICK, quick=quick), in_turn()) for _ in range(2))

    assert first == second
    for trial in first[1:]:
        assert trial.is_legal
        assert 2 <= load(trial) <= 50
        for part in trial.workloads[0].variant.served:
            assert part.max_batch_size in (0, 2, 4, 8, 16)
            assert 1 <= part.config["instance_group"][0]["count"] <= 3


# -- what is measured --------------------------------------------------------------------------


def test_a_variant_has_its_size_and_batches_dynamically() -> None:
    trials = sequence(search(subject(), QUICK), flat)

    assert thaw(config(trials[4])) == {
        "name": "m",
        "backend": "python",
        "max_batch_size": 4,
        "instance_group": [{"count": 3, "kind": "KIND_GPU"}],
        "dynamic_batching": {},
    }
    assert "dynamic_batching" not in config(trials[0])


@pytest.mark.parametrize(
    ("facts", "parameters", "expected"),
    [
        ({}, {"dynamic_batching": [{"max_queue_delay_microseconds": 9}]}, True),
        ({}, {"dynamic_batching": [None]}, False),
        ({"sequence_batching": {}}, {}, False),
        ({"max_batch_size": 0}, {}, False),
    ],
)
def test_dynamic_batching_is_enabled_where_possible_and_not_set(
    facts: dict[str, Any], parameters: dict[str, Any], expected: bool
) -> None:
    trials = sequence(search(subject(model(**facts), parameters=parameters), QUICK), flat)

    assert {"dynamic_batching" in config(trial) for trial in trials[1:]} == {expected}
    if expected:
        assert thaw(config(trials[1])["dynamic_batching"]) == {"max_queue_delay_microseconds": 9}


def test_other_fields_of_the_user_are_in_every_variant() -> None:
    target = subject(parameters={"optimization": [{"priority": "PRIORITY_MAX"}]})

    trials = sequence(search(target, QUICK), flat)

    assert all(config(trial)["optimization"]["priority"] == "PRIORITY_MAX" for trial in trials[1:])


@pytest.mark.parametrize(
    ("cpu_only", "groups", "expected"),
    [
        (False, None, {"count": 1, "kind": "KIND_GPU"}),
        (True, None, {"count": 1, "kind": "KIND_CPU"}),
        (False, [{"kind": "KIND_CPU"}], {"count": 1, "kind": "KIND_CPU"}),
        (True, [{"kind": "KIND_GPU"}], {"count": 1, "kind": "KIND_GPU"}),
        (False, [{"gpus": [1]}], {"count": 1, "kind": "KIND_GPU", "gpus": [1]}),
        (
            True,
            [{"count": 2, "kind": "KIND_GPU", "gpus": [0]}],
            {"count": 2, "kind": "KIND_GPU", "gpus": [0]},
        ),
    ],
)
def test_the_kind_of_the_instances_is_the_users_or_follows_cpu_only(
    cpu_only: bool, groups: Any, expected: dict[str, Any]
) -> None:
    parameters = {} if groups is None else {"instance_group": [groups]}
    trials = sequence(search(subject(cpu_only=cpu_only, parameters=parameters), QUICK), flat)

    (group,) = config(trials[1])["instance_group"]

    assert thaw(group) == expected
    assert list(group)[:2] == ["count", "kind"]  # as scripts read it in the log


def test_the_log_names_new_variants_as_scripts_expect(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        sequence(search(subject(cpu_only=True), QUICK), flat)

    assert caplog.messages[:9] == [
        "",
        "Starting quick mode search to find optimal configs",
        "",
        "Creating model config: m_config_0",
        "  Setting instance_group to [{'count': 1, 'kind': 'KIND_CPU'}]",
        "  Setting max_batch_size to 1",
        "  Enabling dynamic_batching",
        "",
        "Creating model config: m_config_1",
    ]


# -- loads -------------------------------------------------------------------------------------


def test_the_default_is_kept_busy_by_all_its_instances() -> None:
    groups = [{"count": 2, "kind": "KIND_CPU"}, {"count": 3, "kind": "KIND_GPU", "gpus": [0, 1]}]
    target = subject(model(max_batch_size=4, instance_group=groups))

    assert load(sequence(search(target, QUICK), flat)[0]) == 2 * 4 * (2 + 3 * 2)


@pytest.mark.parametrize(("devices", "expected"), [((), 4), (("a",), 4), (("a", "b", "c"), 12)])
def test_instances_of_the_default_are_on_every_gpu(devices: tuple[str, ...], expected: int) -> None:
    facts = model(max_batch_size=1, instance_group=[{"count": 2, "kind": "KIND_GPU"}])
    target = Subject(models=subject(facts).models, setup=ServerSetup(devices=devices))

    trials = sequence(search(target, QUICK), flat)

    assert [load(trial) for trial in trials[:3]] == [expected, 2, 4]


def test_a_model_that_does_not_batch_gets_at_least_one_request() -> None:
    target = subject(model(max_batch_size=0))

    assert walk(target, flat) == [
        ("default", 0, 1, 2), ("0", 0, 1, 2), ("1", 0, 2, 4), ("2", 0, 3, 6), ("3", 0, 4, 8),
    ]  # fmt: skip


def test_concurrency_keeps_the_bounds_that_were_given() -> None:
    trials = sequence(search(subject(), QUICK, quick=bounds(concurrency=(3, 20))), saturating)

    assert {load(trial) for trial in trials} == {16, 3, 4, 20}


def test_a_load_of_the_users_flags_is_the_load_of_every_variant() -> None:
    target = subject(loads=(7,), load_kind=LoadKind.REQUEST_RATE)

    trials = searched(target, saturating, mode=SearchMode.QUICK)

    assert {load(trial) for trial in trials} == {7}
    assert {trial.workloads[0].load.kind for trial in trials} == {LoadKind.REQUEST_RATE}


def test_a_batch_size_of_the_client_is_used_throughout() -> None:
    trials = sequence(search(subject(batch_sizes=(4,)), QUICK), flat)

    assert {client_batch(trial) for trial in trials} == {4}
    assert min(map(batch_limit, trials)) == 4


# -- the sweep behind it -----------------------------------------------------------------------


def test_the_best_and_the_default_are_swept_over_all_loads(caplog) -> None:
    with caplog.at_level("INFO"):
        trials = searched(
            respond=growing_up_to_two, best=1, mode=SearchMode.QUICK, concurrency=(1, 8)
        )

    swept = visits(trials[len(walk(subject(), growing_up_to_two)) :])
    assert swept == [
        *[("3", 1), ("3", 2), ("3", 4), ("3", 8)],
        *[("default", 1), ("default", 2), ("default", 4), ("default", 8)],
    ]
    assert caplog.messages[-2:] == [
        "Done with quick mode search. Gathering concurrency sweep measurements for reports",
        "Done gathering concurrency sweep measurements for reports",
    ]


def growing_up_to_two(trial: Trial) -> Outcome:
    """Variant 3 is the best; more load is always better."""
    better = 1.01 if short_name(trial) == "3" else 1.0
    return measurement(better * (100 + load(trial) * 0.001))


def test_the_sweep_ends_where_nothing_grows_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        trials = searched(respond=flat, best=1, mode=SearchMode.QUICK)

    assert visits(trials[5:]) == [("default", 1), ("default", 2), ("default", 4), ("default", 8)]
    assert "Terminating concurrency sweep - throughput is decreasing" in caplog.messages


def test_the_sweep_finds_the_highest_load_that_passes() -> None:
    target = subject(constraints=[latency_within(45)])

    trials = searched(target, growing_in_load, best=0, mode=SearchMode.QUICK, concurrency=(1, 16))

    assert [value for name, value in visits(trials) if name == "default"][-3:] == [8, 6, 5]


def growing_in_load(trial: Trial) -> Outcome:
    return measurement(100.0 * load(trial), latency=10.0 * load(trial))


@pytest.mark.parametrize("loads", [(), (4,)])
def test_a_disabled_sweep_does_not_run(loads: Sequence[int], caplog) -> None:
    where = QUICK if not loads else limits(mode=SearchMode.QUICK)

    with caplog.at_level("INFO"):
        trials = sequence(search(subject(loads=loads), where), flat)

    assert len(trials) == 5
    assert caplog.messages[-1] == "Done with quick mode search."


def test_how_long_it_takes_depends_on_the_answers() -> None:
    assert search(subject(), QUICK).most_trials is None


def test_growth_without_end_is_ended_by_bounds_alone() -> None:
    steps = walk(subject(), growing, bounds(batch=(None, 8), instances=(None, 4)))

    assert max(steps, key=lambda step: step[1] * step[2])[1:3] == (8, 4)


def test_a_walk_beyond_a_bound_ends() -> None:
    """Sizes do not change there, and noise alone would lead it on for ever."""
    answers = cycle([(115.03, 18.16), (76.9, 1.0), (662.6, 22.15)])

    def respond(_trial: Trial) -> Outcome:
        throughput, latency = next(answers)
        return measurement(throughput, latency=latency)

    target = subject(constraints=[latency_within(30)])
    asked = search(
        target, QUICK, quick=bounds(batch=(2, 16), instances=(1, 3), concurrency=(2, 50))
    )

    assert len(sequence(asked, respond)) < 20


def around(home: Coordinate, sizes: Sequence[int | None] | None = None) -> Neighbourhood:
    """The neighbourhood in a space of so many values in each dimension; None is open."""
    dimensions = [
        Dimension(
            model="m", parameter=INSTANCES, values=range(1, (size or 9) + 1), is_open=size is None
        )
        for size in sizes or [None] * len(home)
    ]
    return Neighbourhood(Space(tuple(dimensions)), home)


def everything(of: Neighbourhood) -> list[Coordinate]:
    return list(of.by_worth(lambda dimension, index: 0))


@pytest.mark.parametrize(
    ("home", "count"), [((0,), 4), ((0, 0), 11), ((3, 3), 29), ((1,) * 6, 2328), ((0,) * 3, 29)]
)
def test_a_neighbourhood_is_a_ball_inside_the_space(home: Coordinate, count: int) -> None:
    around_it = everything(around(home))

    assert len(around_it) == len(set(around_it)) == count
    assert home in around_it
    assert all(min(coordinate) >= 0 for coordinate in around_it)
    assert all(coordinate in around(home) for coordinate in around_it)


def test_nearer_coordinates_come_first_then_higher_ones_then_the_last_dimension() -> None:
    assert everything(around((1, 1)))[:8] == [
        (1, 1), (1, 2), (1, 0), (1, 3), (1, 4), (2, 1), (0, 1), (2, 2),
    ]  # fmt: skip


def test_lists_end_where_they_end() -> None:
    assert everything(around((0, 1), [1, 2])) == [(0, 1), (0, 0)]


def test_adjacent_coordinates_differ_in_one_dimension_by_one() -> None:
    assert list(around((0, 1, 1), [None, None, 2]).adjacent) == [
        (1, 1, 1), (0, 0, 1), (0, 2, 1), (0, 1, 0),
    ]  # fmt: skip


@given(
    home=st.lists(st.integers(0, 4), min_size=1, max_size=4).map(tuple),
    worths=st.lists(st.lists(st.integers(-3, 3), min_size=8, max_size=8), min_size=4, max_size=4),
)
def test_the_worthiest_come_first_and_equals_keep_their_order(
    home: Coordinate, worths: list[list[int]]
) -> None:
    of = around(home)

    def total(coordinate: Coordinate) -> int:
        return sum(worths[dimension][index] for dimension, index in enumerate(coordinate))

    order = list(of.by_worth(lambda dimension, index: worths[dimension][index]))

    assert order == sorted(everything(of), key=total, reverse=True)


def test_nothing_around_home_is_left_out() -> None:
    of = around((2, 0, 5))

    near = [at for at in product(range(10), repeat=3) if at in of]

    assert sorted(everything(of)) == near


def test_many_dimensions_are_no_burden() -> None:
    home = (4,) * 24

    order = around(home).by_worth(lambda dimension, index: int(index != 4))

    # nine dimensions can differ by one
    assert next(order) == (*home[:15], *(5,) * 9)
