# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Does `watch` name what is wrong with a server, and leave a normal one alone?

    python benchmarks/watch.py measure DIRECTORY        # what is promised: about six minutes
    python benchmarks/watch.py deviations DIRECTORY     # twelve, and three normal loads
    python benchmarks/watch.py record DIRECTORY         # metrics of a normal load, for `day`
    python benchmarks/watch.py day DIRECTORY --days 20  # a day of it, on a virtual clock

Deviations are on the real server under load of the real perf_analyzer. Each is watched twice: with
the metrics alone, and with the configuration of the server, too. A day has the noise of the
recording, a rate that follows the hours, and is judged every ten minutes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from model_analyzer.app.recommend import recommend
from model_analyzer.domain.goals import GoalOverride
from model_analyzer.features.watch.facts.deviations import promised_services, scenes_of
from model_analyzer.features.watch.facts.deviations import watched as watched_scene
from model_analyzer.features.watch.facts.server_counts import Look
from model_analyzer.features.watch.server_readings import place_of, read_metrics
from model_analyzer.runner.runtime import find_perf_analyzer, find_tritonserver
from model_analyzer.state.find import find

OURS = Path(sys.executable).with_name("model-analyzer")
STARTER = Path(__file__).parents[1] / "model_analyzer" / "starter" / "model_repository"
RATES, USUAL = [30, 60, 90, 120, 150], 120

BURNER = """
import time

import numpy as np
import triton_python_backend_utils as pb


class TritonPythonModel:
    def initialize(self, args):
        self.left = np.random.default_rng(0).random((120, 120))

    def execute(self, requests):
        for _ in range(12):
            self.left @ self.left
        spent = time.process_time() + 0.005
        while time.process_time() < spent:
            pass
        arrays = [pb.get_input_tensor_by_name(each, "INPUT").as_numpy() for each in requests]
        return [pb.InferenceResponse(output_tensors=[pb.Tensor("OUTPUT", each)]) for each in arrays]
"""

SLOWER = ("cost = self.base", "cost = 1.6 * self.base")
FAILING = (
    "        arrays = [",
    "        self.count = getattr(self, 'count', 0) + 1\n"
    "        if self.count % 10 == 0:\n            raise ValueError('no')\n        arrays = [",
)
LEAKING = (
    "        arrays = [",
    "        self.kept = getattr(self, 'kept', [])\n"
    "        self.kept.append(np.ones(1 << 15))\n        arrays = [",
)


def config(name: str, *, count: int = 2, limit: int = 4, more: str = "") -> str:
    text = (STARTER / "sim_gpu" / "config.pbtxt").read_text().replace("sim_gpu", name)
    text = text.replace("max_batch_size: 1", f"max_batch_size: {limit}")
    return text.replace("count: 1", f"count: {count}") + f"dynamic_batching {{}}\n{more}\n"


def write_model(
    models: Path,
    name: str = "sim_gpu",
    *,
    code: str = "",
    changes: Sequence[tuple[str, str]] = (),
    versions: Sequence[str] = ("1",),
    **fields: object,
) -> None:
    source = code or (STARTER / "sim_gpu" / "1" / "model.py").read_text()
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    for version in versions:
        (models / name / version).mkdir(parents=True, exist_ok=True)
        (models / name / version / "model.py").write_text(source)
    (models / name / "config.pbtxt").write_text(config(name, **fields))  # type: ignore[arg-type]


@dataclass
class Served:
    http: int
    grpc: int
    metrics: int
    process: subprocess.Popen[bytes]


@contextmanager
def served(models: Path, *flags: str) -> Iterator[Served]:
    triton = find_tritonserver(None, os.environ)
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(3)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        http, grpc, metrics = (each.getsockname()[1] for each in sockets)
    command = [
        str(triton.path), f"--model-repository={models}", "--http-address=127.0.0.1",
        "--grpc-address=127.0.0.1", "--metrics-address=127.0.0.1", f"--http-port={http}",
        f"--grpc-port={grpc}", f"--metrics-port={metrics}",
        *(f"--{name}={value}" for name, value in triton.flags.items()), *flags,
    ]  # fmt: skip
    with open(models.parent / "server.log", "ab") as log:
        process = subprocess.Popen(
            command, env={**os.environ, **triton.environment}, stdout=log, stderr=log
        )
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{http}/v2/health/ready", timeout=1)
                break
            except OSError:
                assert time.monotonic() < deadline, "does not start"
                time.sleep(0.2)
        yield Served(http, grpc, metrics, process)
    finally:
        process.terminate()
        process.wait(60)


