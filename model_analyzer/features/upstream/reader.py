# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads checkpoints of upstream (Triton Model Analyzer): a single JSON object.

Upstream stores neither the files of a model nor the version of the server: these are "" here, and
the trials are `Trial.is_unverified`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, starmap
from types import MappingProxyType
from typing import Any, TypeVar

from model_analyzer.domain.foreign_json import parse_unambiguous
from model_analyzer.domain.hardware import Device, kind_of
from model_analyzer.domain.measurements import (
    Measurement,
    ModelMeasurement,
    Notice,
    NoticeKind,
    Values,
)
from model_analyzer.domain.metrics import METRICS, Source, Unit
from model_analyzer.domain.models import ModelConfig, ModelVariant, empty, freeze, thaw
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.secrets import Veil
from model_analyzer.domain.trials import Load, LoadKind, ServerSetup, Trial, Workload
from model_analyzer.errors import CheckpointError
from model_analyzer.features.upstream import perf_flags
from model_analyzer.state.own_key import own_key

RESULTS = "ResultManager.results"
SERVER_ONLY = "ResultManager.server_only_data"
GPUS = "MetricsManager.gpus"
VARIANTS = "ModelManager.model_variant_name_manager"
SEED = "OptunaRunConfigGenerator.seed"

_BYTES_OF_A_MB = 1e6

# Upstream stores times of tokens in microseconds, but calls them milliseconds.
_TOO_LARGE = 1000.0

_NOTICE = Notice(
    kind=NoticeKind.UNVERIFIED,
    text="some measurements are from a checkpoint of Triton Model Analyzer, which does not store"
    " the model's files: if they have changed, measure again with another"
    " --checkpoint-directory",
)

_DEEPEST = 64
_MOST_BYTES = 2**30
_COMPOSING = re.compile(r" (\S+_config_(?:default|\d+)(?:,\S+_config_(?:default|\d+))*)$")

_KINDS = {dict: "an object", list: "a list", str: "a text", int: "an integer"}

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamCheckpoint:
    """The content of a checkpoint of upstream. `others` are top-level keys that we do not know;
    `remarks` are warnings about unclear or missing content; `losses` name what cannot be read, each
    with the reason.
    """

    profile: Profile
    seed: int | None
    others: Mapping[str, Any] = field(default_factory=empty)
    remarks: tuple[str, ...] = ()
    losses: tuple[tuple[str, str], ...] = ()

    @property
    def metadata(self) -> dict[str, Any]:
        """What our format has no place for, by upstream's keys."""
        seed = {} if self.seed is None else {SEED: self.seed}
        return {**thaw(self.others), **seed}


def read_upstream(raw: bytes, where: str) -> UpstreamCheckpoint:
    """The content of a checkpoint, as far as it can be read; `where` names its file in messages.

    Raises CheckpointError if it is not a checkpoint, or nothing of its measurements can be read.
    """
    try:
        return _UpstreamReader(_parse(raw)).checkpoint()
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(
            f"{where}: not a checkpoint of Triton Model Analyzer that can be read: {reason}"
        ) from error


def scaled(tag: str, value: float, apply: Callable[[float, float], float]) -> float:
    """`apply` of `value` and the factor by which upstream's number is too large, if it is."""
    metric = METRICS.get(tag)
    if metric is None or metric.source is not Source.LLM or metric.unit is not Unit.MILLISECONDS:
        return value
    return float(f"{apply(value, _TOO_LARGE):.15g}")


@dataclass(frozen=True, slots=True)
class MeasuredModel:
    """A model of a measurement: its variant, and all flags of perf_analyzer."""

    variant: ModelVariant
    flags: perf_flags.Flags


@dataclass(frozen=True, slots=True)
class _Measured:
    """A measurement as upstream stores it."""

    models: Sequence[MeasuredModel]
    loads: Sequence[Load]
    outcome: Measurement
    environment: Mapping[str, str]
    genai_perf: Mapping[str, str]


