# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of the search laboratory: what it claims about a search rests on this."""

from __future__ import annotations

import csv
import functools
import json
import math
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.search import upstream
from benchmarks.search.beaten import better_measured
from benchmarks.search.drive import Run, changes, run, search_of
from benchmarks.search.families import SurfaceSet, is_constrained, surfaces
from benchmarks.search.machine import Client, Machine, Point, Setting, Station
from benchmarks.search.recorded import recorded
from benchmarks.search.surface import (
    MEMORY,
    P99,
    THROUGHPUT,
    Axis,
    Noise,
    Surface,
    ensemble,
    measurement,
    single,
)
from benchmarks.search.truth import Truth
from benchmarks.search.verdict import calibration, judge, markdown, summarize, worst_tenth
from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.trials import Failure, LoadKind
from model_analyzer.search.plan import doubling
from tests.sizes import small_and_full
from tests.unit import builders
from tests.unit.builders import known

ROOT = Path(__file__).parents[3]


def surface(**changes: Any) -> Surface:
    """A small one: 3 instances, batch limits to 8, concurrency to 32."""
    station = Station(base_ms=4, item_ms=0.3, weights_mb=100, item_mb=5)
    drawn = Surface(
        name="small",
        family="small",
        facts=(single("m"),),
        options={
            "model_repository": "/models",
            "profile_models": {"m": {"cpu_only": True}},
            "run_config_search_max_instance_count": 3,
            "run_config_search_max_model_batch_size": 8,
            "run_config_search_max_concurrency": 32,
        },
        axes={"m": Axis(instances=(1, 2, 3), batch_limits=(1, 2, 4, 8))},
        loads=doubling(1, 32),
        source=Machine(stations={"m": station}, chains=(("m",),)),
    )
    return replace(drawn, **changes)


def point(instances: int = 1, batch_limit: int = 8, load: float = 4) -> Point:
    setting = Setting(instances=instances, batch_limit=batch_limit, forms_batches=True)
    client = Client(kind=LoadKind.CONCURRENCY, values=np.asarray([float(load)]))
    return Point(settings={"m": setting}, clients=[client])


def all_points(landscape: Surface) -> list[Point]:
    """The whole grid, put together without the laboratory's own enumeration."""
    settings = [Setting(instances=1, batch_limit=8, forms_batches=False)]
    settings += [
        Setting(instances=count, batch_limit=limit, forms_batches=True)
        for count in (1, 2, 3)
        for limit in (1, 2, 4, 8)
    ]
    return [
        replace(point(load=load), settings={"m": s}) for s in settings for load in landscape.loads
    ]


def exact(landscape: Surface, where: Point) -> Any:
    response = known(landscape.response(where))
    return measurement(response, speed=1, tail=1, windows=())


def recommending(where: Point | None, *, passes: bool = True) -> Run:
    return Run(
        measurements=10, variants=2, loads=3, server_starts=1, recommended=where, passes=passes,
        thinking_s=(0.001, 0.003),
    )  # fmt: skip


# ------------------------------------------------------------------------------------ machines


def test_in_a_closed_loop_throughput_times_latency_is_what_is_in_flight() -> None:
    for where in all_points(surface()):
        response = known(surface().response(where))
        in_flight = response.throughput[0] * response.latency_avg[0] / 1000
        assert in_flight == pytest.approx(where.clients[0].values)


def test_many_loads_at_once_are_answered_as_one_by_one() -> None:
    landscape = surface()
    values = np.asarray([1.0, 3.0, 32.0])
    client = Client(kind=LoadKind.CONCURRENCY, values=values)
    together = known(landscape.source.respond(point().settings, [client]))
    for index, value in enumerate(values):
        alone = known(landscape.response(point(load=value)))
        assert together.latency_p99[0][index] == pytest.approx(alone.latency_p99[0][0])


