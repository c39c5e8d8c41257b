# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of checkpoints: making a measurement durable, loading many, their size.

    python benchmarks/checkpoints.py [--most 100000] [--directory DIR] [--upstream DIR]
                                      [--rounds] [--commands]

The directory should be on the disk that will have the checkpoints. Loading runs in a separate
process, with its peak memory. With --rounds, each measurement has windows and a histogram of
150 to 3000 latencies, and a quarter are further rounds of a trial. With --commands, the
largest checkpoint is also listed, ranked and exported, each command in a process of its own. If
upstream's environment is given, upstream saves the same measurements in its format; it writes all
of them again for each new one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.common import upstream_command
from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.domain.models import ModelVariant, freeze
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Load, ServerSetup, Trial, Workload
from model_analyzer.features.upstream.writer import write_upstream
from model_analyzer.state.checkpoint import Checkpoint, read_file
from model_analyzer.state.format.codec import Encoder, encode
from model_analyzer.state.format.header import Header
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.records import Records

APPENDED = 200  # measurements made durable at each size

# The values of a measurement: latencies and times as shares of the average latency.
SHARES = {
    "perf_throughput": None, "perf_latency_avg": 1.0, "perf_latency_p50": 0.97,
    "perf_latency_p90": 1.1, "perf_latency_p95": 1.2, "perf_latency_p99": 1.3,
    "perf_client_send_recv": 0.02, "perf_client_response_wait": 0.97, "perf_server_queue": 0.5,
    "perf_server_compute_input": 0.01, "perf_server_compute_infer": 0.4,
    "perf_server_compute_output": 0.01,
}  # fmt: skip
FLAGS = {"measurement-mode": "count_windows", "measurement-interval": "5000"}
LOADS = 20  # loads of each variant
REPEATED = 4  # with rounds, one of so many measurements is a further one of the trial before
COMMANDS = (
    ("checkpoint", "list"),
    ("checkpoint", "best", "--latency-budget", "75"),
    ("checkpoint", "export", "--format", "csv"),
)
MACHINE = Machine(host="gpu1", processor="A processor", cores=8, niceness=0)


def one_round(number: int) -> ModelMeasurement:
    """The additional fields of a round; there are as many different ones as loads."""
    random = Random(number % LOADS)
    requests = round(150 * 20 ** random.random())
    latencies = [random.lognormvariate(2.5, 0.4) for _ in range(requests)]
    return ModelMeasurement(
        values={},
        windows=tuple(round(random.gauss(1000, 30), 2) for _ in range(8)),
        seconds=1.054321,
        histograms={"perf_latency": Histogram.of(latencies, round(random.uniform(1, 40), 2))},
    )


_ROUNDS = [one_round(number) for number in range(LOADS)]


def values_of(concurrency: int, throughput: float) -> dict[str, float]:
    """Values that agree with each other, as those of real measurements do."""
    latency = 1000 * concurrency / throughput
    return {
        tag: throughput if share is None else round(share * latency, 6)
        for tag, share in SHARES.items()
    }


def measurement(number: int, *, in_rounds: bool = False) -> Measurement:
    """A measurement of a CPU model: all values of perf_analyzer, and the server's memory."""
    wobble = number % 997 / 1000
    values = values_of(number % LOADS + 1, 100 + wobble)
    model = ModelMeasurement(
        values=values, requests=1234 + number, windows=(100.1, 100.2 + wobble, 100.3)
    )
    if in_rounds:
        model = replace(_ROUNDS[number % LOADS], values=values, requests=1234 + number)
    return Measurement(
        models=(model,),
        host={"cpu_used_ram": 512.25, "cpu_available_ram": 20480.5},
        commands=(
            "perf_analyzer -m resnet -b 1 -u 127.0.0.1:41234 -i grpc -f results.csv -v"
            " --verbose-csv --measurement-interval 5000 --measurement-mode count_windows"
            f" --concurrency-range {number % LOADS + 1}",
        ),
        started=1_700_000_000.0 + number,
        duration_s=12.345,
        machine=MACHINE,
    )


def trial(number: int) -> Trial:
    """The trial with this number: `LOADS` trials on each variant."""
    variant = ModelVariant(
        model="resnet",
        name=f"resnet_config_{number // LOADS}",
        files="0123456789abcdef0123456789abcdef",
        config=freeze(
            {
                "name": "resnet",
                "platform": "onnxruntime_onnx",
                "max_batch_size": 1 + number // LOADS,
                "instance_group": [{"count": 2, "kind": "KIND_CPU"}],
                "dynamic_batching": {},
            }
        ),
    )
    load = Load(value=number % LOADS + 1)
    work = Workload(variant=variant, load=load, flags=freeze(FLAGS))
    return Trial(workloads=(work,), setup=ServerSetup(version="2.51.0"))


def records(count: int, *, in_rounds: bool) -> Records:
    made, encoder = Records(), Encoder()
    for number in range(count):
        new_trial = trial(number)
        if in_rounds:
            new_trial = replace(new_trial, round_s=0.0)
            if number % REPEATED == REPEATED - 1:
                new_trial = replace(trial(number - 1), repetition=1, round_s=2.0)
        outcome = measurement(number, in_rounds=in_rounds)
        record = TrialRecord(trial=new_trial, outcome=outcome)
        for entry in encoder.record(new_trial.key, record):
            made.take(entry, encode(entry))
    return made


