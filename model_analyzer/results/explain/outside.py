# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Causes outside the model: the client, and tensors that are large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from model_analyzer.domain.arrivals import fewest_answers, waits_in_client
from model_analyzer.domain.flags import NEEDS_CLIENT_SHM, needs_client_shm, shapes_of
from model_analyzer.domain.trials import Workload
from model_analyzer.domain.words import number_text, size_text
from model_analyzer.noise.lag import SEND_LAG, sent_late
from model_analyzer.results.explain.finding import AdvisedChange, Cause, FoundCause
from model_analyzer.results.explain.situation import (
    NEGLIGIBLE_MS,
    Situation,
    VariantPicture,
    is_full,
    ms,
    percent,
)

# Instances that are less busy than that do not make requests wait.
_FREE = 0.8
# The share of a latency that counts.
_MUCH = 0.4
# The share of all cores that load generators may use.
_HALF = 0.4

# The part of the time in which the server copies tensors that are large.
_COPYING = 0.2

# Copying and (de)serialising so many bytes for a request takes as long as a small model.
_LARGE_BYTES = 256 * 1024

_SIZES: Mapping[str, int] = {
    "TYPE_BOOL": 1, "TYPE_UINT8": 1, "TYPE_INT8": 1, "TYPE_UINT16": 2, "TYPE_INT16": 2,
    "TYPE_FP16": 2, "TYPE_BF16": 2, "TYPE_UINT32": 4, "TYPE_INT32": 4, "TYPE_FP32": 4,
    "TYPE_UINT64": 8, "TYPE_INT64": 8, "TYPE_FP64": 8,
}  # fmt: skip


def late_client(picture: VariantPicture) -> Iterator[FoundCause]:
    """A load generator that cannot send the requests of a rate, while instances are free."""
    behind = [each for each in picture.loads if _is_behind(each)]
    if not behind:
        return
    worst = max(behind, key=lambda each: each.work.load.value)
    rate = worst.work.load.value
    threads = worst.work.flags.get("max-threads")
    is_waiting = waits_in_client(worst.work, in_rounds=worst.measurement.is_round)
    busy = max(each.busy for each in worst.stations)
    yield FoundCause(
        cause=Cause.CLIENT,
        under=worst,
        weight=1 - worst.requests_per_s / rate,
        evidence=(
            f"of {rate} requests/s, {number_text(worst.requests_per_s)} were answered, while the"
            f" busiest instances worked {percent(busy)} of the time",
            *(
                [
                    "perf_analyzer sent each request on a thread that waits for the response"
                    + (f" ({threads} threads)" if threads else "")
                ]
                if is_waiting
                else []
            ),
        ),
        advice="send requests without waiting for responses (async: true in perf_analyzer_flags)"
        if is_waiting
        else "use a faster machine for the load generator, or several of them",
        change=AdvisedChange(model=picture.variant.model, flags={"async": "true"})
        if is_waiting
        else None,
    )


def _is_behind(situation: Situation) -> bool:
    """Whether fewer requests were answered than chance explains, because they were sent late: by
    the lag of the client where it is known.
    """
    rate, answered = situation.requests_per_s, situation.requests
    return (
        not situation.is_closed
        and situation.work.load.value > 0
        and rate > 0
        and answered < fewest_answers(situation.work, answered / rate)
        and (SEND_LAG not in situation.measurement.totals or sent_late(situation.measurement))
        and bool(situation.stations)
        and max(each.busy for each in situation.stations) < _FREE
        and situation.times.share(situation.times.queue) < _MUCH
    )


def busy_client(picture: VariantPicture) -> Iterator[FoundCause]:
    """A load generator that uses the cores that the server needs."""
    situation = picture.highest
    use, cores = situation.measurement.resources, situation.cores
    if use is None or not cores or not is_full(situation) or not situation.stations:
        return
    times = situation.times
    is_outside = (
        times.are_known
        and times.share(times.outside) > _MUCH
        and (max(each.busy for each in situation.stations) < _FREE)
    )
    if not is_outside or use.client_cores < _HALF * cores:
        return
    yield FoundCause(
        cause=Cause.CLIENT,
        under=situation,
        weight=times.share(times.outside),
        evidence=(
            f"{situation.under}, {percent(times.share(times.outside))} of the latency is"
            f" outside the model ({number_text(times.outside)} of {ms(times.total)})",
            f"perf_analyzer used {use.client_cores:.1f} and the server {use.server_cores:.1f} of"
            f" {cores} cores",
        ),
        advice="measure from another machine (triton_launch_mode: remote): here, the client takes"
        " the cores that the server needs",
    )


def tensors(picture: VariantPicture) -> Iterator[FoundCause]:
    """Time for copying and (de)serialising tensors, which grows with their size."""
    situation = picture.calmest
    times = situation.times
    moving = times.inputs + times.outputs + times.outside
    if not times.are_known or times.share(moving) < _MUCH or moving < NEGLIGIBLE_MS:
        return
    request, response, are_known = tensors_of(situation.work)
    copying = times.inputs + times.outputs
    if request + response < _LARGE_BYTES and (
        are_known or copying < max(_COPYING * times.total, NEGLIGIBLE_MS)
    ):
        return
    allowed = f" ({NEEDS_CLIENT_SHM})" if needs_client_shm(situation.server, unknown=True) else ""
    sizes = f"a request has {size_text(request)}, a response {size_text(response)}"
    yield FoundCause(
        cause=Cause.TENSORS,
        under=situation,
        weight=times.share(moving),
        evidence=(
            sizes if are_known else f"{sizes}, without tensors whose shape is not known",
            f"{situation.under}, {number_text(moving)} of {ms(times.total)} are spent on sending"
            f" and copying them, {ms(times.compute)} on executing the model",
        ),
        advice="send less: smaller types (FP16, UINT8), encoded images that the server decodes, or"
        f" only the outputs that are used; on the same machine, use shared memory{allowed}",
        change=AdvisedChange(
            model=situation.variant.model,
            flags={"shared-memory": "system", "output-shared-memory-size": str(max(response, 1))},
        )
        if are_known
        else None,
    )


def tensors_of(work: Workload) -> tuple[int, int, bool]:
    """The bytes of the tensors of a request and of its response, and whether all of them are known.
    Free dimensions of inputs are those of perf_analyzer's flag `shape`; those of outputs, of texts
    and of input files are unknown.
    """
    config, shapes = work.variant.config, shapes_of(work.flags)
    inputs = [_bytes(tensor, shapes) for tensor in config.get("input", ())]
    outputs = [_bytes(tensor, {}) for tensor in config.get("output", ())]
    request, response = (sum(size or 0 for size in sizes) for sizes in (inputs, outputs))
    size = work.load.batch_size
    return size * request, size * response, None not in [*inputs, *outputs]


def _bytes(tensor: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]) -> int | None:
    sizes = [int(size) for size in tensor.get("dims", ())]
    if any(size < 0 for size in sizes):
        sizes = list(shapes.get(str(tensor.get("name")), sizes))
    each = _SIZES.get(str(tensor.get("data_type", "")))
    return None if each is None or any(size < 0 for size in sizes) else prod(sizes) * each
