# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writes checkpoints of upstream (Triton Model Analyzer)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from model_analyzer.domain.costs import ENERGY_PER_INFERENCE, METERED_POWER
from model_analyzer.domain.flags import GENAI_PERF_FLAGS
from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Values
from model_analyzer.domain.metrics import METRICS, Reduction
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import MeasuredTrial, Profile
from model_analyzer.domain.secrets import masked_values
from model_analyzer.domain.trials import LoadKind, Trial, Workload
from model_analyzer.errors import CheckpointError
from model_analyzer.features.upstream.perf_flags import perf_config, upstream_defaults
from model_analyzer.features.upstream.reader import (
    GPUS,
    RESULTS,
    SEED,
    SERVER_ONLY,
    VARIANTS,
    MeasuredModel,
    calls_of,
    key_of,
    scaled,
)
from model_analyzer.noise.pooling import pooled_trials
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.contents import UPSTREAM

# Upstream refuses a whole checkpoint for a metric that it does not know.
_OURS_ONLY = frozenset({"perf_latency_p50", METERED_POWER, ENERGY_PER_INFERENCE})

_BYTES_OF_A_MB = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamText:
    """A checkpoint of upstream. Failures, and measurements of a model that has changed since
    (`outdated`), are left out and counted: upstream has no place for them.
    """

    text: str
    failures: int
    outdated: int

    @property
    def remarks(self) -> Sequence[str]:
        """What is left out, for the user."""
        counts = {
            "failures left out, because this format cannot hold them": self.failures,
            "measurements left out, because newer ones replace them": self.outdated,
        }
        return [f"{text}: {count}" for text, count in counts.items() if count]


def exported(checkpoint: Checkpoint) -> UpstreamText:
    """A checkpoint in upstream's format, with the values that were imported from upstream.

    Raises CheckpointError if upstream's format cannot hold it.
    """
    imported = checkpoint.metadata.get(UPSTREAM, {})
    try:
        return write_upstream(checkpoint.profile, seed=imported.get(SEED))
    except ValueError as error:
        raise CheckpointError(f"{checkpoint.path}: cannot be exported: {error}") from error


def write_upstream(profile: Profile, *, seed: int | None) -> UpstreamText:
    """`profile` in upstream's format, secrets masked; `seed` is that of an Optuna search.

    Raises ValueError if Triton's protobuf cannot hold the configuration of a variant.
    """
    groups = _groups(profile.measured)
    results: dict[str, dict[str, Any]] = {}
    written = 0
    for (models, variants), trials in groups.items():
        by_key = _by_key(trials)
        written += sum(len(item.runs) for item in by_key.values())
        results.setdefault(models, {})[variants] = [
            _run_config(trials[0]),
            {key: _measurement(item.trial, item.measurement) for key, item in by_key.items()},
        ]
    content = {
        RESULTS: {"_results": results},
        SERVER_ONLY: {uuid: _records(gpu, uuid) for uuid, gpu in profile.server_only.items()},
        GPUS: {
            device.uuid: {
                "name": device.name,
                "total_memory": round(device.memory * _BYTES_OF_A_MB),
            }
            for device in profile.devices
        },
        VARIANTS: _variant_table(profile.variants),
        **({} if seed is None else {SEED: seed}),
    }
    return UpstreamText(
        text=json.dumps(content, allow_nan=False),
        failures=len(profile.failed),
        outdated=len(profile.measured) - written,
    )


def _groups(measured: Iterable[MeasuredTrial]) -> Mapping[tuple[str, str], list[MeasuredTrial]]:
    """Measurements by models and variant names; only those of the newest content of a variant."""
    groups: dict[tuple[str, str], list[MeasuredTrial]] = {}
    for item in measured:
        groups.setdefault((item.trial.models, item.trial.variants), []).append(item)
    return {
        names: [item for item in items if _same_content(item.trial, _newest(items))]
        for names, items in groups.items()
    }


def _newest(items: Sequence[MeasuredTrial]) -> Trial:
    """The last trial whose files are known; if there is none, the last trial."""
    verified = (item.trial for item in reversed(items) if not item.trial.is_unverified)
    return next(verified, items[-1].trial)


def _same_content(a: Trial, b: Trial) -> bool:
    """Whether variants with the same names are equal, as far as their files are known."""
    pairs = zip(a.workloads, b.workloads, strict=True)
    return all(_same_variant(first.variant, second.variant) for first, second in pairs)


def _same_variant(a: ModelVariant, b: ModelVariant) -> bool:
    return a.config == b.config and len({a.files, b.files} - {""}) < 2


def _by_key(trials: Iterable[MeasuredTrial]) -> Mapping[str, MeasuredTrial]:
    """The trials by measurement key, each with all its measurements as one: upstream has no place
    for several. If several trials have the same key, the last one.
    """
    by_key: dict[str, list[MeasuredTrial]] = {}
    for item in trials:
        models = [
            MeasuredModel(work.variant, _flags(item.trial, work, model))
            for work, model in zip(item.trial.workloads, item.measurement.models, strict=True)
        ]
        by_key.setdefault(key_of(models), []).append(item)
    return {key: pooled_trials(items)[-1] for key, items in by_key.items()}


def _flags(trial: Trial, work: Workload, measured: ModelMeasurement) -> Mapping[str, Any]:
    """All flags that upstream would have used for this measurement."""
    is_c_api = trial.setup.launch == "c_api"
    defaults = upstream_defaults(
        _served_name(trial, work.variant),
        work.load,
        protocol=None if is_c_api else trial.setup.protocol,
        calls=calls_of(work.variant),
    )
    return {**defaults, **masked_values(work.flags), **measured.raised}


