# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one trial in each of several slots at once: `python driver.py ADDRESS CONFIG SLOTS`.

It prints a JSON line with the slots when they are ready, or with the error, and then a line for
each outcome. A line of its standard input is the number of a slot that it kills. When the input
ends, it ends the slots in order.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from model_analyzer.app.bench.devices import Job, server_setups
from model_analyzer.app.bench.searched_subjects import searched_subjects
from model_analyzer.config.given_options import GivenOptions
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import ClusterError
from model_analyzer.features.cluster.cluster_bench import slot_order
from model_analyzer.features.cluster.ray_slots import (
    answer,
    cluster_nodes,
    connected,
    kill_slot,
    reserved,
    start_slot,
)
from model_analyzer.features.cluster.slot_places import plan_slots
from model_analyzer.features.cluster.slot_worker import SlotFacts
from model_analyzer.search.choose import choose


def main(address: str, config: str, slots: int) -> None:
    resolved = GivenOptions.of_file(Path(config), os.environ, Path.cwd()).profile()
    job = Job.of(resolved, os.environ)
    order = slot_order(job, uuid.uuid4().hex)
    with connected(address):
        import ray

        wanted = replace(job.settings.executor, slots=slots, per_host=slots)
        places = plan_slots(cluster_nodes(), wanted).places
        with reserved(places, timeout_s=60) as group:
            actors = [start_slot(group, places, index) for index in range(slots)]
            try:
                ready = [answer(r) for r in [actor.prepare.remote(order) for actor in actors]]
            except ClusterError as error:
                say(error=str(error))
                return
            say(
                slots=[
                    {"process": it.process, "threads": it.machine.threads, "server": it.server}
                    for it in ready
                ]
            )
            trial = first_trial(job, ready[0])
            trials = [replace(trial, repetition=number) for number in range(slots)]
            waiting = {
                actor.run.remote(trial): number
                for number, (actor, trial) in enumerate(zip(actors, trials, strict=True))
            }
            orders = threading.Thread(target=kill_ordered, args=(actors,))
            orders.start()
            while waiting:
                [done], _ = ray.wait(list(waiting), num_returns=1)
                say(slot=waiting.pop(done), outcome=outcome_of(done))
            orders.join()
            for actor in actors:
                try:
                    ray.get(actor.end.remote())
                except ray.exceptions.RayError:
                    pass  # the test has killed it
                kill_slot(actor)


def kill_ordered(actors: Sequence[Any]) -> None:
    for line in sys.stdin:
        kill_slot(actors[int(line)])


def first_trial(job: Job, slot: SlotFacts) -> Trial:
    [subject] = searched_subjects(job.settings, slot.facts)
    setup = server_setups(job.settings, (), {})[subject.models[0].facts.name]
    placed = replace(subject, setup=replace(setup, version=slot.server))
    trial = choose(placed.without_gpus(), job.settings.search, VariantNames()).ask()
    assert trial is not None
    return trial


def outcome_of(reference: Any) -> str:
    import ray

    try:
        return type(answer(reference).outcome).__name__
    except ray.exceptions.RayError as error:
        return type(error).__name__


def say(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
