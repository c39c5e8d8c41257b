# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The Kubernetes objects of a run, as data. deploy/helm/model-analyzer renders the same ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["job", "rayjob"]
Object = Mapping[str, Any]

# Where a pod has its files.
CONFIG, MODELS, DATA, VARIANTS = "/config/config.yaml", "/models", "/data", "/tmp/variants"

_NAME, _COMPONENT = "app.kubernetes.io/name", "app.kubernetes.io/component"
_USER = 1000
_GRACE_S = 120
_TMP = CACHE_SIZE = "16Gi"

# What the user fills in, or the chart takes as a value: the size of the claim for checkpoints, the
# memory that Python models share, how often a failed run starts again, and the version of Ray.
_CLAIM, _SHARED, _RETRIES, RAY_VERSION = "10Gi", "4Gi", 6, "2.60.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDeployment:
    """A run on Kubernetes.

    `config` is the text of the YAML file. `gpus` and `cpus` are those of each measuring pod; cpus
    is 0 for no limit. `models_claim` is "" if no volume has the model repository.
    """

    kind: Kind
    name: str
    image: str
    config: str
    workers: int
    gpus: int
    cpus: int
    models_claim: str


def profile_flags(kind: Kind, *, has_models: bool) -> tuple[tuple[str, str], ...]:
    """The flags of `profile` in a pod, with their values."""
    flags = (
        ("--executor", "ray" if kind == "rayjob" else "local"),
        *((("--ray-address", "auto"),) if kind == "rayjob" else ()),
        *((("--model-repository", MODELS),) if has_models else ()),
        ("--output-model-repository-path", VARIANTS),
        ("--checkpoint-directory", f"{DATA}/checkpoints"),
        ("--export-path", f"{DATA}/results"),
        ("--progress", "plain"),
    )
    return flags


def values_of(run: RunDeployment) -> Object:
    """The values with which the Helm chart renders the same objects."""
    return {
        "kind": run.kind,
        "name": run.name,
        "image": run.image,
        "rayVersion": RAY_VERSION,
        "workers": run.workers,
        "gpus": run.gpus,
        "cpus": run.cpus,
        "modelsClaim": run.models_claim,
        "checkpoints": {"size": _CLAIM, "storageClass": ""},
        "sharedMemory": _SHARED,
        "backoffLimit": _RETRIES,
        "config": run.config,
    }


def objects_of(run: RunDeployment) -> Iterator[Object]:
    """Service account, configuration, claim for checkpoints, and the Job or RayJob."""
    meta = _meta(run)
    yield {
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta,
        "automountServiceAccountToken": False,
    }  # fmt: skip
    yield {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": meta,
        "data": {"config.yaml": run.config},
    }  # fmt: skip
    yield {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta,
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": _CLAIM}},
        },
    }  # fmt: skip
    yield _ray_job(run) if run.kind == "rayjob" else _job(run)


def _meta(run: RunDeployment) -> Object:
    return {"name": run.name, "labels": {_NAME: "model-analyzer"}}


def _command(run: RunDeployment) -> list[str]:
    flags = profile_flags(run.kind, has_models=bool(run.models_claim))
    return ["model-analyzer", "profile", "-f", CONFIG, *(word for pair in flags for word in pair)]


def _job(run: RunDeployment) -> Object:
    template = _template(run, "slot", {"name": "profile", "command": _command(run)}, has_data=True)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _meta(run),
        "spec": {
            "backoffLimit": _RETRIES,
            "podFailurePolicy": {
                "rules": [
                    {
                        "action": "Ignore",
                        "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
                    },
                    {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [2]}},
                ]
            },
            "template": template,
        },
    }


