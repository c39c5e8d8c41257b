# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Runs upstream on the same surfaces: the whole program, with a fake server and perf_analyzer.

The server is in this process: like Triton, it loads and unloads models over HTTP, and it gives the
fake perf_analyzer measurements from the surface. So it records all measurements of upstream.
Upstream's fixed sleeps are shortened (`fast/sitecustomize.py`); its search is unchanged.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.search.drive import Run, changes
from benchmarks.search.machine import Client, Point, Setting
from benchmarks.search.surface import MEMORY, Surface
from model_analyzer.domain.models import ModelFacts, ModelVariant
from model_analyzer.domain.protobuf import from_json, to_json
from model_analyzer.domain.trials import Failure, LoadKind
from model_analyzer.runner.model_config import parse_text, to_text

MODES = {"upstream-brute": "brute", "upstream-quick": "quick", "upstream-optuna": "optuna"}

_HERE = Path(__file__).parent
# After this time without a measurement, it is in an endless loop, as its quick search is sometimes.
_PATIENCE_S = 30.0


def run(surface: Surface, mode: str, seed: int, program: Path) -> Run | None:
    """The run of upstream's command. None if it refuses the models, or if this laboratory does not
    support the surface: several models at once, request rates (which its quick search does not
    support), or metrics of our monitors.
    """
    (facts, *others) = surface.facts
    tags = [constraint.tag for goal in surface.goal.models for constraint in goal.constraints]
    if others or MEMORY in tags or surface.load_kind is not LoadKind.CONCURRENCY:
        return None
    with (
        tempfile.TemporaryDirectory(prefix="laboratory-") as temporary,
        _served(surface, seed) as server,
    ):
        directory = Path(temporary)
        _write_repository(directory / "models", facts)
        config = directory / "config.yaml"
        config.write_text(json.dumps(_config(surface, MODES[mode], directory, server.port)))
        log = directory / "log"
        refused = not _profile(program, config, log, server) and not server.measured
        if refused:
            print(f"{surface.name}: upstream: {log.read_text()}", file=sys.stderr)
        recommended, passes = _recommended(directory, surface)
    if refused:
        return None
    settings = [point.settings for point in server.measured]
    failed = server.failed_loads
    return Run(
        measurements=len(server.measured) + failed,
        variants=len({repr(setting) for setting in settings}) + failed,
        loads=changes(settings) + failed,
        # it starts one for each variant, unless it is remote
        server_starts=changes(settings) + failed,
        recommended=recommended,
        passes=passes,
        thinking_s=(),
    )


# -- the server --------------------------------------------------------------------------------


