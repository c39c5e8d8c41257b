# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Open loads on the real programs: when requests are sent, and latencies from intended times."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.noise.lag import sent_late
from model_analyzer.noise.pooling import pool
from model_analyzer.runner.load.schedule import due_times
from model_analyzer.state.checkpoint import load as load_checkpoint
from tests.sizes import small_and_full

NS = 1_000_000_000
BUDGET_MS = 130

# Stands still for two seconds, eight seconds after the tenth request of an instance (the first ones
# are warm-ups), all instances together.
HELD = """
import os, time
import triton_python_backend_utils as pb

class TritonPythonModel:
    def initialize(self, args):
        self.place = os.path.join(args["model_repository"], "began")
        self.began, self.count = None, 0

    def execute(self, requests):
        self.count += 1
        if self.count == 10 and self.began is None:
            try:
                with open(self.place, "x") as file:
                    file.write(str(time.time()))
            except FileExistsError:
                pass
        if self.began is None and os.path.exists(self.place):
            with open(self.place) as file:
                self.began = float(file.read() or time.time())
        since = time.time() - self.began if self.began else 0
        if 8 <= since < 10:
            time.sleep(10 - since)
        return [
            pb.InferenceResponse([pb.Tensor(
                "OUTPUT", pb.get_input_tensor_by_name(request, "INPUT").as_numpy()
            )])
            for request in requests
        ]
"""


# Writes each of its inputs into a line of the file PLACE.
DIARY = """
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            numbers = pb.get_input_tensor_by_name(request, "INPUT").as_numpy()
            with open("PLACE", "a") as file:
                file.write(" ".join(map(str, numbers.ravel().tolist())) + "\\n")
            responses.append(pb.InferenceResponse([pb.Tensor("OUTPUT", numbers)]))
        return responses
"""


def measured(scene, **changes: Any) -> list[ModelMeasurement]:
    """The measured trials of a run with these options, in the order of their loads; all rounds
    of a trial together.
    """
    status, output = scene.profile(
        "--run-config-search-disable", **{"perf_analyzer_flags": {}, **changes}
    )
    assert status == 0, output
    records = load_checkpoint(
        scene.directory / changes.get("checkpoint_directory", "checkpoints")
    ).profile.records
    runs: dict[str, list[Measurement]] = {}
    for record in records:
        assert isinstance(record.outcome, Measurement), record.outcome
        runs.setdefault(record.trial.first.key, []).append(record.outcome)
    return [pool(rounds).models[0] for rounds in runs.values()]


@small_and_full(
    "arrivals", {"arrivals": "poisson"}, {"arrivals": "constant"}, {"arrivals": "gamma", "cv": 2}
)
def test_arrivals_at_rates(scene, arrivals: dict[str, Any]) -> None:
    slow, fast = measured(scene, load={**arrivals, "rate": [20, 60]})
    assert slow.values["perf_throughput"] < fast.values["perf_throughput"] < 140
    for each in (slow, fast):
        assert each.values["perf_send_lag_p99"] >= 0
        # who counts from sending leaves out the lag
        assert each.values["perf_sent_latency_p99"] > 0
        assert each.histograms["perf_latency"].total == each.requests


@pytest.mark.slow
def test_every_request_of_a_log_is_sent_once(scene) -> None:
    times = [*range(0, 2000, 25), *range(2000, 3000, 10)]
    log = scene.directory / "log.csv"
    log.write_text("id,time\n" + "".join(f"r{n},{t}\n" for n, t in enumerate(times)))

    (replayed,) = measured(scene, load={"replay": "log.csv", "unit": "ms"})

    # the first answer begins the time that is measured
    assert replayed.requests == len(times) - 1
    assert replayed.seconds == pytest.approx(3, rel=0.2)