def _ray_job(run: RunDeployment) -> Object:
    memory = "200000000"  # bytes: outcomes are small
    head = {
        "name": "ray-head",
        "ports": [
            {"name": "gcs-server", "containerPort": 6379},
            {"name": "dashboard", "containerPort": 8265},
        ],
    }
    start = {"num-cpus": "0", "num-gpus": "0", "object-store-memory": memory}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": _meta(run),
        "spec": {
            "entrypoint": " ".join(_command(run)),
            "backoffLimit": _RETRIES,
            "shutdownAfterJobFinishes": True,
            "submitterPodTemplate": _template(run, "submitter", {"name": "ray-job-submitter"}),
            "rayClusterSpec": {
                "rayVersion": RAY_VERSION,
                "headGroupSpec": {
                    "rayStartParams": {"dashboard-host": "0.0.0.0", **start},
                    "template": _template(run, "driver", head, has_data=True),
                },
                "workerGroupSpecs": [
                    {
                        "groupName": "slots",
                        "replicas": run.workers,
                        "minReplicas": run.workers,
                        "maxReplicas": run.workers,
                        "rayStartParams": {"object-store-memory": memory},
                        "template": _template(run, "slot", {"name": "ray-worker"}),
                    }
                ],
            },
        },
    }


def _template(
    run: RunDeployment, component: str, container: Object, *, has_data: bool = False
) -> Object:
    """A pod; only a `slot` measures, so it gets GPUs and a node for itself."""
    labels = {_NAME: "model-analyzer", _COMPONENT: component}
    is_slot = component == "slot"
    return {
        "metadata": {"labels": labels},
        "spec": {
            "serviceAccountName": run.name,
            "automountServiceAccountToken": False,
            **({} if run.kind == "rayjob" and component != "submitter" else _ENDS),
            "terminationGracePeriodSeconds": _GRACE_S,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": _USER,
                "runAsGroup": _USER,
                "fsGroup": _USER,
                "fsGroupChangePolicy": "OnRootMismatch",
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            **({"affinity": _alone(labels)} if is_slot else {}),
            "containers": [_container(run, container, is_slot=is_slot, has_data=has_data)],
            "volumes": _volumes(run, has_data=has_data),
        },
    }


_ENDS: Object = {"restartPolicy": "Never"}


def _alone(labels: Object) -> Object:
    """Never two measuring pods on a node, whatever run they are of."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _container(run: RunDeployment, own: Object, *, is_slot: bool, has_data: bool) -> Object:
    limits: dict[str, Any] = {}
    if is_slot and run.cpus:
        limits["cpu"] = run.cpus
    if is_slot and run.gpus:
        limits["nvidia.com/gpu"] = run.gpus
    models = [{"name": "models", "mountPath": MODELS, "readOnly": True}]
    data = [
        {"name": "data", "mountPath": DATA},
        {"name": "config", "mountPath": "/config", "readOnly": True},
    ]
    return {
        **own,
        "image": run.image,
        "workingDir": DATA if has_data else "/tmp",
        "env": [
            {"name": "HOME", "value": "/tmp"},
            {"name": "XDG_CACHE_HOME", "value": "/cache"},
            {"name": "RAY_worker_niceness", "value": "0"},
        ],
        "envFrom": [{"secretRef": {"name": f"{run.name}-environment", "optional": True}}],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "resources": {"limits": limits, "requests": limits} if limits else {},
        "volumeMounts": [
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "cache", "mountPath": "/cache"},
            {"name": "shared-memory", "mountPath": "/dev/shm"},
            *(models if run.models_claim else ()),
            *(data if has_data else ()),
        ],
    }


def _volumes(run: RunDeployment, *, has_data: bool) -> list[Object]:
    claim = {"claimName": run.models_claim, "readOnly": True}
    models = [{"name": "models", "persistentVolumeClaim": claim}]
    data = [
        {"name": "data", "persistentVolumeClaim": {"claimName": run.name}},
        {"name": "config", "configMap": {"name": run.name}},
    ]
    memory = {"medium": "Memory", "sizeLimit": _SHARED}
    return [
        {"name": "tmp", "emptyDir": {"sizeLimit": _TMP}},
        {"name": "cache", "emptyDir": {"sizeLimit": CACHE_SIZE}},
        {"name": "shared-memory", "emptyDir": memory},
        *(models if run.models_claim else ()),
        *(data if has_data else ()),
    ]
