# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How what servers show differs from what was promised: classes, each with its evidence.

A deviation is certain (by the 95 % interval) and lasting (in most windows), so normal traffic has
none. docs/decisions/0031-watch.md has the limits, and the reasons for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from model_analyzer.domain.loads import under
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.numbers import number_text
from model_analyzer.domain.words import counted
from model_analyzer.features.watch.facts.promised_service import MeasuredNear, PromisedService
from model_analyzer.features.watch.facts.server_counts import Estimate, ReplicaSeen, cv_of, trend
from model_analyzer.noise.noise import Interval
from model_analyzer.results.varied import BATCH, BATCHING, COUNT, KIND, varied_parameters

# A replica with fewer requests in the windows that are judged tells nothing of its times, and one
# with fewer failures is not failing.
_FEWEST, _FEWEST_FAILED = 50, 5

_SLOWER = 1.25  # computing time, by the longest that was measured
# Queues differ more from run to run: a deviation is twice as long, and counts beside the computing.
_LONGER, _COUNTS = 2.0, 0.2
# Requests that do not come evenly meet in batches, if so many inferences had an execution.
_EVEN, _BATCHES, _FOR_BATCHES = 0.5, 1.05, 500
_OTHER_SIZE = 1.25  # inferences in a request, by what was measured
_ABOVE = 1.1  # requests per second, by the most that was measured
_BURSTIER = 1.4  # coefficient of variation, by the highest that was measured
_OTHER_SHARE = 1.5
_HITS = 0.05
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
class WatchLimits:
    """WatchLimits that alert rules have, too: the share of failed requests, and the share of what a
    replica carries. And what the user knows: the number of replicas, and the version of the model.
    """

    failed: float
    nearly_all: float
    replicas: int | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """All that is known of a model in production: the promise, its `replicas`, the servers that are
    `missing` with the reason, what servers say of themselves, and the `share` of the model in all
    requests.
    """

    promise: PromisedService
    replicas: Sequence[ReplicaSeen]
    missing: Sequence[tuple[str, str]]
    found: Sequence[ServerFound]
    limits: WatchLimits
    share: float

    @property
    def busy(self) -> Sequence[ReplicaSeen]:
        """The replicas with enough requests to judge their times, that with the most first."""
        busy = [each for each in self.replicas if each.total("computed") >= _FEWEST]
        return sorted(busy, key=lambda each: -each.total("computed"))

    def expected(self, replica: ReplicaSeen) -> MeasuredNear | None:
        """What was measured at the rate of a replica."""
        names = ("requests_per_s", "inferences_per_request", "mean_batch")
        rate, size, batch = map(replica.value, names)
        return self.promise.at(rate, size, batch)


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


def watched(scene: Scene) -> Watched:
    """The verdict on a model."""
    cv = cv_of(scene.busy)
    traffic = [*_traffic(scene, cv)]
    found = [
        *_failing(scene), *_missing(scene), *_servers(scene, cv),
        *_slower(scene, has_its_traffic=not traffic), *_memory(scene), *traffic, *_knee(scene),
    ]  # fmt: skip
    kind = WatchClass.AS_PROMISED if scene.busy else WatchClass.NOT_CHECKED
    kind = found[0].kind if found else kind
    return Watched(scene=scene, kind=kind, deviations=found, cv=cv)


def _failing(scene: Scene) -> Iterator[SeenDeviation]:
    limit = scene.limits.failed
    for replica in scene.replicas:
        failed = replica.of("failed_share")
        if failed and failed.is_above(limit) and replica.total("broken") >= _FEWEST_FAILED:
            parts = replica.parts("failed").items()
            reasons = ", ".join(f"{reason} {count:,.0f}" for reason, count in parts)
            text = f"{100 * failed.value:.3g} % of the requests fail ({reasons})"
            usual = Interval(low=0.0, high=limit)
            look = ("the server's log",)
            yield SeenDeviation(
                WatchClass.FAILING, "failed_share", text, replica.server, failed, usual, look
            )


