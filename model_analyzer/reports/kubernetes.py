# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The recommendation as a Kubernetes manifest: what was measured, deployed as it was measured.

Every number in it follows from the measurement, and the comment beside it says how.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from model_analyzer.domain.environment import is_masked
from model_analyzer.domain.flags import TRITON_SERVER_OWNED
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.secrets import MASK
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.reports.build import ReportOrigin
from model_analyzer.reports.headline import latency_text
from model_analyzer.reports.loads import load_text
from model_analyzer.reports.remarks import certainty_text, miss_text, remarks_of
from model_analyzer.reports.templating import Noted, render_yaml
from model_analyzer.results.answer import Answer
from model_analyzer.results.columns import show
from model_analyzer.results.ranking import VariantResult

# Memory that is asked for, over what was measured: other loads take more.
_HEADROOM = 1.25

# Triton 2.18 came in the container 22.01, and a minor version with each month until 25.06.
_FIRST_MINOR, _LAST_MINOR = 18, 59
_FIRST_YEAR = 22

_LONGEST_NAME = 52  # Kubernetes takes 63 and appends to some


def manifest(
    answer: Answer,
    origin: ReportOrigin,
    configurations: Mapping[str, str],
    *,
    throughput: float | None = None,
) -> str:
    """ConfigMap, Deployment and Service for what is recommended, with the remarks about it.

    `configurations` are the config.pbtxt of its models and of all that they call, by model: each
    lies over the one in the model repository. There are as many replicas as serve `throughput`
    inferences per second, or one.
    """
    best = answer.ranking.results[0]
    setup = best.best.trial.setup
    served = [part for work in best.best.trial.workloads for part in work.variant.served]
    files = _file_names(configurations)
    requests, unknown = _requests(best.best, served, origin)
    return render_yaml(
        "kubernetes.yaml.j2",
        remarks=_remarks(answer, origin),
        name=_object_name(answer.ranking.model),
        configurations={files[model]: text for model, text in configurations.items()},
        files={f"/models/{model}/config.pbtxt": file for model, file in files.items()},
        replicas=_replicas(best, answer.ranking.goal, throughput),
        image=_image(setup),
        flags=[*(f"--load-model={model}" for model in files), *_flags(setup)],
        environment=[
            (name, _secret(MASK if is_masked(value) else value))
            for name, value in setup.kept_environment.items()
        ],
        gpus=_gpus(best.best, served, origin),
        requests=requests,
        unknown=unknown,
        has_python=any(part.platform == "python" for part in served),
    )


def _remarks(answer: Answer, origin: ReportOrigin) -> Iterator[str]:
    best = answer.ranking.results[0]
    if not best.passes:
        yield miss_text(answer)
    yield f"{best.name}: {_measured(best, answer.ranking.goal)}"
    yield f"from checkpoint {origin.checkpoint}, by {origin.tool}, {origin.written}"
    yield from filter(None, (certainty_text(answer), *remarks_of(answer)))


def _measured(result: VariantResult, goal: Goal) -> str:
    """What one server gave, with the latency that is bounded (else the p99), and its load."""
    measurement = result.best.measurement
    throughput = measurement.value("perf_throughput")
    values = f"{show(throughput)} infer/sec" if throughput is not None else "no throughput known"
    latency = latency_text(result, goal)
    return f"{values}{latency and f' at {latency}'}, {load_text(result.best.trial)}"


def _replicas(result: VariantResult, goal: Goal, wanted: float | None) -> Noted:
    """How many servers give `wanted` inferences per second, if each gives what was measured."""
    item = result.best
    one = item.measurement.value("perf_throughput")
    if wanted is None:
        return Noted(1, f"measured with one: {_measured(result, goal)}")
    if not one:
        return Noted(1, f"unknown for {wanted:g} infer/sec: throughput was not measured")
    return Noted(
        max(1, math.ceil(wanted / one)),
        f"{wanted:g} infer/sec over {show(one)} of each, rounded up; assumes an even load, nothing"
        " shared between them, and none to spare",
    )


