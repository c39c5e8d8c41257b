# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a checkpoint promises of a deployed variant, by the rate of its requests, and how what
servers show differs from it: classes, each with its evidence.

A deviation is certain (by the 95 % interval) and lasting (in most windows), so normal traffic has
none. docs/decisions/0031-watch.md has the limits, and the reasons for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from statistics import median

from model_analyzer.domain.arrivals import is_open, variation
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import under
from model_analyzer.domain.words import counted, number_text
from model_analyzer.features.watch.facts.server_counts import (
    Estimate,
    Look,
    ReplicaSeen,
    climb,
    cv_of,
    joined,
    spans_of,
)
from model_analyzer.noise.noise import Interval
from model_analyzer.noise.noise_model import USUAL_ERROR, NoiseModel
from model_analyzer.results.answer import Answer
from model_analyzer.results.effects import BATCH, BATCHING, COUNT, KIND, varied_parameters
from model_analyzer.results.ranking import FAILED, NEARLY_ALL

# Times of a request in the server; that with the most noise comes first.
_QUEUE = ("perf_server_queue",)
_COMPUTE = ("perf_server_compute_infer", "perf_server_compute_input", "perf_server_compute_output")

# What differs from a measured load by less than this share is like it.
_NEAR = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPoint:
    """One measured load: `rate` answered requests per second of `size` inferences each; the times
    of a request in the queue and computed, in ms, as far as their noise reaches; the inferences of
    an execution; and how requests arrived (see `variation`). None if unknown.
    """

    item: MeasuredTrial
    rate: float
    size: int
    is_open: bool
    cv: float | None
    queue: Interval | None
    compute: Interval | None
    batch: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredNear:
    """What was measured at rates like this one, None where that is unknown; `item` is nearest."""

    queue: Interval | None
    compute: Interval | None
    batch: Interval | None
    item: MeasuredTrial


@dataclass(frozen=True, slots=True, kw_only=True)
class PromisedService:
    """What one server with a `variant` of one model is promised to do.

    `points` are all its measured loads, by rate. `carries` is the rate of requests beyond which a
    server breaks its constraints, or its knee; None if it is unknown. `share` is the part of the
    model in the requests to all that were measured together. The server was `triton` of this
    version, with so many `gpus`.
    """

    variant: ModelVariant
    points: Sequence[LoadPoint]
    carries: float | None
    share: float
    triton: str
    gpus: int

    @property
    def sizes(self) -> Sequence[int]:
        return sorted({point.size for point in self.points})

    @property
    def cv(self) -> float | None:
        """Of the most bursty arrivals that were measured; None if there was no open load."""
        known = [point.cv for point in self.points if point.is_open and point.cv is not None]
        return max(known, default=None)

    def of_size(self, size: float) -> Sequence[LoadPoint]:
        """The loads with requests like those of this size."""
        return [point for point in self.points if abs(point.size - size) <= _NEAR * size]

    def at(self, rate: float, size: float, batch: float) -> MeasuredNear | None:
        """What was measured just below and above a rate; outside of the rates, at the nearest one.
        Computing times of executions as large as the `batch` count, too. Only open loads tell of
        queues: in others, no more requests wait than their concurrency.
        """
        points = self.of_size(size)
        if not points:
            return None
        near = [*_around(points, rate)]
        open_ones = [point for point in points if point.is_open]
        is_within = bool(open_ones) and rate <= (1 + _NEAR) * open_ones[-1].rate
        ordered = sorted(points, key=lambda point: point.batch or 0.0)
        larger = [point for point in ordered if (point.batch or 0.0) >= batch] or ordered[-1:]
        batches = [point.batch for point in near if point.batch]
        return MeasuredNear(
            queue=_hull(point.queue for point in _around(open_ones, rate)) if is_within else None,
            compute=_hull(point.compute for point in (*near, larger[0])),
            batch=Interval(low=min(batches), high=max(batches)) if batches else None,
            item=min(near, key=lambda point: abs(point.rate - rate)).item,
        )


