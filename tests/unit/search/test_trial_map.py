# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Everything that can be varied at once: axes, what is legal, and what a coordinate stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pytest

from model_analyzer.domain.models import ModelFacts, VariantNames, thaw
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import LoadKind, ServerSetup, Trial
from model_analyzer.errors import ConfigError
from model_analyzer.search.modes.quick import QuickMode
from model_analyzer.search.plan import Subject
from model_analyzer.search.trial_map import Coordinate, TrialMap
from tests.unit.search.surfaces import (
    all_parts,
    batch_limit,
    bounds,
    client_batch,
    composing,
    config,
    counts,
    ensemble,
    instances,
    limits,
    load,
    model,
    subject,
    together,
)

BATCHES = [1, 2, 4, 8, 16, 32, 64, 128]
CONCURRENCIES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
DELAYS = {"dynamic_batching": [{"max_queue_delay_microseconds": delay} for delay in (100, 200)]}


PREFERS_64 = model(dynamic_batching={"preferred_batch_size": [64]})


def preferring(*sizes: int) -> Mapping[str, Sequence[Any]]:
    """Listed ways of batching, each with one preferred size."""
    return {"dynamic_batching": [{"preferred_batch_size": [size]} for size in sizes]}


def trial_map(
    target: Subject | None = None, where: SearchSettings | None = None, *, formula: bool = False
) -> TrialMap:
    return TrialMap(target or subject(), where or limits(), use_formula=formula)


def dimensions(of: TrialMap) -> Mapping[str, list[Any]]:
    return {dimension.name: thaw(list(dimension.values)) for dimension in of.space.dimensions}


def coordinates(of: TrialMap) -> list[Coordinate]:
    return list(product(*(range(len(dimension.values)) for dimension in of.space.dimensions)))


def legal(of: TrialMap) -> list[Coordinate]:
    """Every coordinate that the space gives, each once."""
    seen: list[Coordinate] = []
    while (new := of.nearest(coordinates(of)[0], seen)) is not None:
        seen.append(new)
    return seen


def trials(of: TrialMap) -> list[Trial]:
    names = VariantNames()
    return [of.trial(coordinate, names) for coordinate in legal(of)]


# -- axes --------------------------------------------------------------------------------------


def test_by_default_batch_limits_instances_and_concurrencies_are_varied() -> None:
    of = trial_map()

    assert dimensions(of) == {
        "m::max_batch_size": BATCHES,
        "m::instance_count": [1, 2, 3, 4, 5],
        "m::batch_sizes": [1],
        "m::concurrency": CONCURRENCIES,
    }
    assert of.space.size == 440


@pytest.mark.parametrize(
    ("target", "where", "size"),
    [
        (subject(model(max_batch_size=0)), limits(), 5 * 11),
        (subject(batch_sizes=(1, 4)), limits(), 2 * 440),
        (subject(loads=(1, 3, 5)), limits(), 8 * 5 * 3),
        (subject(parameters=counts(1, 4)), limits(), 8 * 2 * 11),
        (subject(parameters={"max_batch_size": [4, 8, 16]}), limits(), 3 * 5 * 11),
        (subject(parameters=DELAYS), limits(), 2 * 440),
        (subject(), limits(concurrency=(1, 2), instances=(1, 2)), 32),
        (subject(load_kind=LoadKind.REQUEST_RATE), limits(), 8 * 5 * 10),
        (together(subject(model("m")), subject(model("n"))), limits(), 440**2),
        (subject(ensemble(model("a"), model("b"))), limits(), (8 * 5) ** 2 * 11),
        # of a BLS model the instances alone
        (subject(model("m", model("a"))), limits(), 5 * 11 * 8 * 5),
        (
            subject(model("m", model("a")), parameters={"max_batch_size": [1, 8]}),
            limits(),
            2 * 5 * 11 * 8 * 5,
        ),
    ],
)
def test_the_size_is_the_product_over_all_models(
    target: Subject, where: SearchSettings, size: int
) -> None:
    assert trial_map(target, where).space.size == size


