# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A pretend perf_analyzer: answers by a formula, or misbehaves as it is told.

FAKE_PERF_ANALYZER names a JSON file:

    {"log": FILE,            each launch appends its arguments there, one JSON list a line
     "tell": [NAME, …],      variables that are appended to these arguments, as NAME=VALUE
     "steps": [STEP, …]}     what launch 1, 2, … does; the last step is repeated

A step may have: `status`, `text` (instead of the usual output), `table` (false: write none, or the
text to write), `sleep_s` (before anything else), `until` (a file: waits for it), `throughput`,
`p99_us`, `requests`, `windows` (throughputs of the passes), `signal` (kills itself), `hang` (never
ends), `deaf` (ignores SIGINT and SIGTERM), `fills` (so many bytes of memory), `burn` (uses CPU for
that many seconds), `server_says` (what a server inside says while it loads the model; a list of
lines), `loads` (false: it never has), `export` (the text of the profile export), `service_ms`
(without `export`: it exports what a server would answer that needs so long for each request, one
after another, and the table agrees with that), `tokens` (with `service_ms`: each answer is a stream
of so many texts), `stub` (a process of a Python model that it runs:
the text of a shell script), `shows` (a flag: prints the file that it names), `hole` (bytes of
output that take no disk space, before all other output), `babbles` (prints for ever).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

HEADER = (
    "Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,"
    "Server Compute Input,Server Compute Infer,Server Compute Output,Client Recv,"
    "p50 latency,p90 latency,p95 latency,p99 latency,Avg latency,request/response,response wait"
)

# Memory that it keeps until it ends.
FILLED: list[bytes] = []


def option(name: str, default: str) -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def main() -> int:
    if "--version" in sys.argv:
        print("Perf Analyzer Version 9.99.0 (commit fake)")
        return 0
    step = next_step()
    begin(step)
    wait(step)
    return measure(step)