class _UpstreamReader:
    """Reads the parts of a checkpoint; a ValueError says what is wrong with a part, which is then
    left out: a bad value costs as little as possible.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = content
        self._remarks: dict[str, None] = {}
        self._losses: list[tuple[str, str]] = []
        self._devices = tuple(starmap(self._device, self._part(GPUS).items()))
        self._variants = self._variant_table(self._part(VARIANTS))
        self._windows = perf_flags.UserWindows()

    def checkpoint(self) -> UpstreamCheckpoint:
        results = _get(_get(self._content, RESULTS, dict, "it"), "_results", dict, RESULTS)
        measured = [*chain.from_iterable(starmap(self._of_models, results.items()))]
        if self._losses and not measured:
            raise ValueError(self._losses[0][1])
        idle = self._part(SERVER_ONLY)
        seed = None
        with self._leaving_out(SEED):
            seed = _get(self._content, SEED, int, "it") if SEED in self._content else None
        keys = (RESULTS, SERVER_ONLY, GPUS, VARIANTS, SEED)
        others = {key: value for key, value in self._content.items() if key not in keys}
        if others:
            self._remark(f"it holds {', '.join(others)}, which this version does not know")
        return UpstreamCheckpoint(
            profile=Profile(
                records=tuple(_repeated(map(self._record, measured))),
                devices=self._devices,
                server_only=MappingProxyType(
                    {uuid: self._values(values, SERVER_ONLY) for uuid, values in idle.items()}
                ),
            ),
            seed=seed,
            others=freeze(others),
            remarks=tuple(self._remarks),
            losses=tuple(self._losses),
        )

    @contextmanager
    def _leaving_out(self, what: str) -> Iterator[None]:
        """Goes on without `what` if it cannot be read."""
        try:
            yield
        except ValueError as error:
            self._losses.append((what, " ".join(str(error).split())))

    def _part(self, key: str) -> Mapping[str, Any]:
        """A part beside the measurements; empty if it cannot be read."""
        with self._leaving_out(key):
            return _get(self._content, key, dict, "it")
        return {}

    def _device(self, uuid: str, gpu: Any) -> Device:
        """A GPU, whatever is unknown about it: it belongs to the kind of hardware."""
        name, memory = "", 0.0
        with self._leaving_out(f"the memory of {uuid}"):
            gpu = _object(gpu, uuid)
            name = str(gpu.get("name", ""))
            memory = _finite(gpu.get("total_memory", 0), f"total_memory of {uuid}")
        return Device(uuid=uuid, name=name, memory=memory / _BYTES_OF_A_MB)

    def _remark(self, remark: str) -> None:
        self._remarks[remark] = None

    # -- variants ----------------------------------------------------------------------------

    def _variant_table(self, table: Mapping[str, Any]) -> dict[str, ModelVariant]:
        """The variants of the table by name; the entry of an ensemble has no configuration."""
        variants: dict[str, ModelVariant] = {}
        configs: Mapping[str, Any] = {}
        with self._leaving_out(f"the configurations of {VARIANTS}"):
            configs = _get(table, "_model_config_dicts", dict, VARIANTS) if table else {}
        for name, config in configs.items():
            with self._leaving_out(f"the configuration of {name}"):
                if "key" not in _object(config, name):
                    variants[name] = _variant(_get(config, "name", str, name), name, config)
        return variants

    def _composing(self, name: str) -> ModelVariant:
        """A composing variant of which only the name is stored."""
        if name not in self._variants:
            self._remark(f"the configuration of {name} is missing")
            model = name.rpartition("_config_")[0]
            self._variants[name] = _variant(model, name, {"name": model})
        return self._variants[name]

    # -- records -----------------------------------------------------------------------------

    def _of_models(self, models: str, variants: Any) -> Iterator[_Measured]:
        with self._leaving_out(f"all measurements of {models}"):
            for names, stored in _object(variants, models).items():
                with self._leaving_out(f"all measurements of {names}"):
                    yield from self._measured(names, stored)

    def _measured(self, names: str, stored: Any) -> Iterator[_Measured]:
        if not isinstance(stored, list) or len(stored) != 2:
            raise ValueError(f"{names} is not a pair of a run configuration and measurements")
        run, measurements = (_object(part, names) for part in stored)
        models = [
            self._model(_object(entry, names), names)
            for entry in _get(run, "_model_run_configs", list, names)
        ]
        if not models:
            raise ValueError(f"{names} has a run configuration without models")
        environment = _environment(run.get("_triton_env") or {}, names)
        genai_perf = _genai_perf(run.get("_genai_perf_config") or {}, names)
        called: dict[str, None] = {}
        for index, (key, measurement) in enumerate(measurements.items()):
            with self._leaving_out(f"a measurement of {names}"):
                loads, entries = _loads(measurement, len(models), f"a measurement of {names}")
                measured = [
                    MeasuredModel(
                        model.variant,
                        perf_flags.with_load(
                            perf_flags.of_later_measurement(model.flags) if index else model.flags,
                            load,
                        ),
                    )
                    for model, load in zip(models, loads, strict=True)
                ]
                if key_of(measured) != key:
                    measured = self._from_key(key, measured)
                called |= dict.fromkeys(model.variant.full_name for model in measured)
                for model in measured:
                    self._windows.see(model.variant.model, model.flags, is_first=not index)
                outcome = self._measurement(measurement, entries, f"{names} {loads[0]}")
                yield _Measured(measured, loads, outcome, environment, genai_perf)
        if len(called) > len(models):
            self._remark(
                f"{names} has several variants of the models that it calls: upstream may have"
                " loaded only the first of them"
            )

    def _record(self, measured: _Measured) -> TrialRecord:
        """The trial with the windows that the user set; enlarged ones are part of the outcome."""
        models, outcome = [], measured.outcome
        results, notices = [], [*outcome.notices]
        for model, load, result in zip(
            measured.models, measured.loads, outcome.models, strict=True
        ):
            flags, raised = self._windows.split(model.variant.model, model.flags)
            models.append(replace(model, flags=flags))
            results.append(replace(result, raised=raised) if raised else result)
            if raised:
                notices.append(perf_flags.longer_window(model.variant.name, load, flags, raised))
        outcome = replace(outcome, models=tuple(results), notices=tuple(notices))
        return TrialRecord(trial=self._trial(replace(measured, models=models)), outcome=outcome)

    def _model(self, entry: Mapping[str, Any], where: str) -> MeasuredModel:
        model = _get(entry, "_model_name", str, where)
        composing = [
            self._measured_variant(_object(part, where), None, where)
            for part in _get(entry, "_composing_config_variants", list, where)
        ]
        stored = _get(entry, "_model_config_variant", dict, where)
        variant = self._measured_variant(stored, model, where)
        return MeasuredModel(
            variant=replace(variant, composing=tuple(composing)),
            flags=perf_flags.flags_of(_get(entry, "_perf_config", dict, where)),
        )

    def _measured_variant(
        self, stored: Mapping[str, Any], model: str | None, where: str
    ) -> ModelVariant:
        """A variant with its configuration; others may refer to it by name."""
        name = _get(stored, "variant_name", str, where)
        config = _get(stored, "model_config", dict, where)
        model = model or name.rpartition("_config_")[0]
        self._variants[name] = _variant(model, name, config)
        return self._variants[name]

    def _from_key(self, key: str, models: Sequence[MeasuredModel]) -> list[MeasuredModel]:
        """The models according to a measurement key: they may have other flags, or other composing
        variants, than those of the first measurement.
        """
        from_key = [
            self._from_text(text, model)
            for text, model in zip(_parts_of_key(key, models), models, strict=False)
        ]
        if key_of(from_key) == key:
            return from_key
        self._remark(
            "the perf_analyzer flags of each load of"
            f" {', '.join(model.variant.name for model in models)} are unclear: those of the first"
            " load are shown"
        )
        return [*models]

    def _from_text(self, text: str, model: MeasuredModel) -> MeasuredModel:
        variant = model.variant
        is_calling = variant.composing or "bls-composing-models" in model.flags
        names = _COMPOSING.search(text) if is_calling else None
        if names:
            text = text[: names.start()]
            composing = tuple(map(self._composing, names[1].split(",")))
            variant = replace(variant, composing=composing)
        address = {"url": model.flags["url"]} if "url" in model.flags else {}
        not_in_keys = {**address, **perf_flags.given_in_no_key(model.flags)}
        return MeasuredModel(variant, {**not_in_keys, **perf_flags.flags_in_key(text)})

    def _trial(self, measured: _Measured) -> Trial:
        models, outcome = measured.models, measured.outcome
        workloads = []
        is_c_api = models[0].flags.get("service-kind") == "triton_c_api"
        protocol = str(models[0].flags.get("protocol", "grpc"))
        for model, load, values in zip(
            models, measured.loads, (result.values for result in outcome.models), strict=True
        ):
            variant = model.variant
            defaults = perf_flags.upstream_defaults(
                variant.name if is_c_api else variant.model,
                load,
                protocol=None if is_c_api else protocol,
                calls=calls_of(variant),
            )
            times_tokens = any(
                tag in METRICS and METRICS[tag].source is Source.LLM for tag in values
            )
            flags = perf_flags.user_flags(model.flags, defaults)
            workloads.append(
                Workload(
                    variant=variant,
                    load=load,
                    flags=flags,
                    inputs=perf_flags.names_of_inputs(flags),
                    times_tokens=times_tokens,
                    genai_perf=measured.genai_perf if times_tokens else empty(),
                )
            )
        setup = ServerSetup(
            launch="c_api" if is_c_api else "",
            protocol=protocol,
            devices=kind_of(self._devices),
            environment=measured.environment,
            veil=Veil(key=own_key()),
        )
        return Trial(workloads=tuple(workloads), setup=setup)

    def _measurement(
        self, stored: Mapping[str, Any], entries: Sequence[Any], where: str
    ) -> Measurement:
        values_of_models = [
            self._values(_get(entry, "_non_gpu_data", list, where), where) for entry in entries
        ]
        host = {
            tag: value
            for values in reversed(values_of_models)  # all have the same server: the first counts
            for tag, value in values.items()
            if _is_of_host(tag)
        }
        gpus = _get(stored, "_gpu_data", dict, where)
        return Measurement(
            models=tuple(
                ModelMeasurement(
                    values=MappingProxyType(
                        {tag: value for tag, value in values.items() if not _is_of_host(tag)}
                    )
                )
                for values in values_of_models
            ),
            gpus=MappingProxyType({uuid: self._values(gpus[uuid], where) for uuid in gpus}),
            host=MappingProxyType(host),
            notices=(_NOTICE,),
        )

    def _values(self, records: Any, where: str) -> Values:
        values = {}
        for record in records if isinstance(records, list) else [None]:
            with self._leaving_out(f"a value of {where}"):
                tag, value = _value(record, where)
                values[tag] = scaled(tag, value, lambda number, factor: number / factor)
                if tag not in METRICS:
                    self._remark(
                        f"this version does not know metric {tag}: it is stored, but not shown"
                    )
        return MappingProxyType(values)


def _repeated(records: Iterable[TrialRecord]) -> Iterator[TrialRecord]:
    """The records; further records of the same trial become its repetitions. Upstream's keys
    differ in settings that do not change a measurement, such as the address of the metrics.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for record in records:
        trial = record.trial
        place = (trial.key, trial.variants)
        repetition = counts[place]
        counts[place] += 1
        if repetition:
            record = record._replace(trial=replace(trial, repetition=repetition))
        yield record


