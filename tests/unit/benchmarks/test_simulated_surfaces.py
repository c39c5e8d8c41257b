# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated servers of the search laboratory, where theory says what they do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.search.families import SurfaceSet, is_constrained
from benchmarks.search.machine import Client, Setting
from benchmarks.search.simulated.server import SIZES, Server, Stage, always
from benchmarks.search.simulated.simulator import Measured, NoSimulatorError, Simulator
from benchmarks.search.simulated.source import Simulated, simulated
from benchmarks.search.simulated.surfaces import simulated_surfaces
from benchmarks.search.truth import Truth
from model_analyzer.domain.trials import LoadKind

RUN = Path(__file__).parents[3] / "benchmarks" / "search" / "run.py"

SERVICE_MS = 4.0

needs_compiler = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("cc", "gcc", "clang")),
    reason="the simulator is built with a C compiler, and there is none",
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("simulator")


@pytest.fixture(scope="module")
def simulator(directory: Path) -> Simulator:
    return Simulator(directory, os.environ)


def stage(batch_ms: float = SERVICE_MS, item_ms: float = 0.0) -> Stage:
    """One that does nothing but compute, on a device that it does not fill."""
    return Stage(compute_ms=batch_ms + item_ms * SIZES, occupancy=always(0.01), launch_ms=always(0))


def server(*stages: Stage) -> Server:
    """Without all that is around the models, and without jitter."""
    return Server(
        stages={f"m{number}": part for number, part in enumerate(stages or [stage()])},
        front_ms=0.0, front_jitter=0.0, network_ms=0.0, interference=0.0, jitter=0.0,
    )  # fmt: skip


def setting(instances: int = 1, batch_limit: int = 1, delay_us: int = 0) -> Setting:
    return Setting(
        instances=instances, batch_limit=batch_limit, forms_batches=batch_limit > 1,
        delay_us=delay_us,
    )  # fmt: skip


# -------------------------------------------------------------------------------------- theory


@needs_compiler
@pytest.mark.parametrize("load", [1, 2, 16])
def test_an_instance_without_batches_is_saturated_by_one_request(
    simulator: Simulator, load: int
) -> None:
    measured = simulator.measure(server(), [setting()], load)
    assert measured.throughput == pytest.approx(1000 / SERVICE_MS)
    assert measured.average_ms == pytest.approx(load * SERVICE_MS)
    assert measured.p99_ms == pytest.approx(load * SERVICE_MS)


@needs_compiler
@pytest.mark.parametrize("load", [1, 2, 3, 8])
def test_instances_that_do_not_meet_add_up(simulator: Simulator, load: int) -> None:
    measured = simulator.measure(server(), [setting(instances=3)], load)
    assert measured.throughput == pytest.approx(min(load, 3) * 1000 / SERVICE_MS, rel=0.001)


@needs_compiler
def test_throughput_times_latency_is_what_is_in_flight(simulator: Simulator) -> None:
    jittery = replace(server(stage(4, 0.5)), front_ms=0.1, front_jitter=0.5, jitter=0.2)
    for load in (4, 32, 256):
        measured = simulator.measure(jittery, [setting(2, 16)], load)
        assert measured.throughput * measured.average_ms / 1000 == pytest.approx(load, rel=0.02)


@needs_compiler
def test_one_instance_works_on_half_of_the_requests_in_flight(simulator: Simulator) -> None:
    # they come back one after the other, and the first of them makes a batch
    spread = replace(server(stage(4, 0.5)), front_ms=0.01)
    measured = simulator.measure(spread, [setting(1, 128)], 32)
    # while some are worked on, the others wait: it takes two batches, which are of 16 on average
    assert measured.average_ms == pytest.approx(2 * (4 + 0.5 * 16), rel=0.02)
    assert measured.throughput == pytest.approx(16 * 1000 / (4 + 0.5 * 16), rel=0.02)


@needs_compiler
def test_a_batch_is_no_larger_than_its_limit(simulator: Simulator) -> None:
    measured = simulator.measure(server(stage(4, 0.5)), [setting(1, 8)], 256)
    assert measured.throughput == pytest.approx(8 * 1000 / (4 + 0.5 * 8), rel=0.001)


@needs_compiler
def test_a_lone_request_waits_for_the_whole_queue_delay(simulator: Simulator) -> None:
    measured = simulator.measure(server(), [setting(1, 8, delay_us=1500)], 1)
    assert measured.average_ms == pytest.approx(1.5 + SERVICE_MS)


@needs_compiler
def test_the_slower_stage_of_two_is_the_limit(simulator: Simulator) -> None:
    pipeline = server(stage(2), stage(5))
    measured = simulator.measure(pipeline, [setting(), setting()], 8)
    assert measured.throughput == pytest.approx(1000 / 5, rel=0.001)
    assert measured.average_ms == pytest.approx(8 * 5, rel=0.001)


@needs_compiler
def test_the_executions_of_each_stage_are_counted(simulator: Simulator) -> None:
    pipeline = server(stage(4, 0.5), stage(2, 0.1))
    measured = simulator.measure(pipeline, [setting(2, 8), setting(1, 8)], 64)

    (batch, batch_ms), (later_batch, later_ms) = measured.steps
    assert (batch, later_batch) == pytest.approx((8, 8), rel=0.01)
    assert (batch_ms, later_ms) == pytest.approx((4 + 0.5 * 8, 2 + 0.1 * 8), rel=0.01)
    # the first one is the limit: its two instances always work
    assert measured.throughput / batch * batch_ms / 2 == pytest.approx(1000, rel=0.01)