def _missing(scene: Scene) -> Iterator[SeenDeviation]:
    look = ("the server's log, and whatever starts the servers",)
    for server, reason in scene.missing:
        yield SeenDeviation(WatchClass.REPLICA_MISSING, "replica", reason, server, suspects=look)
    seen, wanted = len(scene.replicas), scene.limits.replicas or 0
    if seen + len(scene.missing) < wanted:
        text = f"{counted(seen, 'replica')} of {wanted} can be seen"
        yield SeenDeviation(WatchClass.REPLICA_MISSING, "replicas", text, suspects=look)


def _servers(scene: Scene, cv: Estimate | None) -> Iterator[SeenDeviation]:
    for found in scene.found:
        for name, wanted, has in _settings(scene.promise, found):
            text = f"{name} is {has}, measured was {wanted}"
            yield SeenDeviation(WatchClass.SERVER_DIFFERS, name, text, found.server)
    for replica in scene.replicas:
        for name, text in _inferred(scene, replica, cv):
            yield SeenDeviation(WatchClass.SERVER_DIFFERS, name, text, replica.server)
    served = {tuple(sorted(replica.parts("version"))) for replica in scene.replicas} - {()}
    if len(served) > 1:
        each = " and ".join(sorted(", ".join(versions) for versions in served))
        text = f"the replicas serve different versions of the model: {each}"
        yield SeenDeviation(WatchClass.SERVER_DIFFERS, "model_version", text)


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
    config = scene.promise.variant.config
    limit = max(scene.promise.variant.max_batch_size, 1)
    batch, hits, expected = (
        replica.of("mean_batch"),
        replica.of("cache_share"),
        scene.expected(replica),
    )
    if batch is not None and batch.is_above(1.001 * limit):
        yield BATCH, f"batches of {_text(batch)} inferences, measured was a limit of {limit}"
    if hits is not None and hits.is_above(_HITS) and not config.get("response_cache"):
        share = f"{100 * hits.value:.3g} %"
        yield "response_cache", f"the cache gives {share} of the answers, measured was without"
    size, executions = replica.value("inferences_per_request"), replica.total("executions")
    if batch and expected and expected.batch and cv and cv.value > _EVEN:
        is_never = batch.value <= 1.0001 * size and executions > _FOR_BATCHES
        if is_never and expected.batch.low > _BATCHES * size:
            yield BATCHING, f"no batches at all, measured were {_range(expected.batch)} inferences"
    versions, wanted = replica.parts("version"), scene.limits.version
    if versions and wanted not in (None, *([*versions] if len(versions) == 1 else [])):
        yield "model_version", f"version {', '.join(versions)} of the model answers, not {wanted}"
    elif len(versions) > 1:
        yield "model_version", f"several versions of the model answer: {', '.join(versions)}"
    gpus = replica.gauge("gpus") or 0.0
    if gpus < scene.promise.gpus:
        yield "gpus", f"the server shows {gpus:.0f} GPUs, measured were {scene.promise.gpus}"


def _slower(scene: Scene, *, has_its_traffic: bool) -> Iterator[SeenDeviation]:
    """Queues are compared under traffic like that which was measured: another one explains them."""
    for replica in scene.busy:
        expected = scene.expected(replica)
        compute, queue = replica.of("compute_ms"), replica.of("queue_ms")
        if expected is None or expected.compute is None or compute is None:
            continue
        measured, usual = f"measured {under(expected.item.trial)} were", expected.queue
        if compute.is_above(_SLOWER * expected.compute.high):
            text = f"computing takes {_text(compute)} ms, {measured} {_range(expected.compute)}"
            yield SeenDeviation(
                WatchClass.SLOWER, "compute_ms", text, replica.server, compute, expected.compute,
                _why_slower(replica),
            )  # fmt: skip
            continue
        if queue is None or usual is None or not has_its_traffic:
            continue
        if queue.is_above(max(_LONGER * usual.high, usual.high + _COUNTS * compute.value)):
            instances = scene.promise.variant.instances(gpus=scene.promise.gpus)
            count = sum(count for count, _ in instances)
            text = f"requests wait {_text(queue)} ms, {measured} {_range(usual)}"
            look = (f"fewer instances than {count}, or other settings of dynamic_batching",)
            yield SeenDeviation(
                WatchClass.SLOWER, "queue_ms", text, replica.server, queue, usual, look
            )