def begin(step: dict) -> None:
    """All that happens before the model is loaded."""
    if step.get("deaf"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "hole" in step:
        os.truncate(1, step["hole"])
    while step.get("babbles"):
        os.write(1, b"all work and no play\n" * 50_000)
    if "shows" in step:
        with open(option(step["shows"], "")) as file:
            print(file.read(), flush=True)
    for line in step.get("server_says", ()):
        print(line, file=sys.stderr, flush=True)
    if "stub" in step:
        start_stub(step["stub"])
    if step.get("loads", True):
        print("*** Measurement Settings ***", flush=True)


def wait(step: dict) -> None:
    """What keeps it from its end."""
    time.sleep(step.get("sleep_s", 0))
    while "until" in step and not os.path.exists(step["until"]):
        time.sleep(0.01)
    FILLED.append(b"x" * step.get("fills", 0))
    end = time.monotonic() + step.get("burn", 0)
    while time.monotonic() < end:
        pass
    while step.get("hang"):
        time.sleep(60)
    if "signal" in step:
        os.kill(os.getpid(), step["signal"])


def measure(step: dict) -> int:
    """Says and writes what was measured; the exit status."""
    load = int(option("--concurrency-range", option("--request-rate-range", "1")))
    if "service_ms" in step:
        step = {**serve(load, step["service_ms"], step.get("tokens", 1)), **step}
    is_rate = "--request-rate-range" in sys.argv
    if os.path.exists(option("--request-intervals", "")):
        load, is_rate = rate_of(option("--request-intervals", "")), True
    throughput = step.get("throughput", float(load) if is_rate else 100.0 * min(load, 8))
    # of an open load less, so that requests take less time than their measurement
    p99 = step.get("p99_us", (100 if is_rate else 10_000) * load)
    for number, window in enumerate(step.get("windows", [throughput] * 3), start=1):
        print(
            f"  Pass [{number}] throughput: {window} infer/sec. Avg latency: 1 usec (std 0 usec)."
        )
    if "text" in step:
        print(step["text"], file=sys.stderr)
    else:
        print(f"    Request count: {step.get('requests', 1000)}")
    if "export" in step and "--profile-export-file" in sys.argv:
        with open(option("--profile-export-file", ""), "w") as file:
            file.write(step["export"])
    if step.get("table", True) and step.get("status", 0) == 0:
        average = p99 // 2
        if "--concurrency-range" in sys.argv and throughput:  # so many requests are in flight
            average = round(1e6 * load * int(option("-b", "1")) / throughput)
        p50 = min(average, p99)
        row = f"{load},{throughput},1,2,3,4,5,6,7,{p50},{p99},{p99},{p99},{average},8,9"
        text = step["table"] if isinstance(step.get("table"), str) else f"{HEADER}\n{row}\n"
        with open(option("-f", "missing.csv"), "w") as file:
            file.write(text)
    return int(step.get("status", 0))


def rate_of(path: str) -> int:
    """The requests per second of a file with the microseconds between them: the longest time is
    that before the first one.
    """
    with open(path) as file:
        intervals = [int(line) for line in file]
    between = sum(intervals) - max(intervals) or max(intervals)
    return round(1e6 * len(intervals) / between)


def serve(in_flight: int, service_ms: float, tokens: int) -> dict:
    """What three windows see of a server that answers one request after another, the oldest first,
    each of which is followed by the next one at once.
    """
    output = {"OUTPUT": [0.5] * 4} if tokens == 1 else {"OUTPUT": "word"}
    window_ms = 1.2 * int(option("--measurement-interval", "5000"))
    sent, ended, latencies, requests, windows = [0.0] * in_flight, 0.0, [], [], set()
    while ended + service_ms < 3 * window_ms:
        ended += service_ms
        windows.add(ended // window_ms)
        latencies.append(ended - sent[0])
        requests.append(
            {
                "timestamp": round(1e18 + 1e6 * sent.pop(0)),
                "request_inputs": {"INPUT": [0.5] * 4},
                "response_timestamps": [
                    round(1e18 + 1e6 * (ended - service_ms * left / tokens))
                    for left in reversed(range(tokens))
                ],
                "response_outputs": [output] * tokens,
            }
        )
        sent.append(ended)
    experiment = {
        "experiment": {"mode": "concurrency", "value": in_flight},
        "requests": requests,
        "window_boundaries": [round(1e18 + 1e6 * window_ms * number) for number in range(4)],
    }
    if len(windows) < 3:
        return {"status": 3, "text": "No valid requests recorded. Please use a larger time window."}
    return {
        "export": json.dumps({"experiments": [experiment], "version": "9.99.0"}),
        "throughput": 1000 * len(requests) / (3 * window_ms),
        "p99_us": round(1000 * sorted(latencies)[int(0.99 * (len(latencies) - 1))]),
        "requests": len(requests),
    }


def start_stub(script: str) -> None:
    """Runs the script under the name of Triton's stub, with the file of a model as its argument."""
    os.makedirs("served/m/1")
    with open("served/m/1/model.py", "w") as file:
        file.write(script)
    os.symlink("/bin/sh", "triton_python_backend_stub")
    words = ["triton_python_backend_stub", os.path.abspath("served/m/1/model.py")]
    os.spawnv(os.P_NOWAIT, "triton_python_backend_stub", words)


def next_step() -> dict:
    path = os.environ.get("FAKE_PERF_ANALYZER")
    if not path:
        return {}
    with open(path) as file:
        plan = json.load(file)
    with open(plan["log"], "a+") as log:
        log.seek(0)
        done = len(log.readlines())
        variables = [f"{name}={os.environ.get(name)}" for name in plan.get("tell", ())]
        log.write(json.dumps(sys.argv[1:] + variables) + "\n")
    steps = plan.get("steps") or [{}]
    return steps[min(done, len(steps) - 1)]


if __name__ == "__main__":
    sys.exit(main())