def test_a_setting_with_too_much_memory_does_not_load() -> None:
    landscape = surface()
    assert isinstance(landscape.source, Machine)
    walled = replace(landscape, source=replace(landscape.source, memory_mb=700))
    # 300 fixed, and 140 for each instance with batches of 8
    assert walled.response(point(instances=2)) is not None
    assert walled.response(point(instances=3)) is None
    assert isinstance(walled.measure(point(instances=3), seed=0), Failure)


# ---------------------------------------------------------------------------------------- noise


def test_an_ensemble_counts_the_executions_of_its_steps() -> None:
    parts = {"quick": Station(base_ms=2, item_ms=0.1), "slow": Station(base_ms=9, item_ms=0.3)}
    chain = surface(
        facts=(ensemble("chain", [single(name) for name in parts]),),
        source=Machine(stations=parts, chains=(tuple(parts),)),
        options={**surface().options, "profile_models": {"chain": {"cpu_only": True}}},
    )
    setting = Setting(instances=1, batch_limit=8, forms_batches=True)
    where = replace(point(load=64), settings=dict.fromkeys(parts, setting))

    measured = chain.measure(where, 0)

    assert isinstance(measured, Measurement)
    counted, rate = measured.statistics, measured.models[0].values[THROUGHPUT]
    assert set(counted) == {"chain", *parts}
    busy = {
        name: counted[name].busy_ms / 1000 / counted["chain"].inferences * rate for name in parts
    }
    assert busy["slow"] == pytest.approx(1, abs=0.1)
    assert busy["quick"] < 0.4
    assert counted["slow"].mean_batch == pytest.approx(8, rel=0.01)
    plain = surface().measure(point(), 0)
    assert isinstance(plain, Measurement)
    assert plain.statistics == {}


def test_noise_belongs_to_seed_point_and_repetition() -> None:
    landscape = surface(noise=Noise(sigma=0.05, outliers=0.1))
    first = landscape.measure(point(), seed=1)
    assert landscape.measure(point(), seed=1) == first
    others = [
        landscape.measure(point(), seed=2),
        landscape.measure(point(), seed=1, repetition=1),
        landscape.measure(point(load=8), seed=1),
    ]
    assert first not in others


def test_noise_is_as_large_as_it_says() -> None:
    noise = Noise(sigma=0.03)
    speeds = [noise.factors(seed, "x", 0)[0] for seed in range(2000)]
    assert np.mean(np.log(speeds)) == pytest.approx(0, abs=0.003)
    assert np.std(np.log(speeds)) == pytest.approx(0.03, rel=0.1)
    slow = [Noise(sigma=0.001, outliers=0.2).factors(s, "x", 0)[0] < 0.95 for s in range(2000)]
    assert np.mean(slow) == pytest.approx(0.2, abs=0.03)


def test_windows_add_up_to_the_measurement() -> None:
    outcome = surface(noise=Noise(sigma=0.05)).measure(point(), seed=3)
    assert not isinstance(outcome, Failure)
    (model,) = outcome.models
    assert np.mean(model.windows) == pytest.approx(model.values[THROUGHPUT])


# ---------------------------------------------------------------------------------------- truth


def test_the_best_is_the_one_that_the_program_ranks_first() -> None:
    landscape = surface().within(
        Constraint(tag=P99, maximum=30), Constraint(tag=MEMORY, maximum=600)
    )
    truth = Truth(landscape)
    points = all_points(landscape)
    assert truth.size == len(points)
    ordered = landscape.goal.best_first(points, lambda where: exact(landscape, where))
    assert truth.best.settings == ordered[0].settings
    assert truth.best.loads == tuple(client.values[0] for client in ordered[0].clients)
    passing = sum(landscape.goal.passes(exact(landscape, where)) for where in points)
    assert 0 < passing < len(points)
    assert truth.feasible == pytest.approx(passing / len(points))


def test_merits_are_as_far_apart_as_values() -> None:
    landscape = surface()
    truth = Truth(landscape)
    a, b = point(load=1), point(load=16)
    ratio = exact(landscape, b).value(THROUGHPUT) / exact(landscape, a).value(THROUGHPUT)
    merits = truth.merit_of(b), truth.merit_of(a)
    assert merits[0] is not None
    assert merits[1] is not None
    assert math.exp(merits[0] - merits[1]) == pytest.approx(ratio)


