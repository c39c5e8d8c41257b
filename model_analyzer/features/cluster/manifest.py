# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What Kubernetes needs to run `profile`: manifests, or values of the Helm chart.

Only the file counts: environment variables of this machine do not exist in a pod.

The Kubernetes objects of a run, as data. deploy/helm/model-analyzer renders the same ones.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from model_analyzer.config.given_options import GivenOptions
from model_analyzer.config.kinds import is_url
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.resolve import Resolved
from model_analyzer.config.sources import parse_yaml, read_text
from model_analyzer.config.table import VARIABLE_PREFIX
from model_analyzer.domain.secrets import is_secret_name, masked_text, masked_url
from model_analyzer.domain.settings import ExecutorKind, LaunchMode, ProfileSettings
from model_analyzer.errors import ConfigError, Problem, wrong
from model_analyzer.reports.templating import yaml_documents

Kind = Literal["job", "rayjob"]
Object = Mapping[str, Any]

# Where a pod has its files.
CONFIG, MODELS, DATA, VARIANTS = "/config/config.yaml", "/models", "/data", "/tmp/variants"

_NAME_LABEL, _COMPONENT = "app.kubernetes.io/name", "app.kubernetes.io/component"
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
    return {"name": run.name, "labels": {_NAME_LABEL: "model-analyzer"}}


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
    labels = {_NAME_LABEL: "model-analyzer", _COMPONENT: component}
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


_IMAGE = "REGISTRY/model-analyzer:TAG"
_MOST_BYTES = 900_000  # Kubernetes allows 1 MiB for a ConfigMap with everything in it
_LONGEST_NAME = 40  # KubeRay allows 47
_NAME = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?")