class _Server(ThreadingHTTPServer):
    """The loaded models with their configurations, and the requested measurements."""

    daemon_threads = True

    def __init__(self, surface: Surface, seed: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.surface = surface
        self.seed = seed
        self.facts = {part.name: part for facts in surface.facts for part in facts.with_parts()}
        self.configs: dict[str, Mapping[str, Any]] = {}
        self.failed_loads = 0
        self.measured: list[Point] = []

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def load(self, name: str, override: str | None) -> str | None:
        """Loads a model; returns an error message if it does not fit."""
        config = self.facts[name].config if override is None else from_json(json.loads(override))
        client = Client(kind=self.surface.load_kind, values=np.asarray([1.0]))
        settings = _settings(self.surface, {**self.configs, name: config})
        if self.surface.source.respond(settings, [client]) is None:
            self.failed_loads += 1
            return f"failed to load '{name}': out of memory"
        self.configs[name] = config
        return None

    def measure(self, load: int, batch_size: int) -> Mapping[str, float] | None:
        """The values for perf_analyzer; None if requests fail."""
        client = Client(
            kind=self.surface.load_kind, values=np.asarray([float(load)]), batch_size=batch_size
        )
        point = Point(settings=_settings(self.surface, self.configs), clients=[client])
        times = sum(earlier.text == point.text for earlier in self.measured)
        self.measured.append(point)
        outcome = self.surface.measure(point, self.seed, times)
        return None if isinstance(outcome, Failure) else outcome.models[0].values


def _settings(surface: Surface, configs: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Setting]:
    """The settings of all models with instances, from the loaded configurations or the defaults."""
    return {
        part.name: _setting(part.name, configs.get(part.name, part.config))
        for facts in surface.facts
        for part in facts.with_parts()
        if not part.is_ensemble
    }


def _setting(name: str, config: Mapping[str, Any]) -> Setting:
    return Setting.of(ModelVariant(model=name, name="", config=config, files=""))


class _Handler(BaseHTTPRequestHandler):
    """The parts of Triton's HTTP API that upstream uses, and `/measure` for perf_analyzer."""

    server: _Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for each answer

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        match path.strip("/").split("/"):
            case ["v2"]:
                extensions = ["model_repository", "model_configuration"]
                self._send({"name": "triton", "version": "2.51.0", "extensions": extensions})
            case ["v2", "models", name, "config"] if name in self.server.configs:
                self._send(to_json(self.server.configs[name], proto_names=True))
            case ["v2", "models", name, *_] if name not in self.server.configs:
                self._send({"error": f"unknown model: '{name}'"}, 400)
            case ["measure"]:
                load, batch_size = query.split("&")
                self._send({"values": self.server.measure(int(load), int(batch_size))})
            case ["metrics"]:
                self._send("")
            case _:  # ready, live
                self._send({})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        match self.path.strip("/").split("/"):
            case ["v2", "repository", "models", name, "load"]:
                problem = self.server.load(name, body.get("parameters", {}).get("config"))
                self._send({"error": problem} if problem else {}, 400 if problem else 200)
            case ["v2", "repository", "models", name, "unload"]:
                self.server.configs.pop(name, None)
                self._send({})
            case _:  # the index
                names = self.server.configs
                self._send([{"name": name, "version": "1", "state": "READY"} for name in names])

    def _send(self, content: object, status: int = 200) -> None:
        body = (content if isinstance(content, str) else json.dumps(content)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Does nothing: the log is not read."""


@contextmanager
def _served(surface: Surface, seed: int) -> Iterator[_Server]:
    server = _Server(surface, seed)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# -- the program -------------------------------------------------------------------------------


def _write_repository(directory: Path, facts: ModelFacts) -> None:
    for part in facts.with_parts():
        (directory / part.name / "1").mkdir(parents=True)
        (directory / part.name / "1" / "model.py").touch()
        (directory / part.name / "config.pbtxt").write_text(to_text(part.config))


def _config(surface: Surface, mode: str, directory: Path, port: int) -> Mapping[str, Any]:
    perf_analyzer = directory / "perf_analyzer"
    perf_analyzer.write_text(
        f"#!/bin/sh\nexec '{sys.executable}' -S -E '{_HERE / 'standin_perf_analyzer.py'}' \"$@\"\n"
    )
    perf_analyzer.chmod(0o755)
    (directory / "results").mkdir()
    parts = [part.name for facts in surface.facts for part in facts.composing]
    return {
        **surface.options,
        "model_repository": str(directory / "models"),
        "output_model_repository_path": str(directory / "variants"),
        "checkpoint_directory": str(directory / "checkpoints"),
        "export_path": str(directory / "results"),
        "run_config_search_mode": mode,
        **({"cpu_only_composing_models": parts} if parts else {}),
        "triton_launch_mode": "remote",
        "client_protocol": "http",
        "triton_http_endpoint": f"localhost:{port}",
        "triton_metrics_url": f"http://localhost:{port}/metrics",
        "perf_analyzer_path": str(perf_analyzer),
        "perf_analyzer_cpu_util": 100000,
        "duration_seconds": 0.05,
        "monitoring_interval": 0.02,
        "inference_output_fields": [
            "model_name", "concurrency", "request_rate", "model_config_path",
            "satisfies_constraints", "perf_throughput",
        ],
        "skip_detailed_reports": True,
    }  # fmt: skip


def _profile(program: Path, config: Path, log: Path, server: _Server) -> bool:
    """Whether its run succeeded."""
    command = [str(program), "profile", "-f", str(config)]
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, cwd=config.parent, env={**os.environ, "PYTHONPATH": str(_HERE / "fast")},
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
        ) as running,
    ):  # fmt: skip
        try:
            seen = -1
            while len(server.measured) > seen:
                seen = len(server.measured)
                try:
                    return running.wait(_PATIENCE_S) == 0
                except subprocess.TimeoutExpired:
                    continue
            return False
        finally:
            running.kill()


def _recommended(directory: Path, surface: Surface) -> tuple[Point | None, bool]:
    """The first row of its table that meets the constraints, or else the first row; and whether it
    meets them.
    """
    table = directory / "results" / "results" / "metrics-model-inference.csv"
    if not table.exists():
        return None, False
    with table.open(newline="") as file:
        rows: Sequence[Mapping[str, str]] = list(csv.DictReader(file))
    if not rows:
        return None, False
    passing = [row for row in rows if row.get("Satisfies Constraints", "Yes") == "Yes"]
    row = (passing or rows)[0]
    point = Point(
        settings=_settings(surface, _configs(directory, row["Model Config Path"])),
        clients=[Client(kind=surface.load_kind, values=np.asarray([float(row["Concurrency"])]))],
    )
    return point, bool(passing)


def _configs(directory: Path, path: str) -> Mapping[str, Mapping[str, Any]]:
    """The configurations by model of `m_config_3` or `e_config_2: a_config_0, b_config_1`."""
    configs = {}
    for variant in path.replace(": ", ", ").split(", "):
        model = variant.rpartition("_config_")[0]
        file = directory / "variants" / variant / "config.pbtxt"
        if not file.exists():  # upstream does not always write the default
            file = directory / "models" / model / "config.pbtxt"
        configs[model] = parse_text(file.read_text(), variant)
    return configs