def test_between_the_loads_of_the_grid_it_may_be_better() -> None:
    # 24 in flight meet it, and 32 do not
    bound = exact(surface(), point(instances=3, load=24)).value(P99)
    truth = Truth(surface().within(Constraint(tag=P99, maximum=bound)))
    assert truth.best.merit is not None
    assert truth.best_under_any_load.merit is not None
    assert truth.best_under_any_load.merit > truth.best.merit


@pytest.mark.parametrize("tag", [P99, THROUGHPUT])
@pytest.mark.parametrize("share", [0.05, 0.08, 0.5])
def test_a_limit_is_met_by_the_requested_share(tag: str, share: float) -> None:
    truth = Truth(surface())
    limited = Truth(surface().within(truth.limit(tag, share)))
    # of 78 points; some are tied, since batches of one need no batching
    assert limited.feasible == pytest.approx(share, abs=3 / 78)


@pytest.mark.parametrize("tag", [P99, THROUGHPUT, MEMORY])
def test_a_limit_lies_between_two_values(tag: str) -> None:
    truth = Truth(surface())
    limit = truth.limit(tag, 0.08)
    bound = known(limit.minimum if limit.maximum is None else limit.maximum)
    assert np.abs(truth.metric(tag) / bound - 1).min() > 1e-6


def test_a_batch_waits_while_another_is_worked_on() -> None:
    """Of four requests in flight an instance works on two, which are not back when it is free."""
    station = Station(base_ms=4, item_ms=0.3)
    machine = Machine(
        stations={"m": station}, chains=(("m",),), client_ms=0, slots=8, contention=0, blend=0.9999
    )
    response = exact(surface(source=machine), point(instances=1, load=4))
    each = 2 / station.service_ms(np.array([2.0]))[0] * 1000
    assert response.value(THROUGHPUT) == pytest.approx(each, rel=0.03)


def test_a_second_limit_is_met_beside_the_first() -> None:
    first = Truth(surface()).limit(P99, 0.6)
    second = Truth(surface().within(first)).limit(THROUGHPUT, 0.1)
    both = Truth(surface().within(first, second))
    assert both.feasible == pytest.approx(0.1, abs=2 / 78)


# ----------------------------------------------------------------------------------------- sets


@functools.cache
def all_of(which: SurfaceSet) -> list[Surface]:
    return list(surfaces(which))


def test_sets_are_the_same_every_time() -> None:
    again = surfaces(SurfaceSet.TUNING)
    for first, second in zip(all_of(SurfaceSet.TUNING), islice(again, 20), strict=False):
        assert (first.name, first.source, first.options) == (
            second.name,
            second.source,
            second.options,
        )


@small_and_full("step", 6, 1)
@small_and_full("which", *SurfaceSet)  # made in the same way
def test_five_to_ten_percent_meet_the_constraints(which: SurfaceSet, step: int) -> None:
    for drawn in all_of(which)[::step]:
        feasible = Truth(drawn).feasible
        if drawn.family == "none-feasible":
            assert feasible == 0, drawn.name
        elif is_constrained(drawn):
            assert 0.045 <= feasible <= 0.125, drawn.name  # ties at the bound


def test_the_sets_have_no_surface_in_common() -> None:
    tuning, reporting = map(all_of, SurfaceSet)
    sources = [drawn.source for drawn in tuning]
    assert not any(drawn.source in sources for drawn in reporting)
    families = {drawn.family for drawn in tuning}, {drawn.family for drawn in reporting}
    assert families[0] - families[1]
    assert families[1] - families[0]


# ----------------------------------------------------------------------------------------- runs


