# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reports to be opened: of made-up results of each kind, and of recorded runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.hardware import Device, Machine
from model_analyzer.domain.measurements import Measurement, Notice, NoticeKind
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.reports.build import Detail, Page, build_detail
from model_analyzer.results.ranking import Ranking, rank
from model_analyzer.state.checkpoint import read_file
from tests.unit.builders import (
    at_most,
    failure,
    goal,
    measurement,
    origin,
    rank_one,
    ranking,
    record,
    summary_page,
    variant,
)

RECORDED = Path(__file__).parents[1] / "golden" / "upstream"

DIFFERENCE = """\
--- m/config.pbtxt
+++ best/m/config.pbtxt
@@ -1,3 +1,4 @@
 name: "m"
-max_batch_size: 1
+max_batch_size: 8
+dynamic_batching {
+}"""


def measured(
    instances: int, batch: int, concurrency: int, *, speed: float = 1, **more: Any
) -> Measurement:
    """What a server of a simple kind would give."""
    work = speed * instances * (1 + 0.8 * (min(batch, concurrency) - 1))
    throughput = 150 * work * concurrency / (concurrency + work)
    p99 = 1200 * concurrency / throughput
    return measurement(
        throughput,
        p99,
        windows=[throughput * factor for factor in (0.98, 1, 1.01)],
        requests=round(throughput * 5),
        host={"cpu_used_ram": 300.0 + 120 * instances},
        commands=[f"perf_analyzer -m m --concurrency-range {concurrency}"],
        perf_client_send_recv=0.2,
        perf_client_response_wait=p99 * 0.8,
        perf_server_queue=p99 * 0.3,
        perf_server_compute_input=0.1,
        perf_server_compute_infer=p99 * 0.4,
        perf_server_compute_output=0.1,
        **more,
    )


def records(model: str = "m", instances: int = 3, loads: int = 5, **more: Any) -> list[TrialRecord]:
    """The default and a few variants of a model, each under some loads."""
    default = variant(f"{model}_config_default", model=model, max_batch_size=1, backend="python")
    made = [record(default, measured(1, 1, 2**n, **more), concurrency=2**n) for n in range(loads)]
    for count in range(1, instances + 1):
        for place, batch in enumerate((2, 8)):
            changed = variant(
                f"{model}_config_{2 * count + place - 2}",
                model=model,
                backend="python",
                max_batch_size=batch,
                dynamic_batching={},
                instance_group=[{"count": count, "kind": "KIND_CPU"}],
            )
            made += [
                record(changed, measured(count, batch, 2**n, **more), concurrency=2**n)
                for n in range(loads)
            ]
    return made


def summary(*ranked: Ranking, complete: bool = True, offline: bool = False) -> Page:
    return summary_page(
        *ranked,
        where=origin(System="Linux 6.1", Server="tritonserver 2.51.0"),
        difference=DIFFERENCE,
        complete=complete,
        offline=offline,
    )


def detail(ranked: Ranking) -> Detail:
    return build_detail(
        ranked.results[0],
        goal=ranked.goal,
        origin=origin(System="Linux 6.1"),
        configuration='name: "m"\n',
    )


def met() -> Ranking:
    return ranking(*records(), by=goal(*at_most(perf_latency_p99=40)))


def none_feasible() -> Ranking:
    return ranking(*records(), by=goal(*at_most(perf_latency_p99=2)))


def failures() -> Ranking:
    broken = variant("m_config_9", max_batch_size=64)
    notice = Notice(kind=NoticeKind.UNSTABLE, text="m_config_0 at concurrency 2: windows differ")
    return ranking(
        *records(instances=1),
        record(variant("m_config_7", max_batch_size=4), measurement(900, 9.5, notices=[notice])),
        *(
            record(broken, failure("the model ran out of memory"), concurrency=n)
            for n in range(1, 4)
        ),
    )


def tokens() -> Ranking:
    more: dict[str, Any] = {
        "output_token_throughput": 812.5,
        "time_to_first_token_p99": 48.25,
        "inter_token_latency_p99": 11.75,
    }
    return ranking(
        *records(**more), by=goal(*at_most(time_to_first_token_p99=60, inter_token_latency_p99=10))
    )


def hostile(name: str) -> Ranking:
    return ranking(
        *records(name, instances=1),
        record(variant(f"{name}_config_9", model=name), failure(f"failed {name}"), concurrency=99),
        model=name,
    )


def of_kinds() -> Sequence[Ranking]:
    """Two kinds of hardware, one of them three times as fast."""
    on_each = [
        TrialRecord(
            trial=replace(each.trial, setup=ServerSetup(devices=gpus)),
            outcome=replace(
                each.outcome,
                machine=Machine(
                    host=host,
                    devices=tuple(
                        Device(uuid=f"GPU-{host}-{place}", name=name, memory=memory)
                        for place, name in enumerate(gpus)
                    ),
                    driver="550.54",
                    processor="AMD EPYC 9354",
                    cores=cores,
                ),
            ),
        )
        for host, gpus, memory, cores, speed in (
            ("node-1", ("NVIDIA L4", "NVIDIA L4"), 24_000, 16, 1.0),
            ("node-2", ("NVIDIA H100 80GB HBM3",), 80_000, 32, 3.0),
        )
        for each in records(speed=speed)
    ]
    by = goal(*at_most(perf_latency_p99=40))
    return rank(Profile(records=on_each), "m", by)


def nothing() -> Ranking:
    return ranking(record(variant(), failure()))


def recorded(name: str) -> Ranking:
    """The ranking of the first models in a checkpoint of a real run."""
    profile = read_file(RECORDED / f"{name}.ckpt").profile
    models = next(iter(profile.records)).trial.models
    return rank_one(profile, models, Goal(models=(ModelGoal(),) * len(models.split(","))))


PAGES: Mapping[str, Callable[[], Page | Detail]] = {
    "met": lambda: summary(met()),
    "none-feasible": lambda: summary(none_feasible()),
    "failures": lambda: summary(failures(), complete=False),
    "tokens": lambda: summary(tokens()),
    "nothing": lambda: summary(nothing()),
    "kinds": lambda: summary(*of_kinds()),
    "detail": lambda: detail(met()),
    "offline": lambda: summary(recorded("manual"), offline=True),
    "several-models": lambda: summary(recorded("several_models")),
    "ensemble": lambda: summary(recorded("ensemble")),
    "bls": lambda: summary(recorded("bls")),
    "request-rate": lambda: summary(recorded("request_rate")),
    "request-intervals": lambda: summary(recorded("request_intervals")),
}
