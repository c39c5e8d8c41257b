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
from model_analyzer.reports.build import Origin
from model_analyzer.reports.commented_yaml import Noted, comment, to_yaml
from model_analyzer.reports.headline import latency_text
from model_analyzer.reports.loads import load_text
from model_analyzer.reports.remarks import certainty_text, miss_text, remarks_of
from model_analyzer.reports.tables import show
from model_analyzer.results.answer import Answer
from model_analyzer.results.ranking import VariantResult

# Memory that is asked for, over what was measured: other loads take more.
_HEADROOM = 1.25

# Triton 2.18 came in the container 22.01, and a minor version with each month until 25.06.
_FIRST_MINOR, _LAST_MINOR = 18, 59
_FIRST_YEAR = 22

_LONGEST_NAME = 52  # Kubernetes takes 63 and appends to some

_PORTS = {"http": 8000, "grpc": 8001, "metrics": 8002}


def manifest(
    answer: Answer,
    origin: Origin,
    configurations: Mapping[str, str],
    *,
    throughput: float | None = None,
) -> str:
    """ConfigMap, Deployment and Service for what is recommended, with the remarks about it.

    `configurations` are the config.pbtxt of its models and of all that they call, by model.
    There are as many replicas as serve `throughput` inferences per second, or one.
    """
    ranking = answer.ranking
    best = ranking.results[0]
    name = _object_name(ranking.model)
    files = _file_names(configurations)
    head = [
        f"{best.name}: {_measured(best, ranking.goal)}",
        f"from checkpoint {origin.checkpoint}, by {origin.tool}, {origin.written}",
    ]
    if not best.passes:
        head.insert(0, miss_text(answer))
    head += filter(None, (certainty_text(answer), *remarks_of(answer)))
    objects = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": _metadata(name),
            "data": {files[model]: text for model, text in configurations.items()},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": _metadata(name),
            "spec": {
                "replicas": _replicas(best, ranking.goal, throughput),
                "selector": {"matchLabels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": _pod(name, best.best, origin, files),
                },
            },
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": _metadata(name),
            "spec": {
                "selector": {"app": name},
                "ports": [
                    {"name": port, "port": number, "targetPort": port}
                    for port, number in _PORTS.items()
                ],
            },
        },
    ]
    return "".join(f"{comment(line)}\n" for line in head) + "---\n".join(map(to_yaml, objects))


def _metadata(name: str) -> dict[str, Any]:
    return {"name": name, "labels": {"app": name}}


def _pod(
    name: str, item: MeasuredTrial, origin: Origin, files: Mapping[str, str]
) -> dict[str, Any]:
    """The container with the server, and what it mounts. `files` are those of the configurations
    by model: each lies over the one in the model repository.
    """
    setup = item.trial.setup
    served = _served(item)
    mounts = [{"name": "models", "mountPath": "/models"}]
    mounts += [
        {
            "name": "configurations",
            "mountPath": f"/models/{model}/config.pbtxt",
            "subPath": file,
        }
        for model, file in files.items()
    ]
    volumes: list[dict[str, Any]] = [
        {
            "name": "models",
            "persistentVolumeClaim": {
                "claimName": Noted("model-repository", "replace: your volume with the models")
            },
        },
        {"name": "configurations", "configMap": {"name": name}},
    ]
    if any(part.platform == "python" for part in served):
        mounts.append({"name": "shared-memory", "mountPath": "/dev/shm"})
        volumes.append(
            {
                "name": "shared-memory",
                "emptyDir": {
                    "medium": Noted("Memory", "Python models pass tensors here; 64M is the default")
                },
            }
        )
    environment = list(_environment(setup))
    return {
        "containers": [
            {
                "name": "triton",
                "image": _image(setup),
                "args": [
                    "tritonserver",
                    "--model-repository=/models",
                    "--model-control-mode=explicit",
                    *(f"--load-model={model}" for model in files),
                    *_flags(setup),
                ],
                **({"env": environment} if environment else {}),
                "ports": [
                    {"name": port, "containerPort": number} for port, number in _PORTS.items()
                ],
                "startupProbe": {
                    **_probe("ready"),
                    "failureThreshold": Noted(60, "ten minutes for the models to load"),
                },
                "readinessProbe": _probe("ready"),
                "livenessProbe": _probe("live"),
                "resources": _resources(item, served, origin),
                "volumeMounts": mounts,
            }
        ],
        "volumes": volumes,
    }


def _probe(what: str) -> dict[str, Any]:
    return {"httpGet": {"path": f"/v2/health/{what}", "port": "http"}, "periodSeconds": 10}


def _served(item: MeasuredTrial) -> Sequence[ModelVariant]:
    return [part for work in item.trial.workloads for part in work.variant.served]


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


def _environment(setup: ServerSetup) -> Iterator[dict[str, Any]]:
    for name, value in setup.kept_environment.items():
        yield {"name": name, "value": _secret(MASK if is_masked(value) else value)}


def _secret(text: str) -> str | Noted:
    return Noted(text, "replace: its value is not kept") if MASK in text else text


def _resources(
    item: MeasuredTrial, served: Sequence[ModelVariant], origin: Origin
) -> dict[str, Any]:
    """What a server needs: memory as measured, the cores of the machine where the models run on
    CPUs, GPUs as its instances need them.
    """
    devices = len(item.trial.setup.devices)
    requests: dict[str, Any] = {}
    unknown = []
    cores = re.search(r", (\d+) cores$", origin.host.get("Processor", ""))
    on_cpus = [kind for part in served for _, kind in part.instances(gpus=devices) if kind == "CPU"]
    if on_cpus and cores is not None:
        requests["cpu"] = Noted(
            int(cores[1]),
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
    gpus = _gpus(served, devices)
    resources: dict[str, Any] = {}
    if gpus:
        names = ", ".join(dict.fromkeys(device.name for device in origin.devices))
        part = " (a part of a GPU: see what your cluster calls it)" if _is_mig(item) else ""
        resources["limits"] = {"nvidia.com/gpu": Noted(gpus, f"measured on {names}{part}")}
    resources["requests"] = Noted(requests, "; ".join(unknown)) if unknown else requests
    return resources


def _gpus(served: Iterable[ModelVariant], present: int) -> int:
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