@needs_compiler
def test_a_batch_that_fills_the_device_gains_nothing_from_parallel_instances(
    simulator: Simulator,
) -> None:
    full = server(replace(stage(), occupancy=always(1)))
    measured = simulator.measure(full, [setting(instances=2)], 8)
    assert measured.throughput == pytest.approx(1000 / SERVICE_MS, rel=0.001)


@needs_compiler
def test_below_saturation_an_open_loop_is_answered_at_its_rate(simulator: Simulator) -> None:
    rate, busy = 125.0, 125.0 * SERVICE_MS / 1000
    measured = simulator.measure(replace(server(), open_loop=True), [setting()], rate)
    assert measured.throughput == pytest.approx(rate, rel=0.03)
    # Pollaczek and Khinchine: random arrivals, constant service
    waiting = busy * SERVICE_MS / (2 * (1 - busy))
    assert measured.average_ms == pytest.approx(SERVICE_MS + waiting, rel=0.05)


@needs_compiler
def test_above_saturation_an_open_loop_piles_up(simulator: Simulator) -> None:
    measured = simulator.measure(replace(server(), open_loop=True), [setting()], 500)
    assert measured.throughput == pytest.approx(1000 / SERVICE_MS, rel=0.01)
    assert measured.average_ms > 100 * SERVICE_MS


@needs_compiler
def test_the_same_setting_gives_the_same_measurement(simulator: Simulator) -> None:
    def measured(other: Simulator) -> Measured:
        jittery = replace(server(stage(4, 0.5)), jitter=0.2, pause_every=500, pause_ms=20)
        return other.measure(jittery, [setting(2, 16)], 32)

    assert measured(simulator) == measured(simulator)


# ------------------------------------------------------------------------------------- surfaces


@needs_compiler
def test_settings_without_effect_give_the_same_response(simulator: Simulator) -> None:
    one_by_one = server(replace(stage(), forms_batches=False))
    client = Client(kind=LoadKind.CONCURRENCY, values=np.asarray([1.0, 3.0, 4.0]))
    settings = [{"m0": setting(2, limit)} for limit in (1, 8, 64)]
    source = simulated(one_by_one, settings, [1, 2, 4], simulator)
    assert len(source.curves) == 1
    small, _, large = (source.respond(choice, [client]) for choice in settings)
    assert small is not None
    assert large is not None
    assert list(small.throughput[0]) == list(large.throughput[0])
    assert large.memory > small.memory


@needs_compiler
def test_a_setting_with_too_much_memory_does_not_load_or_fails(simulator: Simulator) -> None:
    walled = replace(server(), fixed_mb=0.0, memory_mb=900.0, live_mb=100.0)
    source = Simulated(server=walled, simulator=simulator, nodes=[1, 8], curves={})
    client = Client(kind=LoadKind.CONCURRENCY, values=np.asarray([1.0, 8.0]))
    assert source.respond({"m0": setting(5, 1)}, [client]) is None
    response = source.respond({"m0": setting(1, 16)}, [client])
    assert response is not None
    assert list(response.fails) == [False, True]


@needs_compiler
def test_five_to_ten_percent_of_the_points_meet_the_constraints(simulator: Simulator) -> None:
    constrained = list(
        simulated_surfaces(
            simulator, SurfaceSet.TUNING, lambda name: name.startswith("no-batching-1")
        )
    )
    names = [surface.name for surface in constrained]
    assert names == ["no-batching-1", "no-batching-1-round", "no-batching-1-avg"]
    for surface in constrained:
        assert Truth(surface).size == 41 * 8
        if is_constrained(surface):
            assert 0.05 <= Truth(surface).feasible <= 0.10


@needs_compiler
def test_the_reporting_set_has_no_surface_of_the_tuning_set(simulator: Simulator) -> None:
    tuned, reported = (
        next(simulated_surfaces(simulator, which, lambda name: name == "no-batching-1"))
        for which in SurfaceSet
    )

    assert Truth(tuned).best.merit != pytest.approx(Truth(reported).best.merit, rel=1e-3)


@needs_compiler
def test_simulated_results_are_stored(
    simulator: Simulator, directory: Path, tmp_path: Path
) -> None:
    first = simulator.curves(server(), [(setting(),)], [1, 2])
    for table in directory.glob("*.npy"):
        shutil.copy(table, tmp_path)
    without_compiler = Simulator(tmp_path, {"PATH": ""})
    assert np.array_equal(without_compiler.curves(server(), [(setting(),)], [1, 2]), first)


def test_without_a_compiler_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoSimulatorError, match="my-cc cannot be found"):
        Simulator(tmp_path, {"CC": "my-cc", "PATH": ""}).measure(server(), [setting()], 1)


def test_without_a_compiler_the_program_says_one_line(tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(RUN), "--set", "simulated", "--modes", "random"],
        check=False, timeout=300, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("--set simulated: a C compiler is needed to build the simulator")