def _served_name(trial: Trial, variant: ModelVariant) -> str:
    """In launch mode c_api, a model has the name of its variant."""
    return variant.name if trial.setup.launch == "c_api" else variant.model


# -- run configurations ----------------------------------------------------------------------------


def _run_config(first: MeasuredTrial) -> dict[str, Any]:
    trial = first.trial
    genai_perf = trial.workloads[0].genai_perf
    return {
        "_triton_env": dict(trial.setup.kept_environment),
        "_genai_perf_config": {
            "_args": dict.fromkeys(GENAI_PERF_FLAGS) | masked_values(genai_perf)
        },
        "_model_run_configs": [
            {
                "_model_name": work.variant.model,
                "_model_config_variant": _variant(work.variant, _served_name(trial, work.variant)),
                "_perf_config": perf_config(_flags(trial, work, measured)),
                "_composing_config_variants": [
                    _variant(part, part.model) for part in work.variant.composing
                ],
            }
            for work, measured in zip(trial.workloads, first.measurement.models, strict=True)
        ],
    }


def _variant(variant: ModelVariant, name: str) -> dict[str, Any]:
    from model_analyzer.domain.protobuf import to_json

    groups = variant.config.get("instance_group") or ()
    return {
        "model_config": to_json({**variant.config, "name": name}),
        "variant_name": variant.name,
        "cpu_only": bool(groups) and all(group.get("kind") == "KIND_CPU" for group in groups),
    }


def _variant_table(variants: Sequence[ModelVariant]) -> dict[str, Any]:
    """The variants by name, and the last number that each model has used."""
    from model_analyzer.domain.protobuf import to_json

    configs: dict[str, Any] = {}
    last: dict[str, int] = {}
    all_variants = [*chain.from_iterable(map(ModelVariant.with_parts, variants))]
    defaults = {variant.model: variant.config for variant in all_variants if variant.is_default}
    for variant in all_variants:
        number = variant.name.removeprefix(f"{variant.model}_config_")
        if not number.isdecimal():
            continue
        if variant.is_ensemble:
            key = ",".join(part.name for part in variant.composing)
            configs[variant.name] = {"key": key, "name": variant.model}
        else:
            configs[variant.name] = _with_numbers(
                to_json(variant.config, proto_names=True),
                variant.config,
                defaults.get(variant.model, variant.config),
            )
        last[variant.model] = max(last.get(variant.model, 0), int(number))
    return {"_model_config_dicts": configs, "_model_name_index": last}


def _with_numbers(document: Any, value: Any, default: Any) -> Any:
    """The JSON document of `value`, with 64-bit integers as numbers instead of texts where `value`
    differs from the default: upstream has them like this, and looks for an equal document.
    """
    if value == default:
        return document
    if isinstance(document, dict):
        defaults = default if isinstance(default, Mapping) else {}
        return {
            key: _with_numbers(item, value[key], defaults.get(key))
            for key, item in document.items()
        }
    if isinstance(document, list):
        pairs = zip(document, value, strict=True)
        return [_with_numbers(item, inner, None) for item, inner in pairs]
    return value if document == str(value) else document


# -- measurements ----------------------------------------------------------------------------------


def _measurement(trial: Trial, measurement: Measurement) -> dict[str, Any]:
    over_gpus = _over_gpus(measurement.gpus)
    return {
        "_model_variants_name": trial.variants,
        "_gpu_data": {uuid: _records(values, uuid) for uuid, values in measurement.gpus.items()},
        "_avg_gpu_data": over_gpus,
        "_avg_gpu_data_from_tag": _by_tag(over_gpus),
        "_model_config_measurements": [
            _model_measurement(trial, work, {**model.values, **measurement.host})
            for work, model in zip(trial.workloads, measurement.models, strict=True)
        ],
    }


def _model_measurement(trial: Trial, work: Workload, values: Values) -> dict[str, Any]:
    load, records = work.load, _records(values)
    # upstream knows files of intervals only
    intervals = work.flags.get("request-intervals") or (work.traffic and str(work.traffic))
    return {
        "_model_config_name": _served_name(trial, work.variant),
        "_model_specific_pa_params": {
            "batch-size": load.batch_size,
            "concurrency-range": load.value if load.kind is LoadKind.CONCURRENCY else None,
            "request-rate-range": load.value if load.kind is LoadKind.REQUEST_RATE else None,
            "request-intervals": intervals if load.kind is LoadKind.REQUEST_INTERVALS else None,
        },
        "_non_gpu_data": records,
        "_non_gpu_data_from_tag": _by_tag(records),
    }


def _records(values: Values, uuid: str | None = None) -> list[Any]:
    """A record for each value; records of a GPU have its UUID."""
    of_gpu = {} if uuid is None else {"_device_uuid": uuid}
    return [
        [
            tag,
            {
                "_value": scaled(tag, value, lambda number, factor: number * factor),
                "_timestamp": 0,
                **of_gpu,
            },
        ]
        for tag, value in values.items()
        if tag not in _OURS_ONLY
    ]


def _by_tag(records: list[Any]) -> dict[str, Any]:
    return {record[0]: record for record in records}


def _over_gpus(gpus: Mapping[str, Values]) -> list[Any]:
    """Records of all GPUs together."""
    values_by_tag: dict[str, list[float]] = {}
    for values in gpus.values():
        for tag, value in values.items():
            values_by_tag.setdefault(tag, []).append(value)
    reduced = {
        tag: (METRICS[tag].over_gpus if tag in METRICS else Reduction.MEAN).apply(values)
        for tag, values in values_by_tag.items()
    }
    return [[tag, {**content, "_device_uuid": None}] for tag, content in _records(reduced)]