def key_of(models: Sequence[MeasuredModel]) -> str:
    """The key of a measurement of `models`."""
    parts = []
    for model in models:
        composing = ",".join(part.name for part in model.variant.composing)
        texts = (model.variant.name, perf_flags.key_text(model.flags), composing)
        parts.append(" ".join(filter(None, texts)))
    return "".join(parts)


def calls_of(variant: ModelVariant) -> tuple[str, ...]:
    """The models that a BLS model calls."""
    return () if variant.is_ensemble else tuple(part.model for part in variant.composing)


def _parts_of_key(key: str, models: Sequence[MeasuredModel]) -> Sequence[str]:
    """The part of a key for each model, without the variant's name; none if it is unclear where
    the parts start.
    """
    starts = []
    start = 0
    for model in models:
        start = key.find(f"{model.variant.name} -m ", start)
        if start < 0:
            return []
        starts.append(start)
        start += 1
    if starts[0] != 0:
        return []
    ends = [*starts[1:], len(key)]
    return [
        key[start + len(model.variant.name) : end]
        for model, start, end in zip(models, starts, ends, strict=True)
    ]


def _variant(model: str, name: str, config: Mapping[str, Any]) -> ModelVariant:
    from model_analyzer.domain.protobuf import from_json

    try:
        model_config: ModelConfig = from_json(config)
    except ValueError as error:
        raise ValueError(f"the configuration of {name} is {error}") from error
    # in launch mode c_api, upstream gives the model the name of the variant
    return ModelVariant(
        model=model, name=name, config=freeze({**model_config, "name": model}), files=""
    )


