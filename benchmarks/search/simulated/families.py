# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Families of simulated servers: each is about something that real ones do, in three draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.search.draws import Random, log_uniform
from benchmarks.search.simulated.server import SIZES, Server, Stage, always
from benchmarks.search.simulated.stages import drawn_gpu_model, published, roofline
from benchmarks.search.surface import Axis
from model_analyzer.search.plan import doubling


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """What can be chosen: instances, from 1 to so many, batch limits, queue delays, and loads."""

    instances: int = 5
    batch_limits: Sequence[int] = tuple(doubling(1, 128))
    delays_us: Sequence[int] = (0,)
    loads: Sequence[int] = tuple(doubling(1, 1024))

    @property
    def axis(self) -> Axis:
        return Axis(
            instances=range(1, self.instances + 1),
            batch_limits=self.batch_limits,
            delays_us=self.delays_us,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """A server and what can be chosen of it."""

    server: Server
    grid: Grid


Family = Callable[[Random, int], Draw]

# The number of draws of each family.
DRAWS = 3

# With one request in flight all settings are equally fast: where that is allowed, they are a tenth
# of all points, and the limits on a latency that few points keep leave only those. So most grids
# begin with more, as a service with so many users does.
_USUAL = Grid()
_BUSY = Grid(loads=doubling(8, 1024))
_WIDE = Grid(instances=8, loads=doubling(4, 512))
_LOW = Grid(instances=8, batch_limits=doubling(1, 32), loads=doubling(4, 256))


# The order in which numbers are drawn is part of the families: another one gives other servers.


def _roofline(random: Random, number: int) -> Draw:
    """A GPU on which the kernels of several instances run side by side."""
    server = Server(
        stages={"net": drawn_gpu_model(random)},
        front_ms=log_uniform(random, 0.015, 0.05),
        jitter=random.uniform(0.04, 0.15),
        interference=random.uniform(0.0, 0.08),
        front_workers=int(random.integers(1, 3)),
    )
    return Draw(server=server, grid=(_USUAL, _BUSY, _WIDE)[number])


def _waves(random: Random, number: int) -> Draw:
    """Times are a staircase over the batch: of tiles that are padded, and of waves of them."""
    tile = [int(random.choice(pair)) for pair in ((6, 12), (20, 27), (40, 54))][number]
    wave_ms = log_uniform(random, 0.15, 0.4) * tile / 8
    items = np.maximum(SIZES, 1)
    waves = np.ceil(items / tile)
    compute = log_uniform(random, 0.5, 2) + wave_ms * waves
    filled = items / (waves * tile)
    occupancy = np.where(waves > 1, 0.9 + 0.1 * filled, 0.45 + 0.5 * filled)
    stage = Stage(
        compute_ms=compute,
        occupancy=occupancy,
        launch_ms=always(log_uniform(random, 0.1, 0.5)),
        copy_ms=0.01 * SIZES,
        weights_mb=log_uniform(random, 100, 600),
        item_mb=log_uniform(random, 1, 8),
    )
    server = Server(
        stages={"net": stage},
        front_ms=log_uniform(random, 0.01, 0.03),
        jitter=random.uniform(0.02, 0.06),
        interference=random.uniform(0.03, 0.12),
    )
    return Draw(server=server, grid=(_WIDE, _USUAL, _BUSY)[number])


def _cpu_onnx(random: Random, number: int) -> Draw:
    """Each instance has a pool of threads on the same cores; batches gain little."""
    cores = float(random.choice([8, 16, 32]))
    threads = (2.0, cores / 3, cores)[number]  # the last is what ONNX Runtime does by itself
    item = log_uniform(random, 8, 60) / threads ** random.uniform(0.7, 0.9)
    out_of_cache = 1 + random.uniform(0.0, 0.08) * np.log2(np.maximum(SIZES, 1))
    stage = Stage(
        compute_ms=item * random.uniform(0.1, 0.4) + item * SIZES * out_of_cache,
        occupancy=always(threads / cores),
        launch_ms=always(0.05),
        weights_mb=log_uniform(random, 100, 500),
        item_mb=log_uniform(random, 2, 20),
    )
    server = Server(
        stages={"net": stage},
        front_ms=log_uniform(random, 0.05, 0.2),
        jitter=random.uniform(0.08, 0.2),
        cores=cores,
        interference=random.uniform(0.01, 0.06),
        device_thrash=log_uniform(random, 0.1, 0.6),
    )
    return Draw(server=server, grid=(_LOW, _BUSY, _LOW)[number])


def _link_bound(random: Random, number: int) -> Draw:
    """Images come over a network and a link: all else is fast."""
    copy = log_uniform(random, 0.1, 0.4)
    stage = roofline(
        least_ms=log_uniform(random, 1, 3),
        item_ms=copy * random.uniform(0.2, 0.6),
        weights_ms=0.5,
        traffic_ms=0.01,
        launch_ms=always(0.2),
        copy_ms=0.05 + copy * SIZES,
        weights_mb=log_uniform(random, 100, 400),
        item_mb=log_uniform(random, 4, 20),
    )
    workers = int(random.integers(1, 4))
    server = Server(
        stages={"net": stage},
        front_ms=copy * workers * random.uniform(0.6, 1.6),
        front_workers=workers,
        link_share=random.uniform(0.85, 1.0),
        jitter=0.08,
        front_jitter=0.3,
    )
    return Draw(server=server, grid=(_USUAL, _WIDE, _BUSY)[number])


def _no_batching(random: Random, number: int) -> Draw:
    """The backend takes one request at a time: the batch limit does not matter at all."""
    compute = log_uniform(random, 2, 15)
    stage = Stage(
        occupancy=always(random.uniform(0.2, 0.7)),
        compute_ms=always(compute),
        launch_ms=always(compute * 0.15),
        copy_ms=always(0.05),
        forms_batches=False,
        weights_mb=log_uniform(random, 200, 800),
        item_mb=0.0 if number == 0 else log_uniform(random, 1, 5),
    )
    server = Server(
        stages={"net": stage},
        front_ms=0.05,
        jitter=random.uniform(0.05, 0.25),
        interference=random.uniform(0.02, 0.08),
    )
    return Draw(server=server, grid=(_USUAL, _BUSY, _LOW)[number])


def _client_bound(random: Random, number: int) -> Draw:
    """The client is the limit: its threads take longer the more requests it has in flight."""
    stage = drawn_gpu_model(random)
    least_ms = float((stage.compute_ms[1:] / SIZES[1:]).min())
    server = Server(
        stages={"net": stage},
        front_ms=least_ms * random.uniform(0.4, 0.9),
        front_crowd=log_uniform(random, 60, 400),
        front_crowd_power=random.uniform(0.7, 1.3),
        front_jitter=0.4,
    )
    return Draw(server=server, grid=(_USUAL, _BUSY, _WIDE)[number])


def _tiny(random: Random, number: int) -> Draw:
    """Models that take less than what is around them."""
    return (_add_sub, _python_backend, _launch_bound)[number](random)


def _add_sub(_: Random) -> Draw:
    """The example add_sub on a GPU, as in triton-inference-server/model_analyzer,
    tests/common/single-model-ckpt/golden-metrics-model-inference.csv: one instance gives 2895 and
    7366 inferences per second with 1 and 2 requests in flight, two give 2476 and 4179.
    """
    stage = Stage(
        compute_ms=always(0.06),
        occupancy=always(0.9),
        launch_ms=0.07 + 0.002 * SIZES,
        copy_ms=0.01 + 0.001 * SIZES,
        slowdown=0.45,
        weights_mb=40.0,
        item_mb=0.1,
    )
    server = Server(
        stages={"net": stage}, front_ms=0.05, front_crowd=300, network_ms=0.14, jitter=0.25,
        interference=0.2,
    )  # fmt: skip
    return Draw(server=server, grid=_USUAL)


def _python_backend(random: Random) -> Draw:
    """A process for each instance, with a loop over the requests of a batch."""
    item = log_uniform(random, 0.4, 1.2)
    stage = _on_cpu(
        batch_ms=0.1 + 0.1 * item,
        item_ms=item,
        weights_mb=log_uniform(random, 60, 200),
        item_mb=0.2,
    )
    server = Server(
        stages={"net": stage}, front_ms=0.05, cores=float(random.choice([6, 12])), core_thrash=0.1,
        jitter=0.12,
    )  # fmt: skip
    return Draw(server=server, grid=_LOW)


def _launch_bound(random: Random) -> Draw:
    """Many small kernels, launched by one thread: the GPU is nearly empty."""
    stage = Stage(
        compute_ms=0.2 + 0.004 * SIZES,
        occupancy=np.clip(0.1 + 0.003 * SIZES, 0, 1),
        launch_ms=log_uniform(random, 1.5, 4) + 0.03 * SIZES,
        weights_mb=log_uniform(random, 50, 150),
        item_mb=0.5,
    )
    server = Server(stages={"net": stage}, cores=5.0, core_thrash=0.3, jitter=0.1)
    return Draw(server=server, grid=_WIDE)


def _on_cpu(*, batch_ms: float, item_ms: float, weights_mb: float, item_mb: float) -> Stage:
    """All work is done by one core for each instance."""
    return Stage(
        compute_ms=always(1e-6),
        occupancy=always(0.01),
        launch_ms=batch_ms + item_ms * SIZES,
        weights_mb=weights_mb,
        item_mb=item_mb,
    )


def _huge(random: Random, number: int) -> Draw:
    """Moving the weights takes all the time: only the batch counts, and few instances fit."""
    weights = log_uniform(random, 25, 90)
    gpu_mb = float(random.choice([16000, 24000, 40000]))
    stage = roofline(
        least_ms=weights * 0.5,
        item_ms=weights * log_uniform(random, 0.01, 0.05),
        weights_ms=weights,
        traffic_ms=weights * 0.002,
        launch_ms=always(weights * 0.08),
        copy_ms=0.02 * SIZES,
        weights_mb=gpu_mb * random.uniform(0.16, 0.36),
        item_mb=gpu_mb * log_uniform(random, 0.0008, 0.003),
    )
    server = Server(
        stages={"net": stage},
        memory_mb=gpu_mb,
        fixed_mb=600.0,
        live_mb=gpu_mb * 0.006 if number == 1 else 0.0,
        front_ms=0.05,
        jitter=0.05,
        interference=0.05,
    )
    loads = (_USUAL.loads, _USUAL.loads, _LOW.loads)[number]
    return Draw(server=server, grid=Grid(loads=loads))


def _resnet50(_: Random, number: int) -> Draw:
    """ResNet50 in ONNX Runtime with TensorRT, FP16, on an A100, a V100 and a T4, as published in
    NVIDIA/DeepLearningExamples, PyTorch/Classification/ConvNets/triton/resnet50/README.md, "Online
    scenario". Which batches there were follows from the columns of compute and Little's law; the
    front end and the copies from the columns of network and compute input.
    """
    times, item, copy, front = (
        (
            {1: 1.75, 8: 2.68, 15: 3.41, 24: 4.11, 32: 5.16, 58: 7.02, 115: 11.34},
            0.085, 0.061, 0.08,
        ),
        ({1: 2.6, 7.2: 3.71, 15.4: 4.6, 30: 7.29, 61: 12.5, 115: 21.06}, 0.16, 0.096, 0.125),
        ({1: 2.7, 7: 5.96, 15.7: 6.9, 23.5: 9.57, 31: 12.8, 47: 18.1}, 0.37, 0.08, 0.135),
    )[number]  # fmt: skip
    stage = published(times, item_ms=item, copy_ms=copy * SIZES, weights_mb=300.0, item_mb=6.0)
    server = Server(
        stages={"net": stage}, front_ms=front, network_ms=0.3, jitter=0.05, interference=0.04
    )
    return Draw(server=server, grid=(_USUAL, _BUSY, _WIDE)[number])


def _bert(_: Random, number: int) -> Draw:
    """BERT dist6l with sequences of 384, FP16, as published in NVIDIA/DeepLearningExamples,
    PyTorch/LanguageModeling/BERT/triton/dist6l/README.md, "Offline": TensorRT on a T4 (a batch of
    1, 8 and 16 takes 2.2, 17.1 and 34.1 ms, and gains nothing), on a V100 (1.6, 7.0, 13.1), and
    PyTorch on an A100 (2.6, 4.8, 8.7: launches are the limit). What several instances do is not
    told there.
    """
    times, item, launch, interference, grid = (
        ({1: 2.2, 8: 17.1, 16: 34.1}, 2.12, 0.1, 0.06, Grid(batch_limits=doubling(1, 64))),
        ({1: 1.5, 8: 6.9, 16: 13.0}, 0.76, 0.1, 0.04, _BUSY),
        ({1: 0.6, 8: 4.0, 16: 8.0}, 0.5, 2.0, 0.05, _WIDE),
    )[number]
    stage = published(
        times, item_ms=item, launch_ms=always(launch), copy_ms=0.01 * SIZES, weights_mb=260.0,
        item_mb=9.0,
    )  # fmt: skip
    server = Server(
        stages={"net": stage}, network_ms=0.3, jitter=0.03, interference=interference, cores=2.5,
        core_thrash=0.2,
    )  # fmt: skip
    return Draw(server=server, grid=grid)


def _boost_clock(random: Random, number: int) -> Draw:
    """The more the GPU is used, the lower is its clock: power is limited."""
    server = Server(
        stages={"net": drawn_gpu_model(random)},
        clock_drop=random.uniform(0.1, 0.25),
        clock_from=random.uniform(0.4, 0.75),
        front_ms=log_uniform(random, 0.01, 0.04),
        interference=random.uniform(0.02, 0.1),
        jitter=random.uniform(0.04, 0.1),
    )
    return Draw(server=server, grid=(_USUAL, _WIDE, _BUSY)[number])


def _pauses(random: Random, number: int) -> Draw:
    """Garbage is collected now and then: p99 jumps when one request in a hundred meets that."""
    stage = drawn_gpu_model(random)
    server = Server(
        stages={"net": stage},
        pause_every=log_uniform(random, 600, 6000),
        pause_ms=float(stage.compute_ms[8]) * random.uniform(4, 12),
        front_ms=log_uniform(random, 0.01, 0.05),
        jitter=random.uniform(0.05, 0.2),
    )
    return Draw(server=server, grid=(_WIDE, _USUAL, _BUSY)[number])


def _pipeline(random: Random, number: int) -> Draw:
    """An ensemble: something is prepared on the CPU, for a network on the GPU."""
    network = drawn_gpu_model(random)
    network_ms = float(network.compute_ms[8]) / 8
    prepare = _on_cpu(
        batch_ms=0.1,
        item_ms=network_ms * (0.4, 1.0, 2.5)[number] * random.uniform(0.7, 1.4),
        weights_mb=log_uniform(random, 30, 100),
        item_mb=1.0,
    )
    server = Server(
        stages={"prepare": prepare, "network": network},
        front_ms=log_uniform(random, 0.02, 0.05),
        cores=float(random.choice([2, 4])),
        core_thrash=0.15,
        jitter=0.08,
    )
    loads = doubling((1, 4, 8)[number], 1024)
    return Draw(server=server, grid=Grid(instances=2, batch_limits=doubling(1, 16), loads=loads))


def _open_loop(random: Random, _: int) -> Draw:
    """Requests come at a rate, at random times; what is not served piles up."""
    server = Server(
        stages={"net": drawn_gpu_model(random)},
        open_loop=True,
        front_ms=log_uniform(random, 0.02, 0.06),
        jitter=random.uniform(0.05, 0.15),
        interference=random.uniform(0.02, 0.1),
    )
    return Draw(server=server, grid=Grid(batch_limits=doubling(1, 64), loads=doubling(16, 8192)))


def _queue_delay(random: Random, number: int) -> Draw:
    """A slow front end brings requests one by one: batches fill only if they wait."""
    stage = drawn_gpu_model(random)
    server = Server(
        stages={"net": stage},
        front_ms=float(stage.compute_ms[16]) / 16 * random.uniform(0.3, 0.9),
        front_jitter=0.8,
        jitter=random.uniform(0.05, 0.15),
        interference=random.uniform(0.03, 0.1),
    )
    grid = Grid(
        instances=4,
        batch_limits=doubling(4, 64),
        delays_us=(0, 200, 1000, 5000),
        loads=doubling((1, 4, 16)[number], 1024),
    )
    return Draw(server=server, grid=grid)


FAMILIES: Mapping[str, Family] = {
    "roofline": _roofline,
    "waves": _waves,
    "cpu-onnx": _cpu_onnx,
    "link-bound": _link_bound,
    "no-batching": _no_batching,
    "client-bound": _client_bound,
    "tiny": _tiny,
    "huge": _huge,
    "resnet50": _resnet50,
    "bert": _bert,
    "boost-clock": _boost_clock,
    "pauses": _pauses,
    "pipeline": _pipeline,
    "open-loop": _open_loop,
    "queue-delay": _queue_delay,
}