def durable_ms(directory: Path, base: Checkpoint) -> float:
    """The median time to make a measurement durable, in addition to those of `base`."""
    times = []
    with ProfileState(directory) as state:
        state.start_from(base)
        for number in range(10**6, 10**6 + APPENDED):
            new_trial, outcome = trial(number), measurement(number)
            begin = time.perf_counter()
            state.record(new_trial, outcome)
            times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1000


UPSTREAM_SAVES = """
import statistics, sys, time
from types import SimpleNamespace
from model_analyzer.state.analyzer_state_manager import AnalyzerStateManager
manager = AnalyzerStateManager(SimpleNamespace(checkpoint_directory=sys.argv[1]), None)
manager.load_checkpoint(True)
times = []
for _ in range(5):
    manager.set_state_variable("benchmark", len(times))
    begin = time.perf_counter()
    manager.save_checkpoint()
    times.append(time.perf_counter() - begin)
print(statistics.median(times) * 1000)
"""


def upstream_ms(python: Path, directory: Path, base: Checkpoint) -> float:
    """The median time of upstream to save a measurement in addition to those of `base`."""
    directory.mkdir()
    (directory / "0.ckpt").write_text(write_upstream(base.profile, seed=None).text)
    done = subprocess.run(
        [python, "-c", UPSTREAM_SAVES, str(directory)],
        check=True,
        cwd=directory,  # not in our repository, which has a package with the same name
        capture_output=True,
        text=True,
    )
    return float(done.stdout.splitlines()[-1])


def load_once(path: Path) -> dict[str, float]:
    """Seconds and peak memory (MB) of loading a file in a new process."""
    done = subprocess.run(
        [sys.executable, __file__, "--load", str(path)],
        check=True,
        capture_output=True,
        text=True,
    )
    cost: dict[str, float] = json.loads(done.stdout)
    return cost


def load_here(path: Path) -> None:
    begin = time.perf_counter()
    loaded = read_file(path)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "peak_mb": peak_mb(), "records": len(loaded.records)}))


def peak_mb() -> float:
    """The peak memory of this process in MB."""
    status = Path("/proc/self/status").read_text().splitlines()
    (high_water,) = (line for line in status if line.startswith("VmHWM:"))
    return int(high_water.split()[1]) * 1024 / 1e6


def time_commands(directory: Path) -> None:
    """Prints seconds and peak memory of each command of `COMMANDS`, run three times."""
    for words in COMMANDS:
        seconds, peaks = [], []
        for _ in range(3):
            begin = time.perf_counter()
            done = subprocess.run(
                [sys.executable, __file__, "--run", *words, "-s", directory],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            seconds.append(time.perf_counter() - begin)
            peaks.append(float(done.stderr.splitlines()[-1]))
        print(f"{' '.join(words)}: {statistics.median(seconds):.2f} s, {max(peaks):.0f} MB")


def run_here(words: Sequence[str]) -> None:
    """Runs a command of the program in this process; its last line on standard error is the peak
    memory (MB).
    """
    from model_analyzer.cli.main import main as program

    sys.argv = ["model-analyzer", *words]
    try:
        program()
    except SystemExit as end:
        if end.code:
            raise
    print(peak_mb(), file=sys.stderr)


def sizes(most: int) -> Iterator[int]:
    size = 10
    while size <= most:
        yield size
        size *= 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--upstream", type=Path, help="upstream's environment")
    parser.add_argument("--rounds", action="store_true", help="with histograms")
    parser.add_argument("--commands", action="store_true", help="list, rank and export the last")
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--run", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        run_here(arguments.run)
        return
    if arguments.load:
        load_here(arguments.load)
        return
    print(
        "measurements  durable [ms]  upstream [ms]   ratio  load [s]  peak memory [MB]"
        "  bytes per measurement"
    )
    with tempfile.TemporaryDirectory(dir=arguments.directory) as scratch:
        for size in sizes(arguments.most):
            base = Checkpoint(records=records(size, in_rounds=arguments.rounds))
            base = replace(base, header=Header(uuid="benchmark"))
            directory = Path(scratch) / str(size)
            durable = durable_ms(directory, base)
            theirs = ""
            if arguments.upstream:
                python = upstream_command(arguments.upstream).with_name("python")
                other = upstream_ms(python, Path(scratch) / f"{size}-upstream", base)
                theirs = f"{other:13.1f}  {durable / other:6.4f}"
            path = directory / "0.ckpt"
            loads = [load_once(path) for _ in range(3)]
            assert all(load["records"] == size for load in loads)
            print(
                f"{size:12,}  {durable:12.2f}  {theirs:21}"
                f"  {statistics.median(load['seconds'] for load in loads):8.2f}"
                f"  {max(load['peak_mb'] for load in loads):16.0f}"
                f"  {path.stat().st_size / size:21.0f}"
            )
        if arguments.commands:
            time_commands(directory)


if __name__ == "__main__":
    main()