def test_random_search_finds_the_expected_best() -> None:
    landscape = surface()
    # the default is not drawn: it is the first of the thirteen variants
    values = sorted(
        exact(landscape, where).value(THROUGHPUT)
        for where in all_points(landscape)[len(landscape.loads) :]
    )
    drawn = len(values) // 10
    chances = [
        math.comb(rank, drawn - 1) / math.comb(len(values), drawn) for rank in range(len(values))
    ]
    expected = sum(value * chance for value, chance in zip(values, chances, strict=True))
    bests = []
    for seed in range(300):
        search = search_of(landscape, "random:10", seed)
        best = 0.0
        while (trial := search.ask()) is not None:
            outcome = landscape.measure(Point.of(trial), seed)
            assert not isinstance(outcome, Failure)
            if not trial.workloads[0].variant.is_default:
                best = max(best, outcome.value(THROUGHPUT) or 0)
            search.tell(trial, outcome)
        bests.append(best)
    error = np.std(bests) / math.sqrt(len(bests))
    assert np.mean(bests) == pytest.approx(expected, abs=4 * error)


def test_a_brute_search_without_noise_finds_the_best_measured_point() -> None:
    landscape = surface().within(Constraint(tag=P99, maximum=30))
    result = known(run(landscape, "brute", 0))
    assert result.passes
    verdict = judge(landscape, Truth(landscape), "brute", 0, result)
    assert verdict.value == 1
    assert verdict.value_any_load == pytest.approx(1, abs=0.03)


def test_runs_are_the_same_for_the_same_seed() -> None:
    landscape = surface(noise=Noise(sigma=0.05))
    for mode in ("quick", "random:20"):
        first, second = run(landscape, mode, 5), run(landscape, mode, 5)
        assert first is not None
        assert second is not None
        assert first.recommended is not None
        assert second.recommended is not None
        assert (first.measurements, first.recommended.text) == (
            second.measurements,
            second.recommended.text,
        )
        assert len(first.thinking_s) == first.measurements + 1


def test_seeds_change_the_random_choices_of_a_search() -> None:
    """With one seed only, a change of a search is judged by the luck that it has with that one."""

    class Overheard:
        def __init__(self) -> None:
            self.asked: list[str] = []

        def respond(self, settings: Any, clients: Any) -> Any:
            self.asked.append(Point(settings=settings, clients=clients).text)
            return surface().source.respond(settings, clients)

    def asked(mode: str, seed: int) -> list[str]:
        source = Overheard()
        run(surface(source=source), mode, seed)
        return source.asked

    for mode in ("adaptive", "optuna"):
        assert asked(mode, 1) == asked(mode, 1)
        assert asked(mode, 1) != asked(mode, 2)


def test_a_mode_that_is_not_for_the_models_does_not_run() -> None:
    pipeline = next(drawn for drawn in all_of(SurfaceSet.TUNING) if drawn.family == "ensemble-2")
    assert run(pipeline, "brute", 0) is None
    assert run(pipeline, "quick", 0) is not None


def test_each_change_of_the_served_variants_is_a_load() -> None:
    assert changes(["a", "a", "b", "a"]) == 3
    assert changes([]) == 0


# ------------------------------------------------------------------------------------- verdicts


def test_a_recommendation_is_worth_its_share_of_the_best() -> None:
    landscape = surface()
    truth = Truth(landscape)
    assert truth.best.merit is not None
    poor = judge(landscape, truth, "m", 0, recommending(point(load=1)))
    merit = known(truth.merit_of(point(load=1)))
    assert poor.value == pytest.approx(math.exp(merit - truth.best.merit))
    assert poor.share == pytest.approx(10 / 78)
    assert poor.variants_share == pytest.approx(2 / 13)


def test_a_recommendation_that_breaks_a_constraint_beyond_noise_is_worth_nothing() -> None:
    bound = exact(surface(), point(load=8)).value(P99)
    within = surface(noise=Noise(sigma=0.02))
    for excess, value in ((1.03, False), (1.05, True)):
        landscape = within.within(Constraint(tag=P99, maximum=bound / excess))
        verdict = judge(landscape, Truth(landscape), "m", 0, recommending(point(load=8)))
        assert verdict.breaks is value
        assert (verdict.value == 0) is value
        assert verdict.value_strict == 0


