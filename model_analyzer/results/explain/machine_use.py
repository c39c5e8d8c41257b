# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How busy the machine of a situation was, and what other programs may have made of it."""

from __future__ import annotations

from model_analyzer.results.explain.situation import Situation, percent

# GPUs that are busy for so many percent of the time have nothing left: readings are noisy.
_BUSY_GPU = 95.0

# So much of all cores is as good as all of them: perf_analyzer's start is idle.
_FULL = 0.8

# A measurement with that part of noise shows nothing about time.
_MUCH_NOISE = 0.2

# The share of the requests that are the fastest, and the time (ms) that a program computes at most
# before Linux lets others have the core.
_FASTEST, _SLICE_MS = 0.05, 3.0

# The cores of an execution that computes all the time.
_COMPUTING = 0.6

# What an execution that computes gets of a core at least, whatever other programs do.
_SHARE_OF_A_CORE = 0.75

# Other programs never take everything: the scheduler shares.
_MOST_OF_OTHERS = 0.8


def _cores(situation: Situation) -> tuple[float, float]:
    """The shares (0 to 1) of all cores that server and load generator, and that other programs
    used; 0 if unknown.
    """
    use = situation.measurement.resources
    if use is None or not situation.cores:
        return 0.0, 0.0
    own, others = use.server_cores + use.client_cores, use.other_cores
    return own / situation.cores, min(others / situation.cores, 1.0)


def is_full(situation: Situation) -> bool:
    """Whether server and load generator used nearly all cores."""
    own, _ = _cores(situation)
    return own > _FULL


def is_crowded(situation: Situation) -> bool:
    """Whether nearly all cores were used only because of other programs."""
    own, others = _cores(situation)
    return own <= _FULL < own + others


def is_computing(situation: Situation) -> bool:
    """Whether executions compute most of their time, on cores. Other programs may make them
    wait for a core, but they leave a share of it.
    """
    _, others = _cores(situation)
    cores, left = cores_of_executions(situation), max(1 - others, _SHARE_OF_A_CORE)
    return cores is not None and cores > _COMPUTING * left and not situation.gpus


def noise_ms(situation: Situation) -> float:
    """The time by which other programs may have made an average request longer.

    Server and load generator compute so long for a request; that takes longer by the share of
    the cores that others had. Time in which an execution waits does not grow. The load
    generator also computes before it sends, so it counts as what is outside the model at most.
    """
    use = situation.measurement.resources
    if use is None or not situation.requests_per_s:
        return 0.0
    others = min(_cores(situation)[1], _MOST_OF_OTHERS)
    longer = 1000 / situation.requests_per_s * others / (1 - others)
    client = min(use.client_cores * longer, situation.times.outside)
    return min(use.server_cores * longer + client, situation.times.total)


def disturbance_ms(situation: Situation) -> float:
    """The part of `noise_ms` that the latencies allow: the fastest requests met hardly any
    noise, so that an average one is slower by what it met. If executions compute for long,
    other programs have the cores during the fastest ones, too.
    """
    histogram = situation.measurement.models[0].histograms.get("perf_latency")
    if histogram is None or histogram.is_approximate or histogram.is_empty:
        return noise_ms(situation)
    fastest = histogram.quantile(_FASTEST)
    if is_computing(situation) and fastest > _SLICE_MS:
        return noise_ms(situation)
    return min(noise_ms(situation), max(situation.times.total - fastest, 0.0))


def cores_of_executions(situation: Situation) -> float | None:
    """The cores that the server used for each execution that ran; None if unknown. 1 means that
    executions compute all the time, 0 that they wait.
    """
    use = situation.measurement.resources
    running = sum(station.running for station in situation.stations)
    return None if use is None or not running else use.server_cores / running


def is_disturbed_much(situation: Situation) -> bool:
    """Whether most of its time may be noise."""
    return noise_ms(situation) > _MUCH_NOISE * situation.times.total


def cpu_line(situation: Situation) -> str:
    """How busy the cores of a situation were; empty if unknown."""
    own, other = _cores(situation)
    others = f", other programs {percent(other)}" if other > 0.05 else ""
    line = f"server and client used {percent(own)} of {situation.cores} cores{others}"
    return line if own else ""


def busy_gpus(situation: Situation) -> str:
    """How busy the GPUs of a variant were, if they were nearly all the time; otherwise empty."""
    utilization = situation.measurement.value("gpu_utilization") or 0.0
    if utilization <= _BUSY_GPU or not situation.variant.uses_gpus(gpus=situation.gpus):
        return ""
    gpus = "the GPU was" if situation.gpus == 1 else "the GPUs were"
    return f"{gpus} busy {percent(utilization / 100)} of the time"
