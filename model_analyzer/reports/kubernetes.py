# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The recommendation as a Kubernetes manifest, deployed as it was measured.

A comment beside each number explains how it follows from the measurement.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from model_analyzer.domain.flags import COMPLETION, TRITON_SERVER_OWNED
from model_analyzer.domain.hardware import MIG, with_place
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.secrets import MASK, is_masked
from model_analyzer.domain.trials import ServerSetup, under
from model_analyzer.domain.words import number_text
from model_analyzer.reports.build import ReportOrigin
from model_analyzer.reports.headline import values_text
from model_analyzer.reports.method import minute_text
from model_analyzer.reports.parameters import swept_text
from model_analyzer.reports.remarks import certainty_text, miss_text, remarks_of
from model_analyzer.reports.templating import Commented, render_yaml
from model_analyzer.results.answer import Answer
from model_analyzer.results.ranking import Ranking

# Requested memory as a multiple of the measured memory: other loads may need more.
_HEADROOM = 1.25

# Container 22.01 has Triton 2.18; each month until 25.06 has the next minor version.
_FIRST_MINOR, _LAST_MINOR = 18, 59
_FIRST_YEAR = 22

_LONGEST_NAME = 52  # Kubernetes allows 63 and appends suffixes


def manifest(
    answer: Answer,
    origin: ReportOrigin,
    configurations: Mapping[str, str],
    *,
    throughput: float | None = None,
) -> str:
    """ConfigMap, Deployment and Service for the recommendation, with its remarks as comments.

    `configurations` are the texts of config.pbtxt by model, composing models included; each is
    mounted over the file in the model repository. The number of replicas is enough for
    `throughput` inferences per second, or 1 if None.
    """
    best = answer.ranking.results[0]
    setup = best.best.trial.setup
    served = [part for work in best.best.trial.workloads for part in work.variant.served]
    files = _file_names(configurations)
    cores = origin.on_kind_of(answer.ranking).cores
    requests, unknown = _requests(best.best, served, cores)
    return render_yaml(
        "kubernetes.yaml.j2",
        remarks=head_remarks(answer, origin),
        name=object_name(answer.ranking.model),
        configurations={files[model]: text for model, text in configurations.items()},
        files={f"/models/{model}/config.pbtxt": file for model, file in files.items()},
        replicas=_replicas(answer.ranking, throughput),
        image=_image(setup),
        flags=[*(f"--load-model={model}" for model in files), *_flags(setup)],
        environment=[
            (name, _secret(MASK if is_masked(value) else value))
            for name, value in setup.kept_environment.items()
        ],
        gpus=_gpus(best.best, served),
        requests=requests,
        unknown=unknown,
        has_python=any(part.platform == "python" for part in served),
    )


def head_remarks(answer: Answer, origin: ReportOrigin) -> Iterator[str]:
    """What is recommended, where it comes from, and how sure it is."""
    best = answer.ranking.results[0]
    if not best.passes:
        yield miss_text(answer)
    name = with_place(best.name, answer.ranking.hardware)
    swept = swept_text(answer.ranking, with_default=True)
    yield f"{name}{swept and f' ({swept})'}: {_performance(answer.ranking)}"
    yield f"from checkpoint {origin.checkpoint}, by {origin.tool}, {origin.written}"
    for proof in answer.proofs:
        yield f"{proof.verdict.value}, {minute_text(proof.at)} UTC: {proof.sentence}"
    yield from filter(None, (certainty_text(answer), *remarks_of(answer)))


def _performance(ranking: Ranking) -> str:
    """The values and the load of the best measurement."""
    best = ranking.results[0]
    values = values_text(best, ranking.goal, ranking.currency) or "unknown throughput"
    return f"{values} {under(best.best.trial)}"


def _replicas(ranking: Ranking, wanted: float | None) -> Commented:
    """The number of servers for `wanted` inferences per second, at the measured throughput."""
    measured = ranking.results[0].best.measurement.value("perf_throughput")
    if wanted is None:
        return Commented(1, f"measured with one replica: {_performance(ranking)}")
    if not measured:
        return Commented(1, f"number for {wanted:g} infer/sec unknown: throughput was not measured")
    replicas = max(1, math.ceil(wanted / measured))
    works = ranking.results[0].best.trial.workloads
    parts = [part for work in works for part in work.variant.with_parts()]
    has_sequences = replicas > 1 and any("sequence_batching" in part.config for part in parts)
    return Commented(
        replicas,
        f"{wanted:g} infer/sec at {number_text(measured)} infer/sec per replica, rounded up;"
        " assumes evenly distributed load, no shared hardware, and no reserve"
        + ("; all requests of a sequence must reach the same replica" if has_sequences else ""),
    )