def _why_slower(replica: ReplicaSeen) -> Sequence[str]:
    other = "a slower model: another version, other files or parameters"
    stolen = "something else takes the processors or the GPU"
    cpu = replica.gauge("cpu") or 0.0
    if cpu < _BUSY:
        return other, stolen
    return f"{stolen}: the processors of the machine are busy by {100 * cpu:.0f} %", other


def _memory(scene: Scene) -> Iterator[SeenDeviation]:
    for replica in scene.replicas:
        for name, words in ("memory", "memory of the machine"), ("gpu_memory", "GPU memory"):
            known = [(at, gauges[name]) for at, gauges in replica.gauges if name in gauges]
            growth, total = trend(known), replica.gauge(f"{name}_total") or 0.0
            full_s = None if growth is None else growth.seconds_to(total)
            if growth is None or full_s is None or full_s > _FULL_S or not _climbs(known):
                continue
            by_minute = f"{growth.slope * 60 / 1e6:,.0f} MB a minute"
            text = f"{words} in use grows by {by_minute}: full in {_duration(full_s)}"
            look = ("a leak: model-analyzer endure shows whether a reload restores it",)
            yield SeenDeviation(WatchClass.MEMORY_GROWS, name, text, replica.server, suspects=look)


def _climbs(points: Sequence[tuple[float, float]]) -> bool:
    """Whether each fifth of the points is above the one before, with no step that is most of it."""
    count = len(points) // 5
    parts = [points[place * count : (place + 1) * count] for place in range(5)]
    means = [sum(value for _, value in part) / count for part in parts]
    steps = [later - earlier for earlier, later in pairwise(means)]
    whole = sum(steps)
    return min(steps) > 0 and max(steps) < 0.6 * whole and whole > _LEAST_GROWTH


def _traffic(scene: Scene, cv: Estimate | None) -> Iterator[SeenDeviation]:
    """Traffic that was not measured. Less of it than measured is no reason to worry."""
    kind, promise = WatchClass.TRAFFIC_DIFFERS, scene.promise
    sizes, usual = promise.sizes, promise.cv
    for replica in scene.busy:
        size, rate = replica.of("inferences_per_request"), replica.of("requests_per_s")
        if size is None or rate is None or not sizes:
            continue
        if size.is_above(_OTHER_SIZE * sizes[-1]) or size.is_below(sizes[0] / _OTHER_SIZE):
            words = " and ".join(map(str, sizes))
            text = f"requests have {_text(size)} inferences, measured were {words}"
            known = Interval(low=sizes[0], high=sizes[-1])
            yield SeenDeviation(kind, "inferences_per_request", text, replica.server, size, known)
        most = max((point.rate for point in promise.of_size(size.value)), default=None)
        if most is not None and rate.is_above(_ABOVE * most):
            text = f"{_text(rate)} requests/s arrive, measured were up to {number_text(most)}"
            known = Interval(low=0.0, high=most)
            yield SeenDeviation(kind, "requests_per_s", text, replica.server, rate, known)
    if cv is not None and usual is not None and cv.is_above(_BURSTIER * max(usual, 1.0)):
        text = f"requests come in bursts: cv {_text(cv)}, measured was {number_text(usual)}"
        yield SeenDeviation(kind, "cv", text, "", cv, Interval(low=usual, high=usual))
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
        every = [
            (each.ended, each.number("requests") / each.number("seconds")) for each in replica.every
        ]
        growth = trend(every)
        left_s = None if growth is None else growth.seconds_to(carries)
        is_soon = left_s is not None and left_s < _SOON_S and rate.value > _SOON * carries
        limit = scene.limits.nearly_all * carries
        if rate.is_above(limit) or is_soon:
            text = f"{_text(rate)} requests/s arrive, and a replica carries {number_text(carries)}"
            if left_s:
                text += f"; at its trend, the rate is there in {_duration(left_s)}"
            known = Interval(low=0.0, high=limit)
            yield SeenDeviation(
                WatchClass.NEAR_KNEE, "requests_per_s", text, replica.server, rate, known
            )


def _text(estimate: Estimate) -> str:
    value = number_text(estimate.value)
    return value if estimate.interval is None else f"{value} ({_range(estimate.interval)})"


def _range(interval: Interval) -> str:
    return f"{number_text(interval.low)} to {number_text(interval.high)}"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