def test_a_recommendation_that_its_own_measurements_surpass_is_counted() -> None:
    landscape = surface(noise=Noise(sigma=0.02))
    bound = Constraint(tag=P99, maximum=exact(landscape, point(load=8)).value(P99))
    within = landscape.within(bound)
    truth = Truth(within)

    def verdict(*better: Point) -> tuple[bool, bool]:
        result = replace(recommending(point(load=1)), better=better)
        judged = judge(within, truth, "m", 0, result)
        return judged.beaten, judged.doubted

    assert verdict() == (False, False)
    assert verdict(point(load=4)) == (True, True)
    # it met the constraint by luck
    assert verdict(point(load=32)) == (False, True)
    beaten = judge(within, truth, "m", 0, replace(recommending(point()), better=[point(load=4)]))
    (summary,) = summarize([beaten], ["m"])
    assert (summary.beaten, summary.doubted) == (1, 1)


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        pytest.param([104.0], 0, id="within three standard errors"),
        pytest.param([110.0], 1, id="more than that"),
        pytest.param([104.0] * 4, 0, id="repeated, and still within them"),
        pytest.param([107.0] * 4, 1, id="repeated"),
    ],
)
def test_a_better_measurement_is_reported_from_three_standard_errors(
    others: list[float], expected: int
) -> None:
    chosen = builders.variant("m_config_0")
    other = builders.variant("m_config_1", max_batch_size=4)
    records = [
        builders.record(chosen, builders.measurement(value), repetition=number)
        for number, value in enumerate([100.0, 100.0])
    ]
    records += [
        builders.record(other, builders.measurement(value), repetition=number)
        for number, value in enumerate(others)
    ]

    better = better_measured(records, records[0].trial, builders.goal(), sigma=0.02)

    assert [trial.variants for trial in better] == ["m_config_1"] * expected


def test_a_load_is_crowded_where_a_quarter_of_it_gives_as_much() -> None:
    landscape = surface()
    truth = Truth(landscape)
    assert truth.merit_of(point(load=32)) is not None
    loads = {
        load: judge(landscape, truth, "m", 0, recommending(point(load=load))) for load in (4, 4096)
    }
    assert not loads[4].crowded
    assert loads[4096].crowded


def test_no_answer_is_worth_nothing() -> None:
    landscape = surface().within(Constraint(tag=P99, maximum=30))
    for result in (recommending(None, passes=False), recommending(point(load=1), passes=False)):
        verdict = judge(landscape, Truth(landscape), "m", 0, result)
        assert not verdict.answered
        assert verdict.value == 0


def test_where_nothing_is_feasible_there_is_no_value() -> None:
    landscape = surface().within(Constraint(tag=P99, maximum=0.1))
    verdict = judge(landscape, Truth(landscape), "m", 0, recommending(point(), passes=False))
    assert not verdict.exists
    assert verdict.value is None
    (summary,) = summarize([verdict], ["m"])
    assert summary.kind == "none feasible"
    assert summary.no_answer == 1
    assert "| m | 1 | 1 | - | - |" in markdown([summary])


def test_the_worst_tenth_is_a_mean() -> None:
    assert worst_tenth([float(value) for value in range(20)]) == 0.5
    assert worst_tenth([0.25, 1]) == 0.25


# ----------------------------------------------------------------------------------- recordings


def recording(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "failure"])
        writer.writeheader()
        writer.writerows(rows)
    return path


def row(variant: str, count: int, limit: int, load: int, value: float, **more: Any) -> Any:
    return {
        "model": "m",
        "variant": variant,
        "config.max_batch_size": limit,
        "config.instance_group.0.count": count,
        "config.dynamic_batching": "" if variant.endswith("default") else "{}",
        "concurrency": load,
        "perf_throughput": value,
        "perf_latency_avg": 1000 * load / value,
        "perf_latency_p99": 2000 * load / value,
        "cpu_used_ram": 100 * count,
        **more,
    }