def test_with_the_formula_concurrencies_are_no_axis_and_request_rates_still_are() -> None:
    assert "m::concurrency" not in dimensions(trial_map(formula=True))
    assert "m::request_rate" in dimensions(
        trial_map(subject(load_kind=LoadKind.REQUEST_RATE), formula=True)
    )


def test_bounds_that_are_no_powers_of_two_are_kept() -> None:
    of = dimensions(trial_map(where=limits(batch=(3, 20), concurrency=(5, 40))))

    assert of["m::max_batch_size"] == [3, 4, 8, 16, 20]
    assert of["m::concurrency"] == [5, 10, 20, 40]


@pytest.mark.parametrize(
    ("kind", "low", "high", "loads"),
    [
        (LoadKind.CONCURRENCY, 5, 9, [5, 6, 7, 8, 9]),
        (LoadKind.CONCURRENCY, 3, 20, [3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20]),
        (LoadKind.CONCURRENCY, 4, 16, [4, 5, 6, 7, 8, 10, 11, 13, 16]),
        (LoadKind.CONCURRENCY, 7, 7, [7]),
        (LoadKind.REQUEST_RATE, 100, 150, [100, 119, 141, 150]),
    ],
)
def test_loads_between_doublings_go_on_to_the_highest_that_is_allowed(
    kind: LoadKind, low: int, high: int, loads: Sequence[int]
) -> None:
    bounds = limits(concurrency=(low, high), request_rate=(low, high))

    of = TrialMap(subject(load_kind=kind), bounds, use_formula=False, load_steps=4)

    assert dimensions(of)[f"m::{kind.value}"] == loads


def test_lists_of_composing_models_are_axes_too() -> None:
    target = subject(ensemble(model("a"), model("b")), composing("a", parameters=DELAYS))

    assert dimensions(trial_map(target))["a::dynamic_batching"] == DELAYS["dynamic_batching"]
    assert {
        thaw(all_parts(trial)["a"].config["dynamic_batching"])["max_queue_delay_microseconds"]
        for trial in trials(
            trial_map(target, limits(instances=(1, 1), batch=(1, 1), concurrency=(1, 1)))
        )
    } == {100, 200}


BATCHED = model(dynamic_batching={"max_queue_delay_microseconds": 9, "preserve_ordering": True})


@pytest.mark.parametrize(
    ("facts", "listed", "varied"),
    [
        # without the field, `{}` sets it and null does not
        (model(), [{}, None], [{}, None]),
        (BATCHED, [{}, None], []),
        (BATCHED, [None, {"max_queue_delay_microseconds": 9}], []),
        (
            model(),
            [{"preserve_ordering": flag} for flag in (True, False, True)],
            [{"preserve_ordering": True}, {"preserve_ordering": False}],
        ),
    ],
)
def test_values_with_the_same_configuration_are_one(
    facts: ModelFacts, listed: Sequence[Any], varied: Sequence[Any]
) -> None:
    target = subject(facts, parameters={"dynamic_batching": listed})
    of = trial_map(target, limits(concurrency=(1, 1)))

    distinct = trials(of)

    assert dimensions(of).get("m::dynamic_batching", []) == varied
    assert len({trial.key for trial in distinct}) == len(distinct) == 40 * max(len(varied), 1)


# -- trials ------------------------------------------------------------------------------------


def test_a_coordinate_stands_for_a_variant_under_a_load() -> None:
    of = trial_map(subject(parameters=DELAYS, batch_sizes=(1, 2), cpu_only=True))
    names = [dimension.parameter for dimension in of.space.dimensions]
    at = {
        "max_batch_size": 3, "instance_count": 1, "dynamic_batching": 1, "batch_sizes": 1,
        "concurrency": 4,
    }  # fmt: skip

    trial = of.trial(tuple(at[name] for name in names), VariantNames())

    assert thaw(config(trial)) == {
        "name": "m",
        "backend": "python",
        "max_batch_size": 8,
        "instance_group": [{"count": 2, "kind": "KIND_CPU"}],
        "dynamic_batching": {"max_queue_delay_microseconds": 200},
    }
    assert (load(trial), client_batch(trial)) == (16, 2)