@pytest.mark.slow
def test_a_trace_in_seconds_is_not_taken_for_one_in_milliseconds(scene) -> None:
    log = scene.directory / "log.jsonl"
    log.write_text(
        "".join(
            f'{{"timestamp": {0.039 + number / 20:.3f}, "input_length": 64, "turn": 1,'
            f' "output_length": 8, "hash_ids": [{number}]}}\n'
            for number in range(60)
        )
    )

    (replayed,) = measured(scene, load={"replay": "log.jsonl"})

    assert replayed.requests == 59
    assert replayed.seconds == pytest.approx(3, rel=0.2)


def test_stages_last_as_long_as_they_say(scene) -> None:
    (staged,) = measured(
        scene, load={"stages": [{"rate": 20, "for": "2s"}, {"rate": 80, "for": "1s"}]}
    )
    assert staged.seconds > 2
    assert 60 < (staged.requests or 0) < 180


@pytest.mark.slow
def test_a_further_round_has_other_times(scene) -> None:
    status, output = scene.profile(
        "--run-config-search-mode", "brute", "--run-config-search-max-instance-count", "2",
        "--run-config-search-max-model-batch-size", "1",
        perf_analyzer_flags={}, load={"arrivals": "poisson", "rate": 60},
    )  # fmt: skip
    assert status == 0, output
    assert "poisson" in (scene.directory / "results" / "results.json").read_text().lower()


@pytest.mark.slow
@pytest.mark.parametrize(
    "bursts",
    [
        {"arrivals": "gamma", "cv": 3, "rate": 80},
        {"stages": [{"rate": 40, "for": "1s"}, {"rate": 250, "for": "1s"}]},
    ],
    ids=["gamma", "stages"],
)
def test_under_bursts_another_variant_wins(scene, bursts: dict[str, Any]) -> None:
    """Even arrivals need the smallest variant only; bursts wait in its queue."""
    winners = {
        name: winner(scene, name, load)
        for name, load in (("even", {"arrivals": "constant", "rate": 80}), ("bursts", bursts))
    }
    # both get bursts that nothing was chosen by
    due = due_times(Traffic(arrivals=Arrivals.GAMMA, cv=3, seed=5), rate=80, seconds=12)
    log = scene.directory / "log.csv"
    log.write_text("time\n" + "".join(f"{time / NS}\n" for time in due))
    for name, config in winners.items():
        shutil.copytree(scene.models / "sim_gpu", scene.models / name)
        text = config.replace('name: "sim_gpu"', f'name: "{name}"')
        (scene.models / name / "config.pbtxt").write_text(text)

    even, kept = measured(
        scene,
        profile_models=list(winners),
        load={"replay": "log.csv", "unit": "s"},
        checkpoint_directory="again",
    )

    assert even.values["perf_latency_p99"] > BUDGET_MS > kept.values["perf_latency_p99"]


def winner(scene, name: str, load: dict[str, Any]) -> str:
    """The configuration that a search with this load recommends."""
    status, output = scene.profile(
        "--run-config-search-max-instance-count", "2",
        "--run-config-search-max-model-batch-size", "8",
        "--latency-budget", str(BUDGET_MS),
        profile_models=["sim_gpu"], perf_analyzer_flags={}, load=load,
        checkpoint_directory=name, export_path=name,
    )  # fmt: skip
    assert status == 0, output
    return (scene.directory / name / "best" / "sim_gpu" / "config.pbtxt").read_text()


@pytest.mark.slow
def test_several_generators_share_a_load(scene) -> None:
    (shared,) = measured(scene, load={"arrivals": "poisson", "rate": 60}, generators=2)
    assert shared.values["perf_throughput"] == pytest.approx(60, rel=0.3)
    assert shared.values["perf_send_lag_p99"] >= 0
    assert shared.histograms["perf_latency"].total == shared.requests


@pytest.mark.slow
def test_several_generators_replay_every_request_of_a_log_once(scene) -> None:
    log = scene.directory / "log.csv"
    log.write_text("time\n" + "".join(f"{number / 60}\n" for number in range(180)))

    (replayed,) = measured(scene, load={"replay": "log.csv", "unit": "s"}, generators=2)

    assert replayed.requests == 179