def _image(setup: ServerSetup) -> Noted:
    """The container image that was measured, or the one with the same server."""
    used = setup.container.get("image")
    if used:
        return Noted(str(used), "as measured")
    release = _release(setup.version)
    image = "nvcr.io/nvidia/tritonserver"
    if release is None:
        version = setup.version or "of an unknown version"
        return Noted(f"{image}:RELEASE-py3", f"replace: the release with Triton {version}")
    return Noted(f"{image}:{release}-py3", f"has Triton {setup.version}, as measured")


def _release(version: str) -> str | None:
    """The monthly container release with this version of Triton, as far as that is known."""
    found = re.match(r"2\.(\d+)\.", version)
    if found is None or not _FIRST_MINOR <= int(found[1]) <= _LAST_MINOR:
        return None
    years, month = divmod(int(found[1]) - _FIRST_MINOR, 12)
    return f"{_FIRST_YEAR + years}.{month + 1:02}"


def _flags(setup: ServerSetup) -> Iterator[str | Noted]:
    """The user's flags of the server, without those that every deployment has of its own."""
    for name, value in setup.meaning["flags"].items():
        if name in TRITON_SERVER_OWNED:
            continue
        for item in value if isinstance(value, list) else [value]:
            yield _secret(f"--{name}={item}")


def _secret(text: str) -> str | Noted:
    return Noted(text, "replace: its value is not kept") if MASK in text else text


def _requests(
    item: MeasuredTrial, served: Sequence[ModelVariant], origin: ReportOrigin
) -> tuple[Mapping[str, Noted], Sequence[str]]:
    """What a server needs: memory as measured, and the cores of the machine where the models run
    on CPUs. And what of that is unknown.
    """
    devices = len(item.trial.setup.devices)
    requests: dict[str, Noted] = {}
    unknown = []
    on_cpus = [kind for part in served for _, kind in part.instances(gpus=devices) if kind == "CPU"]
    if on_cpus and origin.cores is not None:
        requests["cpu"] = Noted(
            origin.cores,
            "all cores of the machine that measured it, which also generated the load",
        )
    elif on_cpus:
        unknown.append("cpu: the number of cores of the machine that measured it is unknown")
    memory = item.measurement.value("cpu_used_ram")
    if memory:
        requests["memory"] = Noted(
            f"{math.ceil(memory * _HEADROOM)}M",
            f"{show(memory)} MB measured, and {_HEADROOM - 1:.0%} for other loads",
        )
    else:
        unknown.append("memory: not measured, which --collect-cpu-metrics does")
    return requests, unknown


def _gpus(
    item: MeasuredTrial, served: Sequence[ModelVariant], origin: ReportOrigin
) -> Noted | None:
    """The GPUs of a server, None if it needs none."""
    count = _needed_gpus(served, len(item.trial.setup.devices))
    if not count:
        return None
    names = ", ".join(dict.fromkeys(device.name for device in origin.devices))
    part = " (a part of a GPU: see what your cluster calls it)" if _is_mig(item) else ""
    return Noted(count, f"measured on {names}{part}")


def _needed_gpus(served: Iterable[ModelVariant], present: int) -> int:
    """How many GPUs a server needs to see, so that each instance finds the one that it had."""
    needed = 0
    for part in served:
        if not part.uses_gpus(gpus=present):
            continue
        groups: Sequence[Mapping[str, Any]] = part.config.get("instance_group") or ({},)
        for group in groups:
            if group.get("kind") != "KIND_CPU":
                named = [int(index) + 1 for index in group.get("gpus", ())]
                needed = max(needed, *named, 0 if named else max(present, 1))
    return needed


def _is_mig(item: MeasuredTrial) -> bool:
    return any(uuid.startswith("MIG-") for uuid in item.trial.setup.devices)


def _object_name(model: str) -> str:
    """The name of a model as Kubernetes takes one."""
    name = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:_LONGEST_NAME]
    return f"triton-{name}".rstrip("-")


def _file_names(models: Iterable[str]) -> Mapping[str, str]:
    """For each model a name for its configuration that a ConfigMap takes, no two the same."""
    names: dict[str, str] = {}
    for model in models:
        name = re.sub(r"[^-._a-zA-Z0-9]", "_", model)
        while f"{name}.pbtxt" in names.values():
            name += "_"
        names[model] = f"{name}.pbtxt"
    return names
