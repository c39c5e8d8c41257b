# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Watches servers: reads them for a while, and compares them with what a checkpoint promises."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from model_analyzer.domain.goals import GoalOverride
from model_analyzer.errors import ModelAnalyzerError, ServerError
from model_analyzer.features.capacity.capacity_text import CapacityReport
from model_analyzer.features.capacity.facts.sizing import Demand
from model_analyzer.features.capacity.question import Question, capacity
from model_analyzer.features.watch.facts.deviations import (
    PromisedService,
    Watched,
    promised_services,
    scenes_of,
    watched,
)
from model_analyzer.features.watch.facts.server_counts import Look
from model_analyzer.features.watch.server_readings import WatchedPlace, ask_server, read_metrics
from model_analyzer.results.answer import Answer
from model_analyzer.state.checkpoint import Checkpoint

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