@pytest.mark.slow
@pytest.mark.parametrize("instances", [1, 4])
def test_a_server_that_stands_still_shows_what_users_see(scene, instances: int) -> None:
    """1000 requests in 20 s, of which 100 meet a stall of 2 s: the tenth longest waits 1.8 s."""
    scene.model("held", HELD)
    config = scene.models / "held" / "config.pbtxt"
    config.write_text(config.read_text().replace("count: 1", f"count: {instances}"))
    log = scene.directory / "even.csv"
    log.write_text("time\n" + "".join(f"{number / 50}\n" for number in range(1000)))

    (held,) = measured(scene, profile_models=["held"], load={"replay": "even.csv"})

    assert held.requests == 999
    assert held.values["perf_latency_p99"] == pytest.approx(1800, rel=0.05)


# the window with the stall has more than twenty times the latency of the others
WINDOWS = {"measurement-mode": "time_windows", "stability-percentage": 9999}


@pytest.mark.slow
@pytest.mark.parametrize("intervals", [False, True], ids=["rate", "intervals"])
def test_a_stall_shows_with_measurement_flags_of_the_user(scene, intervals: bool) -> None:
    """As above, at times of perf_analyzer, which waits for answers and so hides the stall."""
    scene.model("held", HELD)
    flags = {**WINDOWS, "measurement-interval": 5600}  # three windows, a fifth longer: 20 s
    if intervals:
        (scene.directory / "even.txt").write_text("20000\n")
        flags["request-intervals"] = "even.txt"
    load = {} if intervals else {"request_rate": [50]}

    (held,) = measured(
        scene, profile_models={"held": {"parameters": load}}, perf_analyzer_flags=flags
    )

    assert held.values["perf_latency_p99"] == pytest.approx(1800, rel=0.05)
    assert held.values["perf_sent_latency_p99"] < 900
    assert held.values["perf_send_lag_p99"] > 900
    assert sent_late(Measurement(models=(held,)))


@small_and_full("flags", {}, {"max-threads": 3}, {"async": "true"})
def test_the_random_times_of_perf_analyzer_are_known(scene, flags: dict[str, Any]) -> None:
    """Compared with other times, half of all requests would be more than 100 ms late."""
    flags = {**WINDOWS, "measurement-interval": 300, "request-distribution": "poisson", **flags}
    (random,) = measured(scene, request_rate=[100], perf_analyzer_flags=flags)
    assert random.values["perf_send_lag_p99"] >= 0
    assert random.values["perf_latency_p50"] < 50


@small_and_full("options", {"generators": 2}, {}, {"batch_sizes": 2})
def test_a_log_selects_the_inputs_of_its_requests(scene, options: dict[str, Any]) -> None:
    """The model writes down what it gets: with each input, how often a request had it."""
    diary = scene.directory / "diary.txt"
    scene.model("diary", DIARY.replace("PLACE", str(diary)))
    numbers = [0, 3, 1, 1, 2, 0, 0, 3] * 15
    rows = "".join(f"{place / 60},{number}\n" for place, number in enumerate(numbers))
    (scene.directory / "log.csv").write_text(f"time,number\n{rows}")
    data = {"data": [{"INPUT": [number + 0.5] * 4} for number in range(4)]}
    (scene.directory / "in.json").write_text(json.dumps(data))

    (replayed,) = measured(
        scene,
        profile_models={"diary": {"cpu_only": True}},
        load={"replay": "log.csv", "unit": "s", "input": "number"},
        perf_analyzer_flags={"input-data": "in.json"},
        **options,
    )

    # the first answer begins the time that is measured
    assert replayed.requests == len(numbers) - 1
    items = [line.split() for line in diary.read_text().splitlines()][-len(numbers) :]
    assert all(len(set(item)) == 1 for item in items)  # all items of a batch are alike
    assert {len(item) for item in items} == {4 * options.get("batch_sizes", 1)}
    read = [int(float(item[0])) for item in items]
    assert sorted(read) == sorted(numbers)
    if not options.get("generators"):
        # neighbours may overtake each other on a busy machine
        same = sum(one == other for one, other in zip(read, numbers, strict=True))
        assert same > 0.8 * len(numbers)