def test_a_count_of_0_is_one_instance_as_in_triton() -> None:
    of = trial_map(subject(parameters=counts(0, 2, kind="KIND_CPU")), limits(concurrency=(1, 1)))

    assert dimensions(of)["m::instance_count"] == [1, 2]
    assert {config(trial)["instance_group"][0]["count"] for trial in trials(of)} == {1, 2}


def test_dynamic_batching_keeps_what_the_model_says_about_it() -> None:
    facts = model(dynamic_batching={"max_queue_delay_microseconds": 9, "preserve_ordering": True})

    for trial in trials(trial_map(subject(facts), limits(concurrency=(1, 1)))):
        assert config(trial)["dynamic_batching"] == facts.config["dynamic_batching"]
    for trial in trials(trial_map(subject(facts, parameters=DELAYS), limits(concurrency=(1, 1)))):
        assert config(trial)["dynamic_batching"]["preserve_ordering"]


def test_different_coordinates_are_different_trials() -> None:
    target = subject(parameters={**DELAYS, **counts(1, 2)}, batch_sizes=(1, 2))

    distinct = trials(trial_map(target, limits(batch=(1, 4), concurrency=(1, 4))))

    assert len({trial.key for trial in distinct}) == len(distinct) == (3 + 2) * 2 * 2 * 3


@pytest.mark.parametrize(
    ("bounds", "smallest", "largest"), [((1, 1024), 2, 1024), ((4, 64), 4, 64), ((3, 20), 3, 20)]
)
def test_the_formula_keeps_both_bounds(
    bounds: tuple[int, int], smallest: int, largest: int
) -> None:
    made = trials(trial_map(where=limits(concurrency=bounds), formula=True))

    for trial in made:
        wanted = 2 * instances(trial) * batch_limit(trial)
        assert load(trial) == min(max(wanted, bounds[0]), bounds[1])
    assert {min(map(load, made)), max(map(load, made))} == {smallest, largest}


def test_the_formula_takes_listed_concurrencies() -> None:
    made = trials(trial_map(subject(loads=(3, 10, 100)), formula=True))

    for trial in made:
        wanted = 2 * instances(trial) * batch_limit(trial)
        assert load(trial) == (3 if wanted < 10 else 10 if wanted < 100 else 100)


@pytest.mark.parametrize("listed", [(4,), (16, 4), (4, 64)])
def test_listed_preferred_sizes_replace_those_of_the_model(listed: Sequence[int]) -> None:
    of = trial_map(subject(PREFERS_64, parameters=preferring(*listed)), limits(concurrency=(1, 1)))

    assert dimensions(of)["m::max_batch_size"] == [4, 8, 16, 32, 64, 128]


# -- what is legal -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "where"),
    [
        (subject(batch_sizes=(1, 4, 16)), limits(batch=(1, 32), concurrency=(1, 1))),
        (subject(batch_sizes=(4, 16)), limits(batch=(1, 32), concurrency=(1, 1))),
        (
            subject(batch_sizes=(1, 6), parameters={"max_batch_size": [2, 4, 8]}),
            limits(concurrency=(1, 1)),
        ),
        (
            subject(ensemble(model("a"), model("b")), batch_sizes=(1, 4)),
            limits(batch=(1, 8), instances=(1, 1), concurrency=(1, 1)),
        ),
        (
            subject(parameters=preferring(2, 16, 256), batch_sizes=(1, 8)),
            limits(batch=(1, 32), concurrency=(1, 1)),
        ),
        (
            subject(model(dynamic_batching={"preferred_batch_size": [4, 8]})),
            limits(concurrency=(1, 1)),
        ),
        # what is listed takes the place of the model's own
        (subject(PREFERS_64, parameters=preferring(4)), limits(concurrency=(1, 1))),
        (subject(PREFERS_64, parameters=preferring(16, 4)), limits(concurrency=(1, 1))),
    ],
)
def test_every_legal_trial_is_there_once_and_no_other(
    target: Subject, where: SearchSettings
) -> None:
    of = trial_map(target, where)
    names = VariantNames()

    assert sorted(legal(of)) == [at for at in coordinates(of) if of.trial(at, names).is_legal]
    for at in coordinates(of):
        nearest = of.nearest(at, ())
        assert nearest is not None
        assert of.trial(nearest, names).is_legal