def rows() -> list[dict[str, Any]]:
    return [
        row("m_config_default", 1, 4, 1, 10), row("m_config_default", 1, 4, 2, 12),
        row("m_config_0", 1, 2, 1, 10), row("m_config_0", 1, 2, 2, 15),
        row("m_config_0", 1, 2, 2, 25),
        row("m_config_1", 2, 2, 1, 20), {**row("m_config_1", 2, 2, 2, 1), "failure": "TIMEOUT"},
    ]  # fmt: skip


def test_a_recording_answers_with_what_was_recorded(tmp_path: Path) -> None:
    landscape = recorded(recording(tmp_path / "m.csv", rows()))
    twice = known(landscape.response(point(instances=1, batch_limit=2, load=2)))
    assert twice.throughput[0][0] == pytest.approx(20)  # the mean of two rows
    between = known(landscape.response(point(instances=1, batch_limit=2, load=math.sqrt(2))))
    assert between.throughput[0][0] == pytest.approx(math.sqrt(10 * 20))
    failed = known(landscape.response(point(instances=2, batch_limit=2, load=2)))
    assert failed.fails[0]
    assert landscape.response(point(instances=3, batch_limit=2)) is None
    assert Truth(landscape).size == 6


def test_a_recording_with_gaps_is_refused(tmp_path: Path) -> None:
    path = recording(tmp_path / "m.csv", rows()[1:])
    with pytest.raises(ValueError, match="m_config_default was not measured under all"):
        recorded(path)


def test_the_recording_that_comes_with_it_can_be_replayed() -> None:
    landscape = recorded(ROOT / "benchmarks" / "search" / "recordings" / "sim_gpu.csv")
    truth = Truth(landscape)
    assert truth.size == 147
    assert run(landscape, "quick", 0) is not None


# ------------------------------------------------------------------------------------- programs


def test_the_stand_in_reports_what_the_server_measured(tmp_path: Path) -> None:
    program = ROOT / "benchmarks" / "search" / "standin_perf_analyzer.py"
    with upstream._served(surface(), 0) as server:
        assert server.load("m", None) is None
        table = tmp_path / "table.csv"
        subprocess.run(
            [
                sys.executable, str(program), "-m", "m", "-u", f"localhost:{server.port}",
                "--concurrency-range=4", "-b", "1", "-f", str(table),
            ],
            check=True, timeout=300, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        (measured,) = server.measured
    (line,) = csv.DictReader(table.read_text().splitlines())
    wanted = exact(surface(), measured).models[0].values
    assert float(line["Inferences/Second"]) == pytest.approx(wanted[THROUGHPUT], abs=0.001)
    assert float(line["p99 latency"]) == pytest.approx(1000 * wanted[P99], abs=1)


def test_a_setting_that_does_not_fit_is_not_served() -> None:
    landscape = surface()
    assert isinstance(landscape.source, Machine)
    walled = replace(landscape, source=replace(landscape.source, memory_mb=500))
    with upstream._served(walled, 0) as server:
        assert server.load("m", None) is None
        large = '{"name": "m", "max_batch_size": 8, "instance_group": [{"count": 3}]}'
        assert "out of memory" in (server.load("m", large) or "")
        assert server.failed_loads == 1


def test_a_program_that_never_ends_has_no_answer(tmp_path: Path, monkeypatch) -> None:
    program = tmp_path / "program"
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, sys, time\n"
        "from urllib.request import urlopen\n"
        "server = 'http://' + json.load(open(sys.argv[-1]))['triton_http_endpoint']\n"
        "urlopen(server + '/v2/repository/models/m/load', data=b'{}').read()\n"
        "urlopen(server + '/measure?4&1').read()\n"
        "time.sleep(3600)\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(upstream, "_PATIENCE_S", 3.0)

    result = known(upstream.run(surface(), "upstream-quick", 0, program))

    assert result.measurements == 1
    assert result.recommended is None
    assert not result.passes


def test_upstream_names_a_variant_with_its_parts(tmp_path: Path) -> None:
    for name, limit in (("variants/a_config_0", 2), ("models/b", 4), ("variants/e_config_1", 2)):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "config.pbtxt").write_text(f"max_batch_size: {limit}")
    configs = upstream._configs(tmp_path, "e_config_1: a_config_0, b_config_default")
    limits = {name: config["max_batch_size"] for name, config in configs.items()}
    assert limits == {"e": 2, "a": 2, "b": 4}


