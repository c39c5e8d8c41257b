# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Searches over several slots: their use, the time of the driver, and the quality of the answer.

    python benchmarks/cluster.py slots
    python benchmarks/cluster.py adaptive --set reporting --seeds 4
    python benchmarks/cluster.py real

For the first two, slots are simulated on a virtual clock; the search, the loop and the checkpoint
are real. The durations of trials are lognormal (sigma 0.5). `real` measures a model that sleeps, on
one slot and on four of a local Ray cluster, with the installed runtime.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import sys
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.common import timed, write_config
from benchmarks.search.pairs import run_pairs, table
from benchmarks.search.sets import HELP as SET_HELP
from benchmarks.search.sets import surfaces_of
from benchmarks.simulated_executor import SimulatedExecutor
from model_analyzer.config.resolve import resolve_profile
from model_analyzer.config.sources import parse_yaml
from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Outcome
from model_analyzer.domain.models import ModelFacts, VariantNames
from model_analyzer.domain.protocols import Search
from model_analyzer.domain.slots import Finished, Slot
from model_analyzer.domain.trials import ServerSetup, Trial
from model_analyzer.profiling.loop import profile
from model_analyzer.search.choose import choose
from model_analyzer.search.plan import SearchedModel, Subject
from model_analyzer.state.profile_state import ProfileState
from qa.cluster.local_cluster import LocalCluster

STARTER = Path(__file__).parents[1] / "model_analyzer" / "starter" / "model_repository"

_SIGMA = 0.5
_LOADS = [1, 2, 4, 8, 16, 32, 64, 128]


def main() -> None:
    logging.getLogger("model_analyzer").addHandler(logging.NullHandler())
    logging.getLogger("model_analyzer").propagate = False
    options = _options()
    if options.part == "slots":
        _show_slots(slots=8, trials=200, mean_s=5.0)
        _show_slots(slots=64, trials=640, mean_s=5.0)
    elif options.part == "adaptive":
        _show_adaptive(options)
    else:
        _show_real(slots=4)


def _options() -> argparse.Namespace:
    assert __doc__ is not None
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("part", choices=["slots", "adaptive", "real"])
    options.add_argument("--slots", type=int, default=8, help="of the adaptive search")
    options.add_argument("--set", default="tuning", help=SET_HELP)
    options.add_argument("--seeds", type=int, default=2, help="runs on each surface")
    options.add_argument("--first-seed", type=int, default=0)
    options.add_argument("--keep", type=Path, help="file of finished runs (JSON), to go on later")
    return options.parse_args()


def lognormal(trial: Trial, slot: Slot, *, seed: int, mean_s: float) -> float:
    """Seconds of a trial, the same on every slot."""
    draw = random.Random(f"{seed} {trial.key} {trial.repetition}")
    return mean_s * draw.lognormvariate(-_SIGMA * _SIGMA / 2, _SIGMA)


# -- the use of slots, and the time of the driver --------------------------------------------------


class _Stopwatch(SimulatedExecutor):
    """Adds up the time that the driver takes from a finished trial until all slots are busy."""

    driver_s: float = 0.0
    _left: float | None = None

    def wait(self) -> Finished:
        if self._left is not None:
            self.driver_s += time.perf_counter() - self._left
        finished = super().wait()
        self._left = time.perf_counter()
        return finished


def _show_slots(*, slots: int, trials: int, mean_s: float) -> None:
    executor = _Stopwatch(slots, _saturating, partial(lognormal, seed=0, mean_s=mean_s))
    subject, search = _listed(trials)
    with tempfile.TemporaryDirectory() as directory, ProfileState(Path(directory)) as state:
        for _ in profile({subject.lane: search}, executor, state):
            pass
        count = len(state.profile.records)
    wall_s = executor.now_s - 1.0
    ideal_s = executor.busy_s / slots
    print(
        f"{slots} slots, {count} trials of about {mean_s:g} s: {ideal_s / wall_s:.1%} of"
        f" the slots' time used, {wall_s / ideal_s:.2f} times the ideal;"
        f" driver {1000 * executor.driver_s / count:.1f} ms per outcome,"
        f" busy for {executor.driver_s / wall_s:.1%} of the time"
    )


