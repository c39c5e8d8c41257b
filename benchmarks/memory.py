# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Peak memory of the program itself, without its children, in a run with large files.

    python benchmarks/memory.py [--log-mb 100] [--export-mb 200] [--input-mb 100]
        [--measurements 1000]

The run replays a log of so many requests, of which a pretend perf_analyzer exports each, on a
pretend server, with so much input data, and its checkpoint has so many measurements of other
trials. It ends with 1 if the peak is above --most-mb.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.checkpoints import measurement, trial
from benchmarks.common import write_config
from model_analyzer.state.profile_state import ProfileState
from tests.conftest import TESTS, write_program

REQUESTS_PER_S = 5000
POLL_S = 0.05

MODEL = """\
name: "m"
backend: "python"
max_batch_size: 8
input [ { name: "IN" data_type: TYPE_FP32 dims: [ 16 ] } ]
output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 16 ] } ]
"""

# A perf_analyzer that sends each request of its file at once, and exports so many bytes.
PERF_ANALYZER = """\
import sys
def option(name):
    return sys.argv[sys.argv.index(name) + 1]
if "--version" in sys.argv:
    sys.exit(print("Perf Analyzer Version 9.99.0 (commit fake)"))
with open(option("--request-intervals")) as file:
    gaps = [int(line) * 1000 for line in file][:-1]
begin = sent = 1795757517241382610
tail = "," + "0.125," * max(int(sys.argv[1]) // len(gaps) // 12 - 13, 1) + "0.5"
with open(option("--profile-export-file"), "w") as file:
    file.write('{"experiments":[{"experiment":{"mode":"custom","value":0},"requests":[')
    for number, gap in enumerate(gaps):
        sent += gap
        file.write("," if number else "")
        file.write('{"timestamp":%d,"request_inputs":{"IN":[1%s]},' % (sent, tail))
        file.write('"response_timestamps":[%d],' % (sent + 2000000))
        file.write('"response_outputs":[{"OUT":[1%s]}]}' % tail)
    file.write('],"window_boundaries":[%d,%d]}],"version":"9"}' % (begin, sent + 3000000))
print("    Request count: %d" % len(gaps))
with open(option("-f"), "w") as file:
    file.write(
        "Request Rate,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,"
        "Server Compute Input,Server Compute Infer,Server Compute Output,Client Recv,"
        "p50 latency,p90 latency,p95 latency,p99 latency,Avg latency\\n"
        "0,%d,1,2,3,4,5,6,7,2000,2000,2000,2000,2000\\n" % (len(gaps) * 1e9 / (sent - begin))
    )
"""


def write_log(path: Path, size: int) -> int:
    """A log of about this size; gives the number of its requests."""
    lines = 0
    with open(path, "w") as file:
        while file.tell() < size:
            row = {
                "timestamp": f"{lines / REQUESTS_PER_S:.6f}", "input_length": 512, "turn": 1,
                "output_length": 128, "hash_ids": [*range(lines, lines + 16)],
            }  # fmt: skip
            file.write(json.dumps(row) + "\n")
            lines += 1
    return lines


def write_inputs(path: Path, size: int) -> None:
    """Input data of about this size."""
    entry = json.dumps({"IN": [0.125] * 16})
    with open(path, "w") as file:
        file.write('{"data": [')
        while file.tell() < size:
            file.write(f"{entry}, ")
        file.write(f"{entry}]}}")


def prepare(directory: Path, chosen: argparse.Namespace) -> Path:
    """The configuration of the run."""
    version = directory / "models" / "m" / "1"
    version.mkdir(parents=True)
    (version / "model.py").write_text("# never run\n")
    (version.parent / "config.pbtxt").write_text(MODEL)
    requests = write_log(directory / "log.jsonl", chosen.log_mb * 10**6)
    print(f"log: {requests:,} requests, export: {chosen.export_mb} MB")
    write_inputs(directory / "inputs.json", chosen.input_mb * 10**6)
    with ProfileState(directory / "checkpoints") as state:
        for number in range(chosen.measurements):
            state.record(trial(number), measurement(number, in_rounds=True))
        state.save()
    source = directory / "perf_analyzer.py"
    arguments = f"sys.argv.insert(1, '{chosen.export_mb * 10**6}')"
    source.write_text(PERF_ANALYZER.replace("import sys\n", f"import sys\n{arguments}\n", 1))
    triton = write_program(directory / "tritonserver", TESTS / "fakes" / "tritonserver.py", {})
    perf_analyzer = write_program(directory / "perf_analyzer", source, {}, flags="-I -S")
    return write_config(
        directory / "config.yaml",
        {
            "model_repository": "models",
            "profile_models": {"m": {"cpu_only": True}},
            "triton_server_path": str(triton),
            "perf_analyzer_path": str(perf_analyzer),
            "run_config_search_disable": True,
            "load": {"replay": "log.jsonl"},
            "perf_analyzer_flags": {"input-data": "inputs.json"},
            "export_path": "results",
        },
    )


def peak_mb(process: subprocess.Popen[bytes]) -> float:
    """The most memory that a process had (its own pages and those of files) until it ended."""
    peak = 0.0
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        for line in status.splitlines():
            if line.startswith("VmHWM"):
                peak = int(line.split()[1]) / 1024
        time.sleep(POLL_S)
    return peak


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--log-mb", type=int, default=100)
    options.add_argument("--export-mb", type=int, default=200)
    options.add_argument("--input-mb", type=int, default=100)
    options.add_argument("--measurements", type=int, default=1000)
    options.add_argument("--most-mb", type=float, default=300)
    chosen = options.parse_args()
    program = Path(sys.executable).with_name("model-analyzer")
    with tempfile.TemporaryDirectory(prefix="memory-") as temporary:
        directory = Path(temporary)
        config = prepare(directory, chosen)
        with open(directory / "output.txt", "wb") as output:
            began = time.perf_counter()
            process = subprocess.Popen(
                [str(program), "profile", "-f", str(config), "--on-mismatch", "use"],
                cwd=directory, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            )  # fmt: skip
            peak = peak_mb(process)
        text = (directory / "output.txt").read_text()
        if process.returncode != 0 or "trial failed" in text:
            sys.exit(text)
        print(text)
        print(f"peak: {peak:.0f} MB, in {time.perf_counter() - began:.0f} s")
        if peak > chosen.most_mb:
            sys.exit(1)


if __name__ == "__main__":
    main()