def test_the_program_writes_one_table(tmp_path: Path) -> None:
    script = ROOT / "benchmarks" / "search" / "run.py"
    recordings = script.parent / "recordings"
    done = subprocess.run(
        [
            sys.executable, str(script), "--set", str(recordings), "--modes", "quick,random:10",
            "--seeds", "2", "--out", str(tmp_path),
        ],
        check=False, timeout=300, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "### With constraints" in done.stdout
    content = json.loads((tmp_path / "recordings.json").read_text())
    assert {(line["mode"], line["kind"]) for line in content["summary"]} == {
        (mode, kind)
        for mode in ("quick", "random:10")
        for kind in ("with constraints", "without constraints")
    }
    assert len(content["runs"]) == 2 * 2 * 5


def test_an_unknown_mode_is_named() -> None:
    script = ROOT / "benchmarks" / "search" / "run.py"
    done = subprocess.run(
        [sys.executable, str(script), "--modes", "slow"],
        check=False, timeout=300, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert "no mode slow" in done.stderr


def test_the_stated_chance_is_compared_with_the_remaining_gain() -> None:
    landscape = surface()
    truth = Truth(landscape)
    best = truth.best_under_any_load
    assert best.settings is not None
    good, bad = point(), point(load=1)
    good = replace(good, settings=best.settings, clients=point(load=best.loads[0]).clients)
    verdicts = [
        judge(landscape, truth, "adaptive", seed, replace(recommending(where), chance=chance))
        for seed, (where, chance) in enumerate([(good, 0.05), (bad, 0.05), (bad, 1.0)])
    ]

    rows = [line for line in calibration(verdicts).splitlines() if "%" in line and "|" in line]

    assert rows == ["| 0% to 10% | 2 | 5% | 50% |", "| 50% to 100% | 1 | 100% | 100% |"]
    assert calibration([replace(verdict, chance=None) for verdict in verdicts]) == ""


# -------------------------------------------------------------------------------- rounds


def test_longer_rounds_show_more_exact_values() -> None:
    landscape = surface(noise=Noise(sigma=0.0))
    true = exact(landscape, point()).totals

    def errors(seconds: float) -> list[float]:
        measured = [landscape.measure(point(), seed, 0, seconds) for seed in range(30)]
        values = [each.totals for each in measured if isinstance(each, Measurement)]
        return [
            float(np.std([math.log(each[tag] / true[tag]) for each in values]))
            for tag in (THROUGHPUT, P99)
        ]

    short, long = errors(0.5), errors(8.0)
    assert long == pytest.approx([error / 4 for error in short], rel=0.6)
    assert short[0] < 0.06


def test_a_round_has_its_requests_and_takes_its_time() -> None:
    outcome = surface().measure(point(), 0, 0, 2.0)
    assert isinstance(outcome, Measurement)
    (model,) = outcome.models
    assert model.seconds == 2.0
    assert model.requests == pytest.approx(2 * model.values[THROUGHPUT], rel=0.05)
    assert model.histograms["perf_latency"].total == model.requests
    # perf_analyzer's start and end, and the last request
    last_s = model.values["perf_latency_avg"] / 1000
    assert outcome.duration_s == pytest.approx(2.15 + last_s, rel=0.02)


def test_a_run_takes_what_its_measurements_take() -> None:
    careful = run(surface(), "brute", 0)
    short = run(surface(), "brute", 0, in_rounds=True)
    assert careful is not None
    assert short is not None
    assert careful.seconds == pytest.approx(16 * careful.measurements, rel=0.1)
    assert short.seconds < careful.seconds / 8