def _value(record: Any, where: str) -> tuple[str, float]:
    """The tag of a metric, and its value."""
    match record:
        case [str(tag), {"_value": int() | float() as value}]:
            return tag, _finite(value, f"{tag} of {where}")
        case [str(tag), _]:
            raise ValueError(f"{tag} of {where} is not a number")
    raise ValueError(f"{where} has a record that is not a metric with a value")


def _loads(
    measurement: Any, models: int, where: str
) -> tuple[Sequence[Load], Sequence[Mapping[str, Any]]]:
    """The load and the entry of each model of a measurement."""
    entries = _get(measurement, "_model_config_measurements", list, where)
    if len(entries) != models:
        raise ValueError(f"{where} has {len(entries)} models instead of {models}")
    return [_load(entry, where) for entry in entries], entries


def _load(entry: Mapping[str, Any], where: str) -> Load:
    """The load of a measurement. A concurrency of 0 is perf_analyzer's own default."""
    params = _get(entry, "_model_specific_pa_params", dict, where)
    batch_size = _get(params, "batch-size", int, where)
    if params.get("request-rate-range") is not None:
        value = _get(params, "request-rate-range", int, where)
        return Load(kind=LoadKind.REQUEST_RATE, value=value, batch_size=batch_size)
    if params.get("request-intervals") is not None:
        return Load(kind=LoadKind.REQUEST_INTERVALS, value=0, batch_size=batch_size)
    if params.get("concurrency-range") is None:
        return Load(value=0, batch_size=batch_size)
    return Load(value=_get(params, "concurrency-range", int, where), batch_size=batch_size)