def _image(setup: ServerSetup) -> Commented:
    """The measured container image, or one with the same server version."""
    measured = setup.container.get("image")
    if measured:
        return Commented(str(measured), "as measured")
    release = _release(setup.version)
    image = "nvcr.io/nvidia/tritonserver"
    if release is None:
        version = setup.version or "of an unknown version"
        return Commented(
            f"{image}:RELEASE-py3", f"replace with the release that has Triton {version}"
        )
    return Commented(f"{image}:{release}-py3", f"Triton {setup.version}, as measured")


def _release(version: str) -> str | None:
    """The monthly container release with this version of Triton, for example 23.04, or None."""
    match = re.match(r"2\.(\d+)\.", version)
    if match is None or not _FIRST_MINOR <= int(match[1]) <= _LAST_MINOR:
        return None
    years, month = divmod(int(match[1]) - _FIRST_MINOR, 12)
    return f"{_FIRST_YEAR + years}.{month + 1:02}"


def _flags(setup: ServerSetup) -> Iterator[str | Commented]:
    """The user's server flags, without those that each deployment sets itself."""
    for name, value in setup.meaning["flags"].items():
        if name in (*TRITON_SERVER_OWNED, *COMPLETION):
            continue
        for item in value if isinstance(value, list) else [value]:
            yield _secret(f"--{name}={item}")


def _secret(text: str) -> str | Commented:
    return Commented(text, "replace: checkpoints do not store its value") if MASK in text else text


def _requests(
    item: MeasuredTrial, served: Sequence[ModelVariant], cores: int | None
) -> tuple[Mapping[str, Commented], Sequence[str]]:
    """Resource requests of a server: measured memory, and all `cores` if models run on CPUs. Also
    returns a line for each request that is unknown.
    """
    requests: dict[str, Commented] = {}
    unknown = []
    on_cpus = [
        kind for part in served for _, kind in part.instances(gpus=item.trial.gpus) if kind == "CPU"
    ]
    if on_cpus and cores is not None:
        requests["cpu"] = Commented(
            cores,
            "all cores of the measured machine, which also generated the load",
        )
    elif on_cpus:
        unknown.append("cpu: unknown, since the number of cores of the measured machine is unknown")
    memory = item.measurement.value("cpu_used_ram")
    if memory:
        requests["memory"] = Commented(
            f"{math.ceil(memory * _HEADROOM)}M",
            f"{number_text(memory)} MB measured, plus {100 * (_HEADROOM - 1):.0f} % for other"
            " loads",
        )
    else:
        unknown.append("memory: not measured (measure it with --collect-cpu-metrics)")
    return requests, unknown


def _gpus(item: MeasuredTrial, served: Sequence[ModelVariant]) -> Commented | None:
    """The number of GPUs that a server needs; None if 0."""
    count = _needed_gpus(served, item.trial.gpus)
    if not count:
        return None
    names = ", ".join(dict.fromkeys(item.trial.setup.devices))
    is_mig = any(MIG in name for name in item.trial.setup.devices)
    part = " (MIG: use the resource name of your cluster)" if is_mig else ""
    return Commented(count, f"measured on {names}{part}")


def _needed_gpus(served: Iterable[ModelVariant], present: int) -> int:
    """The number of visible GPUs that instances need to run on the same GPU indices as measured."""
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


def object_name(model: str) -> str:
    """A valid Kubernetes object name for a model."""
    name = re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:_LONGEST_NAME]
    return f"triton-{name}".rstrip("-")


def _file_names(models: Iterable[str]) -> Mapping[str, str]:
    """A unique, valid ConfigMap key for the configuration of each model."""
    names: dict[str, str] = {}
    for model in models:
        name = re.sub(r"[^-._a-zA-Z0-9]", "_", model)
        while f"{name}.pbtxt" in names.values():
            name += "_"
        names[model] = f"{name}.pbtxt"
    return names