@contextmanager
def loaded(
    server: Served,
    rate: float,
    *,
    model: str = "sim_gpu",
    size: int = 1,
    cv: float = 1.0,
    seconds: float = 240,
) -> Iterator[None]:
    """Requests at random times (gamma with this cv) from perf_analyzer."""
    draws, shape = random.Random(1), 1 / cv**2
    gaps = [draws.gammavariate(shape, 1 / rate / shape) for _ in range(int(rate * seconds))]
    path = Path("/tmp") / f"watch-intervals-{os.getpid()}-{server.grpc}.txt"
    path.write_text("\n".join(str(max(1, round(gap * 1e6))) for gap in gaps))
    found = find_perf_analyzer(None, os.environ)
    command = [
        str(found.path), "-m", model, "-u", f"127.0.0.1:{server.grpc}", "-i", "grpc", "--async",
        "-b", str(size), "--request-intervals", str(path), "--measurement-interval",
        str(int(1000 * seconds)), "--max-trials", "1",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, env={**os.environ, **found.environment}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        time.sleep(2)
        yield
    finally:
        process.kill()
        process.wait()
        path.unlink()


@contextmanager
def asked(server: Served, rate: float, threads: int = 8) -> Iterator[None]:
    """Requests that go on when one fails, where perf_analyzer ends."""
    from model_analyzer.runner.client.http import HttpClient
    from model_analyzer.runner.client.interface import ServerCallError

    ended = threading.Event()

    def ask(seed: int) -> None:
        client, draws = (
            HttpClient("127.0.0.1", server.http, tls=None, headers={}),
            random.Random(seed),
        )
        known = client.model_config("sim_gpu")
        while not ended.wait(draws.expovariate(rate / threads)):
            with suppress(ServerCallError):
                client.infer_zeros(known, 5.0)

    asking = [threading.Thread(target=ask, args=(number,)) for number in range(threads)]
    for each in asking:
        each.start()
    try:
        yield
    finally:
        ended.set()
        for each in asking:
            each.join()


@contextmanager
def stolen(count: int) -> Iterator[None]:
    code = "while True: pass"
    burning = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(count)]
    try:
        yield
    finally:
        for each in burning:
            each.kill()
            each.wait()


