# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads what servers count, from their own metrics or from a Prometheus that reads them, and what a
server says of itself. Nothing is changed anywhere.

Watches servers: reads them for a while, and compares them with what a checkpoint promises.
"""

from __future__ import annotations

import math
import re
import select
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.domain.goals import GoalOverride
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.secrets import masked_url
from model_analyzer.errors import ModelAnalyzerError, ServerError, wrong
from model_analyzer.features.capacity.capacity_text import CapacityReport
from model_analyzer.features.capacity.facts.sizing import Demand
from model_analyzer.features.capacity.question import Question, capacity
from model_analyzer.features.watch.facts.deviations import (
    PromisedService,
    ServerFound,
    Watched,
    promised_services,
    scenes_of,
    watched,
)
from model_analyzer.features.watch.facts.server_counts import Look
from model_analyzer.results.answer import Answer
from model_analyzer.runner.client.connect import https_context
from model_analyzer.runner.client.interface import ServerCallError, ServerClient
from model_analyzer.state.checkpoint import Checkpoint

_QUICK_S, _PROMETHEUS_S = 3.0, 60.0

# More lines than any server has: a page may have millions.
_MOST_LINES = 100_000

# metric of Triton -> name of `server_counts`: counters of a model, and gauges of a server
_COMPUTE = ("compute_input", "compute_infer", "compute_output")
_COUNTERS = {
    "nv_inference_request_success": "answered",
    "nv_inference_request_failure": "failed",
    "nv_inference_count": "inferences",
    "nv_inference_exec_count": "executions",
    "nv_inference_request_duration_us": "request_us",
    "nv_inference_queue_duration_us": "queue_us",
    **{f"nv_inference_{name}_duration_us": "compute_us" for name in _COMPUTE},
    "nv_cache_num_hits_per_model": "hits",
    "nv_inference_first_response_histogram_ms_sum": "first_ms",
    "nv_inference_first_response_histogram_ms_count": "firsts",
}
_GAUGES = {
    "nv_cpu_utilization": "cpu",
    "nv_cpu_memory_used_bytes": "memory",
    "nv_cpu_memory_total_bytes": "memory_total",
    "nv_gpu_memory_used_bytes": "gpu_memory",
    "nv_gpu_memory_total_bytes": "gpu_memory_total",
}
_WANTED = re.compile(rf"(?:{'|'.join([*_COUNTERS, *_GAUGES])})[ {{]")
_LABEL = re.compile(r"([A-Za-z_]\w*)=([^\"\\]+)")

_Sample = tuple[str, Mapping[str, str], float]


class WatchedPlace(NamedTuple):
    """Where something is read: a client, the path of the URL, and a name without secrets."""

    client: Any
    path: str
    name: str


def place_of(text: str, option: str, default_path: str = "") -> WatchedPlace:
    """The place of a URL, or of HOST:PORT. Raises ConfigError."""
    from model_analyzer.runner.client.http import HttpClient

    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise wrong(option, f"expected http://HOST:PORT or HOST:PORT, found {masked_url(text)!r}")
    if parts.username is not None:
        raise wrong(option, "a password in a URL is not sent: use a URL without user and password")
    is_https = parts.scheme == "https"
    port = port or (443 if is_https else 80)
    client = HttpClient(host, port, tls=https_context({}) if is_https else None, headers={})
    return WatchedPlace(client, parts.path.rstrip("/") or default_path, f"{host}:{port}")


def read_metrics(place: WatchedPlace, at: float) -> Look:
    """What the metrics of one server say now; a look without counts if they cannot be read."""
    from prometheus_client.parser import text_string_to_metric_families

    try:
        text = place.client.text(place.path, _QUICK_S)
        lines = [line for line in text.splitlines() if _WANTED.match(line)]
        if len(lines) > _MOST_LINES:
            raise ValueError("its metrics have too many lines")
        families = text_string_to_metric_families("\n".join(lines) + "\n")
        samples = [
            (each.name, each.labels, each.value) for family in families for each in family.samples
        ]
    except ServerCallError as error:
        return Look(at, place.name, {}, {}, f"cannot be read: {error}")
    except (ValueError, LookupError, TypeError, OverflowError) as error:
        return Look(at, place.name, {}, {}, f"its metrics are not Prometheus' text: {error}"[:200])
    if not samples:
        return Look(at, place.name, {}, {}, "its metrics are not those of a Triton server")
    return _look(at, place.name, samples)


def _look(at: float, server: str, samples: Iterable[_Sample]) -> Look:
    """Sums over GPUs, versions and reasons."""
    models: dict[str, defaultdict[str, float]] = {}
    gauges: defaultdict[str, float] = defaultdict(float)
    for name, labels, value in samples:
        if not math.isfinite(value):
            continue
        if name in _GAUGES:
            gauges[_GAUGES[name]] += value
            if name == "nv_gpu_memory_total_bytes":
                gauges["gpus"] += 1
        elif "model" in labels:
            counts = models.setdefault(labels["model"], defaultdict(float))
            counts[_COUNTERS[name]] += value
            if name.endswith("success"):
                counts[f"version:{labels.get('version', '')}"] += value
            if name.endswith("failure"):
                counts[f"failed:{labels.get('reason', '')}"] += value
    return Look(at, server, models, gauges)


def parse_labels(text: str) -> Sequence[tuple[str, str]]:
    """The labels of --query-labels, such as `namespace=shop,job=triton`. Raises ConfigError."""
    matches = [_LABEL.fullmatch(part.strip()) for part in text.split(",")] if text else []
    if None in matches:
        raise wrong("--query-labels", f"expected NAME=VALUE,…, found {text!r}")
    return [(match[1], match[2]) for match in matches if match is not None]


def read_prometheus(
    place: WatchedPlace, labels: Sequence[tuple[str, str]], until: float, seconds: float
) -> Sequence[Look]:
    """What a Prometheus has read of each server in the seconds until a time. Raises ServerError."""
    names = "|".join([*_COUNTERS, *_GAUGES])
    chosen = "".join(f',{name}="{value}"' for name, value in labels)
    query = f'{{__name__=~"{names}"{chosen}}}[{math.ceil(seconds)}s]'
    path = f"{place.path}/api/v1/query?query={quote(query)}&time={until:.3f}"
    try:
        answer = parse_json(place.client.text(path, _PROMETHEUS_S))
        samples: dict[tuple[float, str], list[_Sample]] = {}
        for series in answer["data"]["result"]:
            metric = series["metric"]
            for at, value in series["values"]:
                sample = (str(metric["__name__"]), metric, float(value))
                key = float(at), str(metric.get("instance", ""))
                samples.setdefault(key, []).append(sample)
    except ServerCallError as error:
        raise ServerError(f"--prometheus: {place.name} cannot be read: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ServerError(
            f"--prometheus: {place.name} does not answer as Prometheus does"
        ) from error
    if not samples:
        raise ServerError(
            f"--prometheus: {place.name} has nothing of a Triton server in the last"
            f" {seconds:.0f} s: check its targets, and --query-labels"
        )
    return [_look(at, server, each) for (at, server), each in sorted(samples.items())]


def ask_server(place: WatchedPlace, variant: ModelVariant) -> ServerFound:
    """What a server says of itself, and of the model of which a `variant` was measured."""
    client: ServerClient = place.client
    try:
        version = client.version()
        config = client.model_config(variant.model)
    except ServerCallError as error:
        return ServerFound(server=place.name, why_not=str(error))
    there = replace(variant, config=config)
    return ServerFound(server=place.name, triton=version, variant=there)


_TICK_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchReport:
    """What was seen of a model, and how many replicas its traffic needs (None if unknown)."""

    watched: Watched
    needed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promises:
    """What a checkpoint promises of some models, and what its user knows."""

    checkpoint: Checkpoint
    services: Mapping[str, PromisedService]
    replicas: int | None
    version: str | None

    def reports(
        self, looks: Sequence[Look], servers: Sequence[WatchedPlace], *, are_replicas: bool
    ) -> Sequence[WatchReport]:
        """What the looks show of each model, and the servers say of themselves. Raises ServerError
        if nothing could be read.
        """
        if all(look.why_not for look in looks):
            raise ServerError(f"{looks[-1].server}: {looks[-1].why_not}")
        found = {
            name: [ask_server(place, service.variant) for place in servers]
            for name, service in self.services.items()
        }
        scenes = scenes_of(
            looks, self.services, found, self.replicas, self.version, are_replicas=are_replicas
        )
        seen = [watched(scene) for scene in scenes]
        return [WatchReport(watched=each, needed=self._needed(each)) for each in seen]

    def _needed(self, seen: Watched) -> int | None:
        rate = sum(each.value("requests_per_s") for each in seen.scene.replicas)
        sizes = [each.value("inferences_per_request") for each in seen.scene.busy]
        if not rate or not sizes:
            return None
        variant, size = seen.scene.promise.variant, max(1, round(max(sizes)))
        report = _capacity(self.checkpoint, variant.model, variant.name, rate, size)
        return None if report is None or report.sizing is None else report.sizing.replicas.number


def promises_of(
    checkpoint: Checkpoint, answers: Sequence[Answer], replicas: int | None, version: str | None
) -> Promises:
    """What the answers of a checkpoint promise."""
    services: dict[str, PromisedService] = {}
    for answer in answers:
        for service in promised_services(answer, _carries(checkpoint, answer)):
            services.setdefault(service.variant.model, service)
    return Promises(checkpoint=checkpoint, services=services, replicas=replicas, version=version)


def _carries(checkpoint: Checkpoint, answer: Answer) -> float | None:
    """The requests per second that a server with the recommendation carries: within its constraints
    for independent users, otherwise up to the knee. None if no measured load was too much.
    """
    if answer.best is None:
        return None
    size = answer.best.best.trial.workloads[0].load.batch_size
    report = _capacity(checkpoint, answer.ranking.model, answer.best.name, 1.0, size)
    if report is None:
        return None
    carried, knee = report.capacity.replica.carried, report.capacity.replica.knee
    if carried is not None and carried.broken is not None:
        return carried.rate
    return None if knee is None else knee.rate


def _capacity(
    checkpoint: Checkpoint, model: str, variant: str, rate: float, size: int
) -> CapacityReport | None:
    """The answer of `capacity` for a rate of requests with so many inferences; None if the
    checkpoint does not tell, or tells of several kinds of hardware.
    """
    demand, goal = Demand(rate=rate), GoalOverride()
    question = Question(demand=demand, model=model, variant=variant, batch_size=size, asked=goal)
    try:
        reports = capacity(checkpoint, question)
    except ModelAnalyzerError:  # of models that were measured together, for example
        return None
    return reports[0] if len(reports) == 1 else None


def look_for(
    places: Sequence[WatchedPlace],
    seconds: float,
    every_s: float,
    *,
    stopped: Callable[[], bool],
    show: Callable[[float, Sequence[Look]], None],
) -> Sequence[Look]:
    """Reads all servers again and again, until the time is over or the user has seen enough; `show`
    gets the seconds so far, and all looks.
    """
    looks: list[Look] = []
    began = time.monotonic()
    turn = 0
    while True:
        looks += [read_metrics(place, time.time()) for place in places]
        lasted = time.monotonic() - began
        show(lasted, looks)
        if lasted >= seconds or stopped():
            return looks
        turn = max(turn + 1, int(lasted / every_s))  # not more often, if servers are slow
        while time.monotonic() < began + turn * every_s and not stopped():
            select.select([], [], [], _TICK_S)