def promised_services(answer: Answer, carries: float | None) -> Iterator[PromisedService]:
    """A promise for each model that is measured together; none without an answer."""
    if answer.best is None:
        return
    trial, best = answer.best.best.trial, answer.best.best.measurement
    same = [item for item in answer.ranking.measured if item.trial.content == trial.content]
    rates = [model.values.get("perf_throughput", 0.0) for model in best.models]
    for index, work in enumerate(trial.workloads):
        points = _points(same, index, answer.ranking.noise_model)
        yield PromisedService(
            variant=work.variant, points=sorted(points, key=lambda point: point.rate),
            carries=carries if len(rates) == 1 else None, share=rates[index] / (sum(rates) or 1.0),
            triton=trial.setup.version, gpus=trial.gpus,
        )  # fmt: skip


def _points(
    measured: Sequence[MeasuredTrial], index: int, noise: NoiseModel
) -> Iterator[LoadPoint]:
    """The loads of the model at `index` of these trials."""
    for item in measured:
        work = item.trial.workloads[index]
        throughput = item.measurement.model_value(index, "perf_throughput")
        statistics = item.measurement.statistics.get(work.variant.model)
        if throughput:
            yield LoadPoint(
                item=item, rate=throughput / work.load.batch_size, size=work.load.batch_size,
                is_open=is_open(work), cv=variation(work),
                queue=_reach(item, index, _QUEUE, noise),
                compute=_reach(item, index, _COMPUTE, noise),
                batch=None if statistics is None else statistics.mean_batch,
            )  # fmt: skip


def _reach(
    item: MeasuredTrial, index: int, tags: Sequence[str], noise: NoiseModel
) -> Interval | None:
    """The sum of some times, as far as repetitions and noise reach; None if it is unknown."""
    first = item.measurement.model_value(index, tags[0])
    if first is None:
        return None
    sums = [sum(run.model_value(index, tag) or 0.0 for tag in tags) for run in item.runs]
    error = noise.interval(item.runs, tags[0], index)
    factor = error.high / first if error is not None and first else 1 + USUAL_ERROR
    return Interval(low=min(sums) / factor, high=max(sums) * factor)


def _around(points: Sequence[LoadPoint], rate: float) -> Sequence[LoadPoint]:
    """Of points by ascending rate, the last one below a rate and the first one above."""
    above = [point for point in points if point.rate > rate]
    return [*points[: len(points) - len(above)][-1:], *above[:1]]


def _hull(intervals: Iterable[Interval | None]) -> Interval | None:
    """The interval that contains all of them; None if none is known."""
    known = [each for each in intervals if each is not None]
    if not known:
        return None
    return Interval(low=min(each.low for each in known), high=max(each.high for each in known))


# The whole time is cut into so many windows. The newest third is judged, but at least so many
# windows and seconds.
_WINDOWS, _JUDGED, _FEWEST_WINDOWS, _LEAST_S = 30, 3, 5, 30.0

# A server that could not be read so many times is missing.
_MISSED = 3

# A replica with fewer requests in the windows that are judged tells nothing of its times, and one
# with fewer failures is not failing.
_FEWEST, _FEWEST_FAILED = 50, 5

_SLOWER = 1.25  # computing time, by the longest that was measured
# Queues differ more from run to run: a deviation is twice as long, and counts beside the computing.
_LONGER, _COUNTS = 2.0, 0.2
# Requests that do not come evenly meet in batches, if so many inferences had an execution.
_EVEN, _BATCHES, _FOR_BATCHES = 0.5, 1.05, 500
# Inferences in a request, requests per second, their coefficient of variation, and the share of the
# model in all requests: by what was measured.
_OTHER_SIZE, _ABOVE, _BURSTIER, _OTHER_SHARE = 1.25, 1.1, 1.4, 1.5
_HITS = 0.05  # of all answers
_BUSY = 0.9  # of a machine's processors
_SOON, _SOON_S = 0.7, 1800.0  # of what a replica carries, and until a rate is there
_FULL_S, _LEAST_GROWTH = 86_400.0, 32e6  # until a memory is full, and bytes by which it grew