def watched(
    directory: Path, options: argparse.Namespace, several: Sequence[Sequence[str]]
) -> Sequence[Mapping[str, object]]:
    """What `watch` says with each of these arguments, at the same time."""
    command = [
        str(options.ours), "watch", "-s", str(directory / "checkpoints"), "--json",
        "--for", f"{options.seconds:g}s",
    ]  # fmt: skip
    started = [
        subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE) for arguments in several
    ]
    outputs = [process.communicate()[0] for process in started]
    return [json.loads(output)["models"][0] for output in outputs]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A deviation: the classes that are right, what the server has, and its load."""

    name: str
    right: Sequence[str]
    model: str = "sim_gpu"
    fields: Mapping[str, object] = field(default_factory=dict)
    flags: Sequence[str] = ()
    rate: float = USUAL
    size: int = 1
    cv: float = 1.0
    options: Sequence[str] = ()
    stolen: int = 0
    replicas: int = 1
    ended: int = 0
    fails: bool = False


DIFFERS, SLOWER_THAN = "server differs", "slower than measured"
CASES = [
    Case(name="normal, 60/s", right=["as promised"], rate=60),
    Case(name="normal, 120/s", right=["as promised"]),
    Case(name="normal, processors", right=["as promised"], model="burner", rate=60),
    Case(name="half the instances", right=[DIFFERS], fields={"count": 1}, rate=150),
    Case(name="another batch limit", right=[DIFFERS], fields={"limit": 1}, rate=150),
    Case(name="slower model", right=[SLOWER_THAN], fields={"changes": [SLOWER]}),
    Case(name="bursts", right=["traffic differs"], cv=3.0, rate=90),
    Case(name="larger batches", right=["traffic differs"], size=4, rate=60),
    Case(
        name="another version", right=[DIFFERS], fields={"versions": ["1", "2"]},
        options=["--model-version", "1"],
    ),
    Case(name="processors stolen", right=[SLOWER_THAN], model="burner", rate=60, stolen=4),
    Case(name="failures", right=["failing"], fields={"changes": [FAILING]}, fails=True),
    Case(name="leak", right=["memory grows"], fields={"changes": [LEAKING]}),
    Case(
        name="cache on", right=[DIFFERS],
        fields={"more": "response_cache { enable: true }"},
        flags=["--cache-config=local,size=1048576"],
    ),
    Case(name="a replica of three missing", right=["replica missing"], replicas=3, ended=1),
    Case(name="traffic doubled", right=["traffic differs"], rate=2 * max(RATES)),
]  # fmt: skip


def measure(directory: Path) -> None:
    """Profiles the promised variants of both models."""
    models = directory / "promised" / "models"
    write_model(models)
    write_model(models, "burner", code=BURNER)
    settings = {
        "model_repository": str(models),
        "output_model_repository_path": str(directory / "variants"),
        "override_output_model_repository": True,
        "checkpoint_directory": str(directory / "checkpoints"),
        "export_path": str(directory / "results"),
        "profile_models": {
            "sim_gpu": {"load": {"arrivals": "poisson", "rate": RATES}},
            "burner": {"load": {"arrivals": "poisson", "rate": [20, 40, 60, 80]}},
        },
        "run_config_search_disable": True,
        "latency_budget": 60,
    }
    path = directory / "config.yaml"
    path.write_text(json.dumps(settings))
    subprocess.run([str(OURS), "profile", "-f", str(path)], check=True)


def deviations(directory: Path, options: argparse.Namespace) -> None:
    print("| deviation | with the metrics alone | with the configuration, too | right |")
    print("|---|---|---|---|")
    right = 0
    cases = [case for case in CASES if re.search(options.only, case.name)]
    for case in cases:
        place = directory / re.sub(r"\W+", "-", case.name)
        shutil.rmtree(place, ignore_errors=True)
        fields = dict(case.fields)
        write_model(
            place / "models", case.model,
            **({"code": BURNER} if case.model == "burner" else {}), **fields,  # type: ignore[arg-type]
        )  # fmt: skip
        with ExitStack() as stack:
            servers = [
                stack.enter_context(served(place / "models", *case.flags))
                for _ in range(case.replicas)
            ]
            for server in servers:
                rate = case.rate / case.replicas
                load = loaded(server, rate, model=case.model, size=case.size, cv=case.cv)
                stack.enter_context(asked(server, rate) if case.fails else load)
            stack.enter_context(stolen(case.stolen))
            for server in servers[: case.ended]:
                server.process.terminate()
                server.process.wait()
            urls = [f"http://127.0.0.1:{each.metrics}/metrics" for each in servers]
            arguments = ["-m", case.model, *case.options]
            arguments += [word for url in urls for word in ("--metrics-url", url)]
            asking = [*arguments, "--server-url", f"127.0.0.1:{servers[-1].http}"]
            both = watched(directory, options, [arguments, asking])
        (place / "seen.json").write_text(json.dumps(both, indent=1))
        is_right = both[1]["verdict"] in case.right
        right += is_right
        words = [str(each["sentence"]).partition(": ")[2] for each in both]
        print(
            f"| {case.name} | {words[0]} | {words[1]} | {'yes' if is_right else 'NO'} |", flush=True
        )
    print(f"\n{right} of {len(cases)} right")


def record(directory: Path, options: argparse.Namespace) -> None:
    """The looks at a normal server at each rate, once a second, as JSON."""
    models = directory / "normal" / "models"
    write_model(models)
    with ExitStack() as stack:
        places = []
        for rate in RATES:
            server = stack.enter_context(served(models))
            stack.enter_context(loaded(server, rate, seconds=options.seconds + 20))
            places.append(place_of(f"127.0.0.1:{server.metrics}", "", "/metrics"))
        looks: dict[int, list[object]] = {rate: [] for rate in RATES}
        until = time.monotonic() + options.seconds
        while time.monotonic() < until:
            for rate, place in zip(RATES, places, strict=True):
                look = read_metrics(place, time.time())
                looks[rate].append([look.at, look.models["sim_gpu"], look.gauges])
            time.sleep(1)
    (directory / "normal.json").write_text(json.dumps(looks))


def day(directory: Path, options: argparse.Namespace) -> None:
    """Watches days of two replicas whose rates follow the hours, ten minutes at a time."""
    recorded = {
        int(rate): [*pairwise(looks)]
        for rate, looks in json.loads((directory / "normal.json").read_text()).items()
    }
    found = recommend(
        find("latest", directory / "checkpoints", ""), GoalOverride(), model="sim_gpu"
    )
    services = {"sim_gpu": next(iter(promised_services(found.answers[0], None)))}
    said: Counter[str] = Counter()
    draws = random.Random(4)
    for minute in range(0, options.days * 24 * 60, 10):
        looks = []
        for name in ("a:8002", "b:8002"):
            counts: Counter[str] = Counter()
            at = 60.0 * minute
            restart = at + draws.uniform(0, 86_400)  # about once a day on average
            end = at + 600
            while at < end:
                hour = at / 3600 % 24
                wanted = 90 - 60 * math.cos((hour - 3) / 24 * math.tau) + draws.gauss(0, 8)
                rate = min(RATES, key=lambda each: abs(each - wanted))
                start = draws.randrange(len(recorded[rate]) - 10)
                for before, after in recorded[rate][start : start + 10]:
                    if at <= restart < at + 1:
                        counts.clear()
                    at += after[0] - before[0]
                    for key, value in after[1].items():
                        counts[key] += value - before[1][key]
                    looks.append(Look(at, name, {"sim_gpu": dict(counts)}, after[2]))
        (scene,) = scenes_of(
            sorted(looks, key=lambda look: look.at), services, {}, are_replicas=True
        )
        seen = watched_scene(scene)
        said[seen.kind.value] += 1
        for each in seen.deviations:
            print(f"minute {minute}: {each.kind.value}: {each.server}: {each.text}")
    total = sum(said.values())
    print(f"{options.days} days, {total} times ten minutes: {dict(said)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["measure", "deviations", "record", "day"])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--only", default="", help="pattern of names")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--ours", type=Path, default=OURS, help="model-analyzer program")
    options = parser.parse_args()
    directory = options.directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    match options.what:
        case "measure":
            measure(directory)
        case "deviations":
            deviations(directory, options)
        case "record":
            record(directory, options)
        case "day":
            day(directory, options)


if __name__ == "__main__":
    main()