def _listed(trials: int) -> tuple[Subject, Search]:
    facts = ModelFacts(name="m", config={"name": "m", "max_batch_size": 8}, files="")
    variants = trials // len(_LOADS) - 1  # the default is measured, too
    options = {
        "model_repository": "/",
        "profile_models": {
            "m": {
                "cpu_only": True,
                "parameters": {"concurrency": _LOADS},
                "model_config_parameters": {
                    "instance_group": [
                        [{"count": count, "kind": "KIND_CPU"}] for count in range(2, variants + 2)
                    ]
                },
            }
        },
    }
    settings = resolve_profile((), parse_yaml(json.dumps(options), "options"), Path("/")).settings
    (model,) = settings.models
    subject = Subject(models=(SearchedModel(facts=facts, settings=model),), setup=ServerSetup())
    return subject, choose(subject, settings.search, VariantNames())


def _saturating(trial: Trial, _slot: Slot) -> Outcome:
    (work,) = trial.workloads
    load = work.load.value
    throughput = 100.0 * min(load, 16)
    values = {"perf_throughput": throughput, "perf_latency_p99": 1000 * load / throughput}
    return Measurement(models=(ModelMeasurement(values=values),))


# -- the quality of an adaptive search -------------------------------------------------------------


def _show_adaptive(options: argparse.Namespace) -> None:
    try:
        chosen = surfaces_of(options.set)
    except ValueError as error:
        sys.exit(f"--set {options.set}: {error}")
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    measured = run_pairs(
        chosen, seeds, options.slots, lambda seed: partial(lognormal, seed=seed, mean_s=1.0),
        options.keep,
    )  # fmt: skip
    print(f"set {options.set}, seeds {seeds[0]} to {seeds[-1]}, {options.slots} slots\n")
    print(table(list(measured)))


# -- real servers on a local cluster ---------------------------------------------------------------


def _show_real(slots: int) -> None:
    """Compares one slot with several: all trials of a list, 36 in 9 variants."""
    with tempfile.TemporaryDirectory() as name, LocalCluster(slots) as cluster:
        one = _measured(Path(name, "one"), cluster.address, 1)
        several = _measured(Path(name, "several"), cluster.address, slots)
    assert one.keys() == several.keys(), "both runs measure the same trials"
    ratios = [
        (several[key].value("perf_throughput") or 0.0) / (one[key].value("perf_throughput") or 1.0)
        for key in one
    ]
    print(
        f"{len(one)} trials: {_wall_s(one):.0f} s with one slot, {_wall_s(several):.0f} s with"
        f" {slots}: {_wall_s(one) / _wall_s(several):.2f} times as fast; throughput"
        f" {median(ratios):.3f} times (median; {min(ratios):.3f} to {max(ratios):.3f})"
    )


def _measured(directory: Path, address: str, slots: int) -> Mapping[str, Measurement]:
    """The measurements of a run, by the key of the trial."""
    directory.mkdir()
    config = {
        "model_repository": str(STARTER),
        "output_model_repository_path": str(directory / "variants"),
        "checkpoint_directory": str(directory / "checkpoints"),
        "export_path": str(directory / "results"),
        "executor": "ray",
        "ray_address": address,
        "slots": slots,
        "slots_per_host": slots,
        "run_config_search_mode": "brute",
        "profile_models": {
            "sim_gpu": {
                "cpu_only": True,
                "parameters": {"concurrency": [1, 2, 4, 8]},
                "model_config_parameters": {
                    "max_batch_size": [2, 4, 8, 16],
                    "instance_group": [
                        [{"count": 1, "kind": "KIND_CPU"}],
                        [{"count": 2, "kind": "KIND_CPU"}],
                    ],
                },
                "perf_analyzer_flags": {
                    "measurement-mode": "time_windows",
                    "measurement-interval": 1000,
                    "stability-percentage": 25,
                },
            }
        },
    }
    path = write_config(directory / "config.yaml", config)
    tool = Path(sys.executable).with_name("model-analyzer")
    timed([str(tool), "profile", "-f", str(path)], cwd=directory, log=directory / "log.txt")
    with ProfileState(directory / "checkpoints") as state:
        return {
            record.trial.key: record.outcome
            for record in state.profile.records
            if isinstance(record.outcome, Measurement)
        }


def _wall_s(measured: Mapping[str, Measurement]) -> float:
    """From the start of the first trial to the end of the last one."""
    ends = [each.started + each.duration_s for each in measured.values()]
    return max(ends) - min(each.started for each in measured.values())


if __name__ == "__main__":
    main()