def test_client_batches_are_lowered_before_anything_else() -> None:
    of = trial_map(subject(batch_sizes=(1, 2, 4, 8)))
    names = [dimension.parameter for dimension in of.space.dimensions]
    at = dict.fromkeys(names, 0) | {"max_batch_size": 1, "batch_sizes": 3, "concurrency": 5}

    nearest = of.nearest(tuple(at.values()), ())

    assert nearest == tuple({**at, "batch_sizes": 1}.values())


@pytest.mark.parametrize(
    ("limit", "way", "expected"),
    [
        (0, 0, (0, 0)),
        (3, 1, (3, 0)),  # one step in batching rather than three in the limit
        (5, 1, (6, 1)),
        (5, 2, (7, 2)),  # where both take two, batching stays
        (0, 2, (0, 0)),
    ],
)
def test_batch_limits_rise_to_the_preferred_sizes_in_all_models_at_once(
    limit: int, way: int, expected: tuple[int, int]
) -> None:
    parts = [model(name) for name in "abcd"]
    said = [composing(part.name, parameters=preferring(1, 64, 128)) for part in parts]
    of = trial_map(subject(ensemble(*parts), *said))

    def everywhere(limit: int, way: int) -> Coordinate:
        at = {"max_batch_size": limit, "dynamic_batching": way}
        return tuple(at.get(dimension.parameter, 0) for dimension in of.space.dimensions)

    assert of.nearest(everywhere(limit, way), ()) == everywhere(*expected)


def test_the_nearest_new_coordinate_is_the_fewest_steps_away() -> None:
    of = trial_map()
    at = (3, 2, 0, 5)
    seen: list[Coordinate] = [at]

    for distance in (1, 1, 1, 1, 1, 1, 2):
        nearest = of.nearest(at, seen)
        assert nearest is not None
        assert sum(abs(a - b) for a, b in zip(at, nearest, strict=True)) == distance
        seen.append(nearest)


def test_without_new_coordinates_there_is_no_nearest() -> None:
    of = trial_map(where=limits(batch=(1, 2), instances=(1, 2), concurrency=(1, 2)))

    assert len(legal(of)) == 8
    assert of.nearest((0, 0, 0, 0), set(coordinates(of))) is None


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (subject(model(max_batch_size=0), batch_sizes=(2, 4)), "batch_sizes are above .*limit .1"),
        (subject(batch_sizes=(256,)), "batch_sizes are above the model's batch limit .128"),
        (
            subject(model(max_batch_size=0, dynamic_batching={"preferred_batch_size": [2]})),
            "preferred_batch_size 2 is above max_batch_size 0",
        ),
        (subject(parameters=counts(1, 1)), "same number of instances"),
    ],
)
def test_a_space_without_a_legal_trial_is_an_error(target: Subject, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        trial_map(target)


NEEDS_64 = (
    {"dynamic_batching": {"preferred_batch_size": [16, 64]}},
    {"sequence_batching": {"oldest": {"preferred_batch_size": [64]}}},
    {"model_warmup": [{"name": "w", "batch_size": 64}]},
)


@pytest.mark.parametrize("config", NEEDS_64)
def test_a_bound_that_the_user_sets_below_another_field_is_an_error(config: Any) -> None:
    target = subject(model(max_batch_size=64, **config))
    where = limits(batch=(1, 32), quick=bounds(batch=(None, 32)))

    with pytest.raises(ConfigError, match=r"64 is above max_batch_size 32, the highest"):
        trial_map(target, where)
    with pytest.raises(ConfigError, match=r"64 is above max_batch_size 32, the highest"):
        QuickMode(target, where).check()


@pytest.mark.parametrize("config", NEEDS_64)
def test_the_usual_bound_gives_way_to_other_fields(config: Any) -> None:
    of = trial_map(subject(model(max_batch_size=64, **config)), limits(batch=(1, 32)))

    assert dimensions(of)["m::max_batch_size"] == [64]
    assert all(of.trial(at, VariantNames()).is_legal for at in legal(of))


# -- the default -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "where", "expected"),
    [
        (subject(), limits(), 16),
        (subject(), limits(concurrency=(1, 4)), 4),
        (subject(), limits(concurrency=(32, 64)), 32),
        (subject(loads=(2, 10, 30)), limits(), 10),
        (subject(loads=(20, 30)), limits(), 20),
        (subject(model(max_batch_size=0)), limits(), 2),
        (subject(load_kind=LoadKind.REQUEST_RATE), limits(request_rate=(30, 100)), 30),
        (subject(load_kind=LoadKind.REQUEST_INTERVALS, loads=(0,)), limits(), 0),
    ],
)
def test_the_default_is_kept_busy_as_far_as_loads_allow(
    target: Subject, where: SearchSettings, expected: int
) -> None:
    assert load(trial_map(target, where).default(VariantNames())) == expected