_PREFIX = "model-analyzer-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """YAML for kubectl or Helm, and remarks about it: they are its comments, too."""

    text: str
    remarks: Sequence[str]


def cluster_manifest(
    form: str,
    config_file: Path,
    variables: Mapping[str, str],
    *,
    name: str | None = None,
    image: str | None = None,
) -> Manifest:
    """The manifest for `form`: job, rayjob or helm-values. Raises ConfigError for what cannot work
    in a pod.
    """
    text = read_text(config_file)
    yaml = parse_yaml(text, str(config_file))
    kind: Kind = "job" if form == "job" else "rayjob"
    options = GivenOptions(command_line=(), environment=(), yaml=yaml, cwd=Path(DATA))
    if form == "helm-values" and _given(options, "executor") != ExecutorKind.RAY.value:
        kind = "job"
    repository = _given(options, "model_repository")
    is_remote = _given(options, "triton_launch_mode") == LaunchMode.REMOTE.value
    has_models = not (is_url(str(repository)) or (is_remote and not repository))
    resolved = _in_pod(options, kind, has_models=has_models)
    _refuse(resolved, text, config_file)
    run = _deployment(
        resolved.settings,
        kind,
        text,
        name=_checked_name(name) if name is not None else _name_of(config_file),
        image=_checked_image(image) if image is not None else _IMAGE,
        has_models=has_models,
    )
    remarks = [*_to_do(run, resolved.settings), *_notes(resolved, kind, variables)]
    documents = [values_of(run)] if form == "helm-values" else objects_of(run)
    return Manifest(text=yaml_documents(remarks, documents), remarks=remarks)


def _given(options: GivenOptions, key: str) -> object:
    """A scalar of the file, before it is checked."""
    root = options.yaml
    if root is None or not root.is_mapping:
        return None
    found = [entry.node.value for entry in root.entries if entry.key == key]
    return found[0] if found else None


def _in_pod(options: GivenOptions, kind: Kind, *, has_models: bool) -> Resolved[ProfileSettings]:
    """The settings that `profile` gets in the pod: those of the file and of the flags there."""
    flags = profile_flags(kind, has_models=has_models)
    entries = [
        Entry(flag[2:].replace("-", "_"), flag, Node(value, flag))
        for flag, value in flags
    ]  # fmt: skip
    return GivenOptions(
        command_line=entries, environment=(), yaml=options.yaml, cwd=options.cwd
    ).profile()


def _refuse(resolved: Resolved[ProfileSettings], text: str, path: Path) -> None:
    settings, places = resolved.settings, resolved.places
    checkpoint = settings.checkpoint
    problems = []

    def refuse(option: str, message: str, hint: str) -> None:
        problems.append(Problem(where=places.for_all(option), message=message, hint=hint))

    if settings.server.launch is LaunchMode.DOCKER:
        refuse("triton_launch_mode", "a pod has no Docker", "use local, in an image with Triton")
    if checkpoint.fresh:
        refuse("fresh", "each restart of the pod would delete all measurements", "remove it")
    if checkpoint.disabled:
        refuse("no_checkpoint", "a restarted pod could not resume", "remove it")
    if len(text.encode()) > _MOST_BYTES:
        message = f"larger than {_MOST_BYTES // 1000} kB: too large for a ConfigMap"
        problems.append(Problem(where=str(path), message=message))
    problems += _secrets(resolved, text, path)
    if problems:
        raise ConfigError(*problems)


def _secrets(resolved: Resolved[ProfileSettings], text: str, path: Path) -> Sequence[Problem]:
    """A problem for each secret of the file; a reference to a variable is none."""
    lines = [
        f"{path}:{number}:1"
        for number, line in enumerate(text.splitlines(), 1)
        if masked_text(line) != line
    ]
    variables = [
        resolved.places.for_model("triton_server_environment", model.name)
        for model in resolved.settings.models
        for name, value in model.server_environment.items()
        if is_secret_name(name) and "$" not in value
    ]
    return [
        Problem(
            where=where,
            message="contains a secret, which would be readable in a ConfigMap",
            hint="write $NAME, and put NAME into a Kubernetes Secret",
        )
        for where in dict.fromkeys(lines or variables)
    ]


def _deployment(
    settings: ProfileSettings, kind: Kind, text: str, *, name: str, image: str, has_models: bool
) -> RunDeployment:
    executor = settings.executor
    per_host = executor.per_host if kind == "rayjob" else 1
    return RunDeployment(
        kind=kind,
        name=name,
        image=image,
        config=text,
        workers=-(-(executor.slots or 2) // per_host) if kind == "rayjob" else 1,
        gpus=_gpus(settings) * per_host,
        cpus=(executor.cpus or 0) * per_host,
        models_claim="model-repository" if has_models else "",
    )


def _gpus(settings: ProfileSettings) -> int:
    """The GPUs of a slot: as the user says, otherwise 1 unless no model uses any."""
    if settings.executor.gpus is not None:
        return settings.executor.gpus
    is_cpu_only = all(model.cpu_only for model in settings.models)
    if is_cpu_only or not settings.monitors.gpus or settings.server.launch is LaunchMode.REMOTE:
        return 0
    return 1


def _to_do(run: RunDeployment, settings: ProfileSettings) -> Iterator[str]:
    """What the user must fill in, or prepare."""
    if run.image == _IMAGE:
        programs = ", and tritonserver and perf_analyzer on its PATH (or set runtime_install)"
        installed = settings.server.installs_runtime
        yield (
            f"image: replace {_IMAGE} (or give --image): an image with model-analyzer[ray]"
            f"{'' if installed else programs}"
        )
    if run.models_claim:
        yield (
            f"claim {run.models_claim}: must exist and hold the model repository; with several"
            " pods, its volume must be readable from several nodes (ReadOnlyMany)"
        )
    yield f"claim {run.name}: has checkpoints and results; set its size and storage class"
    yield f"Secret {run.name}-environment: optional; its keys become environment variables"
    if run.kind == "rayjob":
        yield (
            f"rayVersion {RAY_VERSION}: must be the version of Ray in the image, which needs"
            " ray[default]"
        )
    if run.kind == "rayjob" and settings.executor.slots is None:
        yield f"workers: {run.workers}, since slots is not set in the file"
    if run.gpus and settings.executor.gpus is None:
        yield f"GPUs: {run.gpus} for each pod that measures; set slot_gpus in the file to change it"
    if not run.cpus:
        yield "CPUs: no limit, since slot_cpus is not in the file; keep other pods off the nodes"


def _notes(
    resolved: Resolved[ProfileSettings], kind: Kind, variables: Mapping[str, str]
) -> Iterator[str]:
    """What is different in the pod from this machine."""
    settings, given = resolved.settings, resolved.places.given
    yield from resolved.remarks
    yield from _fetched(settings)
    if kind == "job" and (settings.executor.slots or 1) > 1:
        yield "slots: a Job has one; use --kind rayjob for several"
    if settings.executor.labels:
        yield "slot_label: labels of Ray, not of Kubernetes; add a nodeSelector to choose nodes"
    if settings.checkpoint.storage is not None:
        yield (
            "checkpoint_storage: gets copies; a restarted pod resumes from the claim. Its"
            " credentials belong into the Secret"
        )
    for option, value in given.values.items():
        if isinstance(value, Path) and option not in _SET_IN_POD:
            path = Path(DATA) / value
            yield f"{option}: is {path} in the pod; what it names must be there"
    for option in ("triton_server_path", "perf_analyzer_path"):
        if os.path.isabs(str(given.values.get(option, ""))):
            yield f"{option}: {given.values[option]} must exist in the image"
    for value in sorted(set(_input_files(settings))):
        yield f"input-data: {Path(DATA) / value} must exist in each pod that measures"
    if settings.server.launch is LaunchMode.REMOTE:
        yield "remote server: its endpoints must be reachable from the pod, so not localhost"
    for name in sorted(variables):
        if name.startswith(VARIABLE_PREFIX) and name != f"{VARIABLE_PREFIX}CONFIG_FILE":
            yield f"{name}: set here but not in the pod; put the option into the file"


def _fetched(settings: ProfileSettings) -> Iterator[str]:
    """What each pod fetches for itself."""
    if settings.repository.url is not None:
        yield (
            f"model_repository: each pod copies {masked_url(settings.repository.url)}"
            f" to /cache, which has {CACHE_SIZE}: its credentials belong into the Secret, and the"
            " package of its scheme (s3fs for s3://) into the image"
        )
    if settings.server.installs_runtime:
        yield "runtime_install: each pod fetches 70 MB from a package index"


_SET_IN_POD = frozenset(
    {
        "config_file", "model_repository", "output_model_repository_path",
        "checkpoint_directory", "export_path",
    }
)  # fmt: skip


def _input_files(settings: ProfileSettings) -> Iterator[str]:
    """Input files of perf_analyzer; its generated inputs have names without a path."""
    for model in settings.models:
        value: Any = model.perf_analyzer_flags.get("input-data", ())
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if str(item) not in ("random", "zero"):
                yield str(item)


def _name_of(path: Path) -> str:
    """A valid object name for a file."""
    name = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")
    return f"{_PREFIX}{name}"[:_LONGEST_NAME].rstrip("-")


def _checked_name(name: str) -> str:
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        raise wrong(
            "--name",
            f"{name!r} is no name of a Kubernetes object: at most {_LONGEST_NAME} lower case"
            " letters, digits and -, beginning with a letter",
        )
    return name


def _checked_image(image: str) -> str:
    if not re.fullmatch(r"[!-~]+", image):
        raise wrong("--image", f"{image!r} is no name of an image")
    return image