_COMPARED = (COUNT, KIND, BATCH, BATCHING, "response_cache.enable")


class WatchClass(Enum):
    """The classes, in the order in which a user should act on them."""

    FAILING = "failing"
    REPLICA_MISSING = "replica missing"
    SERVER_DIFFERS = "server differs"
    SLOWER = "slower than measured"
    MEMORY_GROWS = "memory grows"
    TRAFFIC_DIFFERS = "traffic differs"
    NEAR_KNEE = "close to the knee"
    AS_PROMISED = "as promised"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class SeenDeviation:
    """A difference in one sentence without a full stop, at one `server` (or ""); what was `seen`
    and `promised` as numbers, if they are; and what to look at first.
    """

    kind: WatchClass
    name: str
    text: str
    server: str = ""
    seen: Estimate | None = None
    promised: Interval | None = None
    suspects: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFound:
    """What a server says of itself: its version and configuration of the model; or `why_not`."""

    server: str
    triton: str = ""
    variant: ModelVariant | None = None
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """All that is known of a model in production: the promise, its `replicas`, the servers that are
    `missing` with the reason, what servers say of themselves, and the `share` of the model in all
    requests. The user may know how many replicas are `wanted`, and the `version` of the model.
    """

    promise: PromisedService
    replicas: Sequence[ReplicaSeen]
    missing: Sequence[tuple[str, str]]
    found: Sequence[ServerFound]
    share: float
    wanted: int | None
    version: str | None

    @property
    def busy(self) -> Sequence[ReplicaSeen]:
        """The replicas with enough requests to judge their times, that with the most first."""
        busy = [each for each in self.replicas if each.total("computed") >= _FEWEST]
        return sorted(busy, key=lambda each: -each.total("computed"))

    def expected(self, replica: ReplicaSeen) -> MeasuredNear | None:
        """What was measured at the rate of a replica."""
        names = ("requests_per_s", "inferences_per_request", "mean_batch")
        return self.promise.at(*map(replica.value, names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What was seen of a model: the `kind` is that of the first of its `deviations`, and `cv` how
    bursty the requests are.
    """

    scene: Scene
    kind: WatchClass
    deviations: Sequence[SeenDeviation]
    cv: Estimate | None

    @property
    def model(self) -> str:
        return self.scene.promise.variant.model


def scenes_of(
    looks: Sequence[Look],
    services: Mapping[str, PromisedService],
    found: Mapping[str, Sequence[ServerFound]],
    wanted: int | None = None,
    version: str | None = None,
    *,
    are_replicas: bool,
) -> Sequence[Scene]:
    """A scene for each model with a promise, from looks in order of time. If all servers
    `are_replicas`, those without the model are missing; otherwise they are for something else, and
    new ones take the places of those that have gone.
    """
    by_server: dict[str, list[Look]] = {}
    for look in looks:
        by_server.setdefault(look.server, []).append(look)
    begin, end = min(look.at for look in looks), max(look.at for look in looks)
    window_s = (end - begin) / _WINDOWS
    seen: dict[str, list[ReplicaSeen]] = {name: [] for name in services}
    missing: dict[str, list[tuple[str, str]]] = {name: [] for name in services}
    for name in services:
        for server, own in by_server.items():
            if not are_replicas and not any(name in look.models for look in own):
                continue
            reason = _why_missing(own, name, end)
            if reason:
                missing[name].append((server, reason))
            else:
                seen[name].append(_replica(own, name, window_s))
        if not are_replicas:
            known = [own[0].at for own in by_server.values() if name in own[-1].models]
            new = [at for at in known if at > begin + _FEWEST_WINDOWS * window_s]
            missing[name] = missing[name][len(new) :]
        if not seen[name] and not missing[name]:
            missing[name].append(("", "no server has the model"))
    requests = {name: sum(each.total("requests") for each in seen[name]) for name in services}
    return [
        Scene(
            promise=service, replicas=seen[name], missing=missing[name],
            found=found.get(name, ()), share=requests[name] / (sum(requests.values()) or 1.0),
            wanted=wanted, version=version,
        )
        for name, service in services.items()
    ]  # fmt: skip


def _why_missing(looks: Sequence[Look], model: str, end: float) -> str:
    """Why a server is no replica at the end; "" if it is one."""
    if all(look.why_not for look in looks[-_MISSED:]):
        return looks[-1].why_not
    if model not in [look for look in looks if not look.why_not][-1].models:
        return "the server does not have the model"
    every_s = median([later.at - first.at for first, later in pairwise(looks)] or [end])
    silent_s = end - looks[-1].at
    return f"silent for {silent_s:.0f} s" if silent_s > (_MISSED + 0.5) * every_s else ""


def _replica(looks: Sequence[Look], model: str, window_s: float) -> ReplicaSeen:
    spans = [*spans_of(looks, model)]
    windows = [*joined(spans, window_s)]
    newest = sum(looks[-1].at - window.began <= _LEAST_S for window in windows)
    judged = windows[-max(len(windows) // _JUDGED, _FEWEST_WINDOWS, newest) :]
    return ReplicaSeen(
        server=looks[0].server,
        windows=judged,
        every=windows,
        spans=[span for span in spans if judged and span.began >= judged[0].began],
        gauges=[(look.at, look.gauges) for look in looks if look.gauges],
    )


def watched(scene: Scene) -> Watched:
    """The verdict on a model."""
    cv = cv_of(scene.busy)
    traffic = [*_traffic(scene, cv)]
    found = [
        *_failing(scene), *_missing(scene), *_servers(scene, cv),
        *_slower(scene, has_its_traffic=not traffic), *_memory(scene), *traffic, *_knee(scene),
    ]  # fmt: skip
    kind = WatchClass.AS_PROMISED if scene.busy else WatchClass.NOT_CHECKED
    return Watched(scene=scene, kind=found[0].kind if found else kind, deviations=found, cv=cv)


def _failing(scene: Scene) -> Iterator[SeenDeviation]:
    kind, name, look = WatchClass.FAILING, "failed_share", ("the server's log",)
    for replica in scene.replicas:
        failed = replica.of(name)
        if failed and failed.is_above(FAILED) and replica.total("broken") >= _FEWEST_FAILED:
            parts = replica.parts("failed").items()
            reasons = ", ".join(f"{reason} {count:,.0f}" for reason, count in parts)
            text = f"{100 * failed.value:.3g} % of the requests fail ({reasons})"
            usual = Interval(low=0.0, high=FAILED)
            yield SeenDeviation(kind, name, text, replica.server, failed, usual, look)


def _missing(scene: Scene) -> Iterator[SeenDeviation]:
    kind, look = WatchClass.REPLICA_MISSING, ("its log, and whatever starts the servers",)
    for server, reason in scene.missing:
        yield SeenDeviation(kind, "replica", reason, server, suspects=look)
    seen, wanted = len(scene.replicas), scene.wanted or 0
    if seen + len(scene.missing) < wanted:
        text = f"{counted(seen, 'replica')} of {wanted} can be seen"
        yield SeenDeviation(kind, "replicas", text, suspects=look)


def _servers(scene: Scene, cv: Estimate | None) -> Iterator[SeenDeviation]:
    kind = WatchClass.SERVER_DIFFERS
    for found in scene.found:
        for name, wanted, has in _settings(scene.promise, found):
            text = f"{name} is {has}, measured was {wanted}"
            yield SeenDeviation(kind, name, text, found.server)
    for replica in scene.replicas:
        for name, text in _inferred(scene, replica, cv):
            yield SeenDeviation(kind, name, text, replica.server)
    served = {", ".join(sorted(replica.parts("version"))) for replica in scene.replicas} - {""}
    if len(served) > 1:
        text = f"the replicas serve different versions of the model: {' and '.join(sorted(served))}"
        yield SeenDeviation(kind, "model_version", text)


def _settings(promise: PromisedService, found: ServerFound) -> Iterator[tuple[str, str, str]]:
    """What a server says of itself that is not as measured: its name, and both values."""
    if found.triton and promise.triton and found.triton != promise.triton:
        yield "the version of Triton", promise.triton, found.triton
    if found.variant is not None:
        pairs = [([each], promise.gpus) for each in (promise.variant, found.variant)]
        wanted, has = varied_parameters(pairs)
        for key in {**wanted, **has}:
            name = key.removeprefix("config.")
            if key in wanted or name in _COMPARED:  # the server completes what is not set
                yield name, str(wanted.get(key, "not set")), str(has.get(key, "not set"))


def _inferred(scene: Scene, replica: ReplicaSeen, cv: Estimate | None) -> Iterator[tuple[str, str]]:
    """What the counters of a replica say about its configuration: a name, and a sentence."""
    variant, expected = scene.promise.variant, scene.expected(replica)
    limit, size = max(variant.max_batch_size, 1), replica.value("inferences_per_request")
    batch, hits = replica.of("mean_batch"), replica.of("cache_share")
    if batch is not None and batch.is_above(1.001 * limit):
        yield BATCH, f"batches of {_text(batch)} inferences, measured was a limit of {limit}"
    if hits is not None and hits.is_above(_HITS) and not variant.config.get("response_cache"):
        share = f"{100 * hits.value:.3g} %"
        yield "response_cache", f"the cache gives {share} of the answers, measured was without"
    if batch and expected and expected.batch and cv and cv.value > _EVEN:
        is_never = batch.value <= 1.0001 * size and replica.total("executions") > _FOR_BATCHES
        if is_never and expected.batch.low > _BATCHES * size:
            yield (
                BATCHING,
                f"no batches at all, measured were {range_text(expected.batch)} inferences",
            )
    versions, wanted = [*replica.parts("version")], scene.version
    if versions and wanted is not None and versions != [wanted]:
        yield "model_version", f"version {', '.join(versions)} of the model answers, not {wanted}"
    elif len(versions) > 1:
        yield "model_version", f"several versions of the model answer: {', '.join(versions)}"
    gpus = replica.gauge("gpus")
    if gpus is not None and gpus < scene.promise.gpus:
        yield "gpus", f"the server shows {gpus:.0f} GPUs, measured were {scene.promise.gpus}"


def _slower(scene: Scene, *, has_its_traffic: bool) -> Iterator[SeenDeviation]:
    """Queues are compared under traffic like that which was measured: another one explains them."""
    kind, promise = WatchClass.SLOWER, scene.promise
    for replica in scene.busy:
        expected, server = scene.expected(replica), replica.server
        compute, queue = replica.of("compute_ms"), replica.of("queue_ms")
        if expected is None or expected.compute is None or compute is None or queue is None:
            continue
        measured, usual = f"measured {under(expected.item.trial)} were", expected.queue
        if compute.is_above(_SLOWER * expected.compute.high):
            text = f"computing takes {_text(compute)} ms, {measured} {range_text(expected.compute)}"
            look = ["a slower model: another version, other files or parameters"]
            cpu = 100 * (replica.gauge("cpu") or 0.0)
            if cpu >= 100 * _BUSY:
                look.insert(0, f"who takes the processors: they are busy by {cpu:.0f} %")
            yield SeenDeviation(kind, "compute_ms", text, server, compute, expected.compute, look)
        elif (
            usual
            and has_its_traffic
            and queue.is_above(max(_LONGER * usual.high, usual.high + _COUNTS * compute.value))
        ):
            instances = sum(count for count, _ in promise.variant.instances(gpus=promise.gpus))
            text = f"requests wait {_text(queue)} ms, {measured} {range_text(usual)}"
            look = [f"fewer instances than {instances}, or another dynamic_batching"]
            yield SeenDeviation(kind, "queue_ms", text, server, queue, usual, look)


def _memory(scene: Scene) -> Iterator[SeenDeviation]:
    kind, look = WatchClass.MEMORY_GROWS, ("a leak: endure shows whether a reload restores it",)
    for replica in scene.replicas:
        for name, words in ("memory", "memory of the machine"), ("gpu_memory", "GPU memory"):
            known = [(at, gauges[name]) for at, gauges in replica.gauges if name in gauges]
            growth, total = climb(known), replica.gauge(f"{name}_total")
            if growth is None or total is None or growth.grown < _LEAST_GROWTH:
                continue
            full_s = growth.seconds_to(total)
            if full_s < _FULL_S:
                by_minute = f"{growth.slope * 60 / 1e6:,.0f} MB a minute"
                text = f"{words} in use grows by {by_minute}: full in {_duration(full_s)}"
                yield SeenDeviation(kind, name, text, replica.server, suspects=look)


def _traffic(scene: Scene, cv: Estimate | None) -> Iterator[SeenDeviation]:
    """Traffic that was not measured. Less of it than measured is no reason to worry."""
    kind, promise = WatchClass.TRAFFIC_DIFFERS, scene.promise
    sizes, usual = promise.sizes, promise.cv
    for replica in scene.busy:
        size, rate = replica.of("inferences_per_request"), replica.of("requests_per_s")
        if size is None or rate is None or size.interval is None or not sizes:
            continue
        if size.is_above(_OTHER_SIZE * sizes[-1]) or _OTHER_SIZE * size.interval.high < sizes[0]:
            words = " and ".join(map(str, sizes))
            text = f"requests have {_text(size)} inferences, measured were {words}"
            yield SeenDeviation(kind, "inferences_per_request", text, replica.server, size)
        most = max((point.rate for point in promise.of_size(size.value)), default=None)
        if most is not None and rate.is_above(_ABOVE * most):
            text = f"{_text(rate)} requests/s arrive, measured were up to {number_text(most)}"
            yield SeenDeviation(kind, "requests_per_s", text, replica.server, rate)
    if cv is not None and usual is not None and cv.is_above(_BURSTIER * max(usual, 1.0)):
        text = f"requests come in bursts: cv {_text(cv)}, measured was {number_text(usual)}"
        yield SeenDeviation(kind, "cv", text, "", cv)
    low, high = promise.share / _OTHER_SHARE, promise.share * _OTHER_SHARE
    if scene.busy and promise.share < 1 and not low < scene.share < high:
        shares = [f"{100 * share:.0f} %" for share in (scene.share, promise.share)]
        text = f"it has {shares[0]} of the requests to these models, measured was {shares[1]}"
        yield SeenDeviation(kind, "share", text)


def _knee(scene: Scene) -> Iterator[SeenDeviation]:
    carries = scene.promise.carries
    for replica in scene.busy:
        rate = replica.of("requests_per_s")
        if carries is None or rate is None or scene.expected(replica) is None:
            continue
        growth = climb([(each.ended, each.rate) for each in replica.every])
        left_s = None if growth is None else growth.seconds_to(carries)
        is_soon = left_s is not None and left_s < _SOON_S and rate.value > _SOON * carries
        if rate.is_above(NEARLY_ALL * carries) or is_soon:
            text = f"{_text(rate)} requests/s arrive, and a replica carries {number_text(carries)}"
            text += f"; at its trend, the rate is there in {_duration(left_s)}" if left_s else ""
            name, usual = "requests_per_s", Interval(low=0.0, high=NEARLY_ALL * carries)
            yield SeenDeviation(WatchClass.NEAR_KNEE, name, text, replica.server, rate, usual)


def _text(estimate: Estimate) -> str:
    value = number_text(estimate.value)
    return value if estimate.interval is None else f"{value} ({range_text(estimate.interval)})"


def range_text(interval: Interval) -> str:
    """Both ends, such as `6.77 to 7.61`."""
    return f"{number_text(interval.low)} to {number_text(interval.high)}"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
