# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Mistakes in ensembles, which a server refuses with a reason that is often only in its log.

All rules were tried with tritonserver 2.51. What it accepts is no mistake here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.models import (
    ModelConfig,
    ModelFacts,
    freeze,
    is_decoupled,
    max_batch_size,
)

# Fields that belong to the steps' models.
_OF_STEPS = ("instance_group", "model_warmup", "optimization")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of an ensemble: its number from 1, model, version, and which tensor of the ensemble
    each input and output of the model is.
    """

    number: int
    ensemble: str
    model: str
    version: int
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]

    def __str__(self) -> str:
        model = f" ({self.model})" if self.model else ""
        return f"step {self.number}{model} of {self.ensemble}"


def steps_of(config: ModelConfig) -> Sequence[Step]:
    """The steps of an ensemble. Without a model_version, the server takes version 0."""
    return [
        Step(
            number=number,
            ensemble=str(config.get("name", "")),
            model=str(step.get("model_name", "")),
            version=int(step.get("model_version", 0)),
            inputs=step.get("input_map", {}),
            outputs=step.get("output_map", {}),
        )
        for number, step in enumerate(config.get("ensemble_scheduling", {}).get("step", ()), 1)
    ]


def available_versions(config: ModelConfig, present: Sequence[int]) -> Sequence[int]:
    """The versions of a model that a server loads, of those `present` in its directory."""
    policy = config.get("version_policy", {})
    if "all" in policy:
        return sorted(present)
    if "specific" in policy:
        wanted = {int(version) for version in policy["specific"].get("versions", ())}
        return sorted(wanted.intersection(present))
    number = int(policy.get("latest", {}).get("num_versions", 0)) or 1
    return sorted(present)[-number:]


def version_mistake(step: Step, available: Sequence[int]) -> str:
    """Why the server does not find the step's version of its model, or "". Without any available
    version, only a missing one is known to be wrong.
    """
    if step.version == -1 or step.version in available:
        return ""
    if step.version == 0:
        return f"{step} has no model_version: write -1"
    if not available:
        return ""
    versions = ", ".join(map(str, available))
    return f"{step} has model_version {step.version}, and the server loads {versions}: write -1"


def own_mistakes(config: ModelConfig) -> Iterator[str]:
    """Mistakes that the configuration shows without those of its models."""
    name = config.get("name", "")
    is_ensemble = "ensemble_scheduling" in config
    if not is_ensemble:
        if config.get("platform") == "ensemble":
            yield f"{name} has the platform ensemble and no ensemble_scheduling: add its steps"
        return
    if config.get("platform") != "ensemble" or config.get("backend"):
        yield f'{name} has ensemble_scheduling: write platform: "ensemble", and no backend'
    for field in _OF_STEPS:
        if field in config:
            yield f"{name} is an ensemble and has {field}: move it to the models of its steps"
    steps = steps_of(config)
    if not steps:
        yield f"{name} has no step: add its steps"
        return
    incomplete = [*_incomplete(steps)]
    yield from incomplete or _unconnected(config, steps)


def _incomplete(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        if not step.model:
            yield f"{step} has no model_name: add it"
        if not step.inputs:
            yield f"{step} has no input_map: add it"
        if not step.outputs:
            yield f"{step} has no output_map: add it"


def _unconnected(config: ModelConfig, steps: Sequence[Step]) -> Iterator[str]:
    """Tensors that nothing writes, that two steps write, or that nothing reads."""
    name = config.get("name", "")
    inputs, outputs = _names(config, "input"), _names(config, "output")
    writers: dict[str, Step] = {}
    for step in steps:
        for tensor in step.outputs.values():
            if tensor in writers:
                yield f"tensor {tensor} is written by {writers[tensor]} and by {step}: rename one"
            writers.setdefault(tensor, step)
    readers = {tensor: step for step in reversed(steps) for tensor in step.inputs.values()}
    for tensor, step in readers.items():
        if tensor not in (*inputs, *writers):
            yield (
                f"{step} reads tensor {tensor}, which is neither an input of {name} nor written by"
                " a step: correct input_map"
            )
    for tensor, step in writers.items():
        if tensor not in (*readers, *outputs):
            yield (
                f"{step} writes tensor {tensor}, which nothing reads: remove it from output_map, or"
                f" add it to the outputs of {name}"
            )
    for tensor in inputs:
        if tensor not in (*readers, *outputs):
            yield f"no step of {name} reads its input {tensor}: add it to an input_map"
    for tensor in outputs:
        if tensor not in (*inputs, *writers):
            yield f"no step of {name} writes its output {tensor}: add it to an output_map"
    waiting = _waiting(inputs, steps)
    if waiting and all(set(step.inputs.values()) <= {*inputs, *writers} for step in waiting):
        numbers = ", ".join(str(step.number) for step in waiting)
        yield f"steps {numbers} of {name} wait for each other's tensors: break the circle"


def _waiting(inputs: Sequence[str], steps: Sequence[Step]) -> Sequence[Step]:
    """The steps whose inputs never exist."""
    present = set(inputs)
    waiting = [*steps]
    while ready := [step for step in waiting if present.issuperset(step.inputs.values())]:
        present.update(tensor for step in ready for tensor in step.outputs.values())
        waiting = [step for step in waiting if step not in ready]
    return waiting


def part_mistakes(facts: ModelFacts) -> Iterator[str]:
    """Mistakes between an ensemble without own mistakes and the models of its steps."""
    parts = {part.name: part for part in facts.composing}
    steps = steps_of(facts.config)
    limit = max_batch_size(facts.config)
    for step in steps:
        of_part = max_batch_size(parts[step.model].config)
        if 0 < of_part < limit:
            yield (
                f"{step} takes batches of {of_part} at most, and {facts.name} has max_batch_size"
                f" {limit}: write {of_part}"
            )
        yield from _maps(step, parts[step.model].config)
    yield from _types(facts, steps, parts)
    yield from _streams(facts, steps, parts)


def _maps(step: Step, config: ModelConfig) -> Iterator[str]:
    for side, mapped in (("input", step.inputs), ("output", step.outputs)):
        names = _names(config, side)
        for name in mapped:
            if name not in names:
                yield (
                    f"{side}_map of {step} has key {name!r}, and {step.model} has no such {side}:"
                    f" its {side}s are {', '.join(names)}"
                )
    for tensor in config.get("input", ()):
        if tensor["name"] not in step.inputs and not tensor.get("optional"):
            yield f"{step} gives {step.model} no input {tensor['name']}: add it to input_map"


def with_streams(facts: ModelFacts) -> ModelConfig:
    """The configuration as a server completes it: decoupled if a model of a step is."""
    is_stream = facts.is_ensemble and any(is_decoupled(part.config) for part in facts.composing)
    if not is_stream or is_decoupled(facts.config):
        return facts.config
    config: ModelConfig = freeze({**facts.config, "model_transaction_policy": {"decoupled": True}})
    return config


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """Type and dims of a tensor, as one of its models has them."""

    source: str
    data_type: str
    dims: tuple[int, ...]
    is_batched: bool

    def __str__(self) -> str:
        return f"{self.data_type.removeprefix('TYPE_')} {[*self.dims]} for {self.source}"

    def fits(self, other: _Side) -> bool:
        """Whether the shapes are compatible, with or without the batch; -1 is any size."""
        return _fit(self.dims, other.dims) or _fit(self.full, other.full)

    @property
    def full(self) -> tuple[int, ...]:
        return (-1, *self.dims) if self.is_batched else self.dims


def _fit(dims: Sequence[int], others: Sequence[int]) -> bool:
    return len(dims) == len(others) and all(
        size == other or -1 in (size, other) for size, other in zip(dims, others, strict=True)
    )


def _types(
    facts: ModelFacts, steps: Sequence[Step], parts: Mapping[str, ModelFacts]
) -> Iterator[str]:
    """Tensors whose type or shape differs between the models that they connect."""
    sides: dict[str, _Side] = {}
    for side in ("input", "output"):
        for tensor in facts.config.get(side, ()):
            dims = tensor["reshape"].get("shape", ()) if "reshape" in tensor else None
            of_ensemble = _side(f"{side} {tensor['name']} of {facts.name}", facts, tensor, dims)
            sides.setdefault(tensor["name"], of_ensemble)
    for step in steps:
        part = parts[step.model]
        for side, mapped in (("input", step.inputs), ("output", step.outputs)):
            tensors = {tensor["name"]: tensor for tensor in part.config.get(side, ())}
            for name, tensor_name in mapped.items():
                if name not in tensors:
                    continue
                mine = _side(f"{side} {name} of {step}", part, tensors[name])
                other = sides.setdefault(tensor_name, mine)
                if other.data_type != mine.data_type or not other.fits(mine):
                    yield f"tensor {tensor_name} is {other}, but {mine}: change one"


def _side(
    source: str, model: ModelFacts, tensor: Mapping[str, Any], dims: Sequence[int] | None = None
) -> _Side:
    return _Side(
        source=source,
        data_type=str(tensor.get("data_type", "")),
        dims=tuple(map(int, tensor.get("dims", ()) if dims is None else dims)),
        is_batched=model.supports_batching,
    )


def _streams(
    facts: ModelFacts, steps: Sequence[Step], parts: Mapping[str, ModelFacts]
) -> Iterator[str]:
    """A step cannot join tensors that come with different numbers of responses."""
    source = dict.fromkeys(_names(facts.config, "input"), 0)
    waiting = [*steps]
    while ready := [step for step in waiting if source.keys() >= {*step.inputs.values()}]:
        for step in ready:
            streams = {source[tensor] for tensor in step.inputs.values()}
            if len(streams) > 1:
                yield (
                    f"{step} has inputs of different decoupled models, or of one and of another"
                    " model: give it inputs with one number of responses"
                )
            is_stream = is_decoupled(parts[step.model].config)
            number = step.number if is_stream else max(streams)
            source.update(dict.fromkeys(step.outputs.values(), number))
        waiting = [step for step in waiting if step not in ready]


def _names(config: ModelConfig, side: str) -> Sequence[str]:
    return [str(tensor["name"]) for tensor in config.get(side, ())]