def _environment(variables: Any, where: str) -> Mapping[str, str]:
    environment: Mapping[str, str] = freeze(
        {name: str(value) for name, value in _object(variables, f"_triton_env of {where}").items()}
    )
    return environment


def _genai_perf(config: Any, where: str) -> Mapping[str, str]:
    where = f"_genai_perf_config of {where}"
    arguments = _object(_object(config, where).get("_args") or {}, where)
    flags: Mapping[str, str] = freeze(
        {name: str(value) for name, value in arguments.items() if value is not None}
    )
    return flags


def _is_of_host(tag: str) -> bool:
    return tag in METRICS and METRICS[tag].source is Source.CPU


# -- JSON ------------------------------------------------------------------------------------------


def _parse(raw: bytes) -> Mapping[str, Any]:
    # NaN becomes a text: it costs the value that it is, nothing more
    content = parse_unambiguous(raw, most_bytes=_MOST_BYTES, deepest=_DEEPEST, constant=str)
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object")
    return content


def _finite(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{where} is not a number")
    try:
        if math.isfinite(value):
            return value
    except OverflowError:
        pass
    raise ValueError(f"{where} is too large")


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is not an object")
    return value


def _get(content: Any, key: str, kind: type[T], where: str) -> T:
    """The entry `key`, which must be present and of this kind; `where` names its place."""
    content = _object(content, where)
    if key not in content:
        raise ValueError(f"{where} has no {key}")
    value = content[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{key} of {where} is not {_KINDS[kind]}")
    return value