def test_the_default_is_kept_busy_on_every_gpu() -> None:
    facts = model(instance_group=[{"count": 2, "kind": "KIND_GPU"}])
    target = Subject(models=subject(facts).models, setup=ServerSetup(devices=("a", "b")))

    assert load(trial_map(target).default(VariantNames())) == 2 * 8 * 2 * 2


@pytest.mark.parametrize(("sizes", "expected"), [((1, 4), 1), ((4, 16), 4), ((16, 32), 8)])
def test_clients_send_batches_that_the_default_accepts(sizes: Sequence[int], expected: int) -> None:
    default = trial_map(subject(batch_sizes=sizes)).default(VariantNames())

    assert client_batch(default) == expected
    assert default.is_legal


ON_A_CPU: Mapping[str, Any] = {
    "instance_group": [{"count": 1, "kind": "KIND_CPU"}],
    "dynamic_batching": {},
}


@pytest.mark.parametrize(
    ("target", "is_in_the_space"),
    [
        (subject(model(**ON_A_CPU), cpu_only=True), True),
        (subject(model(), cpu_only=True), False),
        (subject(model(max_batch_size=24, **ON_A_CPU), cpu_only=True), False),
        (subject(model(**ON_A_CPU), cpu_only=True, loads=(3, 5)), True),
        (subject(model(**ON_A_CPU), cpu_only=True, batch_sizes=(2, 4)), True),
        (subject(model(**ON_A_CPU), cpu_only=True, load_kind=LoadKind.REQUEST_RATE), True),
        (subject(model(**ON_A_CPU), cpu_only=True, parameters=DELAYS), False),
    ],
)
def test_the_default_has_a_coordinate_where_the_space_holds_its_content(
    target: Subject, is_in_the_space: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    of, names = trial_map(target), VariantNames()
    default = of.default(names)
    found = of.coordinate_of(default)
    assert not caplog.messages  # what it compares with is no configuration of the run

    same = [at for at in coordinates(of) if of.trial(at, names).key == default.key]

    assert bool(same) is is_in_the_space
    assert found == (same[0] if same else None)


def test_every_trial_of_the_space_has_its_coordinate() -> None:
    calling = model("m", model("a"), model("b"))
    for target in (
        subject(calling, composing("a", parameters=DELAYS)),
        subject(ensemble(model("a"), model("b"))),
        together(subject(model("m")), subject(model("n", max_batch_size=0))),
    ):
        of = trial_map(target, limits(instances=(1, 2), batch=(1, 2), concurrency=(1, 2)))
        for at in filter(of.is_legal, coordinates(of)):
            assert of.coordinate_of(of.trial(at, VariantNames())) == at
