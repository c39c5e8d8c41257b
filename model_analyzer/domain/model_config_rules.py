# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which model configurations a Triton server refuses: fields that bound each other.

Each rule was seen on tritonserver 2.51. The rules are about fields that a search or a user varies;
whether the model itself is what its configuration says, only the server knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.models import (
    OPENAI,
    ModelConfig,
    ModelVariant,
    instance_groups,
    kind_of_group,
    max_batch_size,
    platform_of,
    step_models,
)

_BATCHERS = ("dynamic_batching", "sequence_batching", "ensemble_scheduling")

# The fields that max_batch_size must not be below.
BOUNDING = ("dynamic_batching", "sequence_batching", "model_warmup")

# The value of the server flag `rate-limit` that switches the rate limiter on.
_LIMITING = "execution_count"

# The size of a dimension that varies, and the format of tensors that are no images.
_ANY_SIZE = -1
_NO_FORMAT = "FORMAT_NONE"

# The platforms that stand for a backend; every other one needs `backend` beside it.
_PLATFORMS = (
    *("tensorflow_graphdef", "tensorflow_savedmodel", "tensorrt_plan", "onnxruntime_onnx"),
    *("pytorch_libtorch", "ensemble", OPENAI),
)

# What an input of a warm-up request is filled with.
_WARM_UP_DATA = ("zero_data", "random_data", "input_data_file")

# Where a control of sequences says its values, and the types of the one that has no values.
_FALSE_TRUE = ("int32_false_true", "fp32_false_true", "bool_false_true")
_CORRELATION_ID = "CONTROL_SEQUENCE_CORRID"
_CORRELATION_TYPES = ("TYPE_UINT64", "TYPE_INT64", "TYPE_UINT32", "TYPE_INT32", "TYPE_STRING")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a server refuses a configuration; `batch_limit` completes the reason, if it is set."""

    reason: str
    batch_limit: int | None = None

    def __str__(self) -> str:
        return self.reason if self.batch_limit is None else f"{self.reason} {self.batch_limit}"


def refusal(variant: ModelVariant) -> Refusal | None:
    """Why a server refuses the variant, or a part of it; None if no rule says so."""
    for part in variant.with_parts():
        for rule in RULES:
            if refused := next(rule(part.config), None):
                return refused
    return next(_limits_of_ensembles(variant), None)


def least_batch_limit(config: ModelConfig) -> int:
    """The smallest max_batch_size that the other fields allow, at least 1."""
    return max((size for _, size in _batches(config)), default=1)


def _batches(config: ModelConfig) -> Iterator[tuple[str, int]]:
    """The fields that no max_batch_size may be below, at least 1."""
    yield from ((name, size) for name, size in _preferred(config) if size > 0)
    for request in config.get("model_warmup", ()):
        yield "batch_size of model_warmup", max(int(request.get("batch_size", 0)), 1)


def _preferred(config: ModelConfig) -> Iterator[tuple[str, int]]:
    batchers: Mapping[str, Mapping[str, Any]] = {
        "preferred_batch_size": config.get("dynamic_batching", {}),
        "preferred_batch_size of sequence_batching": config.get("sequence_batching", {}).get(
            "oldest", {}
        ),
    }
    for name, batcher in batchers.items():
        for size in batcher.get("preferred_batch_size", ()):
            yield name, int(size)


def platforms(config: ModelConfig) -> Iterator[Refusal]:
    """Without a backend, the platform is one of those that Triton knows."""
    platform = config.get("platform", "")
    if platform not in ("", *_PLATFORMS) and not config.get("backend"):
        yield Refusal(f'platform "{platform}" is unknown without a backend: write backend instead')


def batch_sizes(config: ModelConfig) -> Iterator[Refusal]:
    """The sizes of batches: at least 1, and within max_batch_size. Without batching, no preferred
    size is allowed, and a warm-up request has one inference.
    """
    limit = max_batch_size(config)
    if limit < 0:
        yield Refusal(f"max_batch_size {limit} is negative")
    sizes = sorted(_batches(config), key=lambda item: -item[1])
    for name, size in sizes:
        if size > (max(limit, 1) if name.endswith("model_warmup") else limit):
            yield Refusal(f"{name} {size} is above max_batch_size", limit)
    for name, size in _preferred(config):
        if size <= 0:
            yield Refusal(f"{name} {size} is not positive")


def one_batcher(config: ModelConfig) -> Iterator[Refusal]:
    """A configuration has one scheduler at most."""
    batchers = [name for name in _BATCHERS if name in config]
    if len(batchers) > 1:
        yield Refusal(f"{' and '.join(batchers)} exclude each other")


def priorities(config: ModelConfig) -> Iterator[Refusal]:
    """With levels, there is a default level among them, and queue policies are for these levels."""
    batching = config.get("dynamic_batching", {})
    levels = int(batching.get("priority_levels", 0))
    if not levels:
        return
    default = int(batching.get("default_priority_level", 0))
    if not 1 <= default <= levels:
        yield Refusal(f"default_priority_level {default} is not in 1 to {levels}")
    for level in batching.get("priority_queue_policy", {}):
        if not 1 <= int(level) <= levels:
            yield Refusal(f"priority_queue_policy {level} is not in 1 to {levels}")


def ordering(config: ModelConfig) -> Iterator[Refusal]:
    """Responses in order exclude priorities, and requests that wait beyond their time-out."""
    batching = config.get("dynamic_batching", {})
    if not batching.get("preserve_ordering"):
        return
    if int(batching.get("priority_levels", 0)) > 1:
        yield Refusal("preserve_ordering excludes several priority_levels")
    policies = [
        batching.get("default_queue_policy", {}),
        *batching.get("priority_queue_policy", {}).values(),
    ]
    if any(
        policy.get("timeout_action") == "DELAY"
        and int(policy.get("default_timeout_microseconds", 0))
        for policy in policies
    ):
        yield Refusal("preserve_ordering excludes the timeout_action DELAY")


def slots(config: ModelConfig) -> Iterator[Refusal]:
    """The least share of the slots of sequences that a batch needs is a share."""
    direct = config.get("sequence_batching", {}).get("direct", {})
    share = float(direct.get("minimum_slot_utilization", 0))
    if not 0 <= share <= 1:
        yield Refusal(f"minimum_slot_utilization {share:g} is not in 0 to 1")


def response_cache(config: ModelConfig) -> Iterator[Refusal]:
    """Answers of decoupled and of stateful models cannot be cached."""
    if not config.get("response_cache", {}).get("enable"):
        return
    if config.get("model_transaction_policy", {}).get("decoupled"):
        yield Refusal("response_cache does not support decoupled models")
    if "sequence_batching" in config:
        yield Refusal("response_cache does not support sequence_batching")


def devices(config: ModelConfig) -> Iterator[Refusal]:
    """Groups on CPUs, or wherever the backend decides, name no GPUs; profiles are for TensorRT. A
    server without an instance that answers ends at the first request.
    """
    groups = config.get("instance_group", ())
    if groups and all(group.get("passive") for group in groups):
        yield Refusal("every instance_group is passive, so no instance answers")
    for group in groups:
        kind = kind_of_group(group)
        if kind in ("CPU", "MODEL") and group.get("gpus"):
            yield Refusal(f"an instance_group of KIND_{kind} names gpus")
        if group.get("profile") and not _is_tensorrt(config):
            yield Refusal("an instance_group has a profile, which only TensorRT models have")


def _is_tensorrt(config: ModelConfig) -> bool:
    return platform_of(config).startswith("tensorrt")


def ensembles(config: ModelConfig) -> Iterator[Refusal]:
    """An ensemble has no instances."""
    if "ensemble_scheduling" in config:
        for field in ("instance_group", "model_warmup"):
            if config.get(field):
                yield Refusal(f"an ensemble has no {field}")


def shapes(config: ModelConfig) -> Iterator[Refusal]:
    """A size is positive, or -1 for any; a reshape has the same elements, and only with batching
    can it be a scalar. Images have three sizes; tensors that are shapes are for TensorRT.
    """
    for tensor in (*config.get("input", ()), *config.get("output", ())):
        name, dims = tensor.get("name"), _sizes(tensor.get("dims", ()))
        shape = _sizes(tensor["reshape"].get("shape", ())) if "reshape" in tensor else dims
        for field, sizes in (("dims", dims), ("reshape", shape)):
            if any(size < 1 and size != _ANY_SIZE for size in sizes):
                yield Refusal(f"{field} {sizes} of {name} has a size below 1 that is not -1")
        if dims and not shape and not max_batch_size(config):
            yield Refusal(f"the empty reshape of {name} needs batching")
        if _elements(shape) != _elements(dims):
            yield Refusal(f"the reshape {shape} of {name} has other elements than its dims {dims}")
        if tensor.get("format", _NO_FORMAT) != _NO_FORMAT and len(dims) != 3:
            yield Refusal(f"{tensor['format']} of {name} needs three dims")
        if tensor.get("is_shape_tensor") and not _is_tensorrt(config):
            yield Refusal(f"{name} is a shape tensor, which only TensorRT models have")


def _sizes(shape: Iterable[Any]) -> list[int]:
    return [int(size) for size in shape]


def _elements(shape: Iterable[int]) -> Sequence[int]:
    """The numbers of elements between the sizes that vary."""
    counts = [1]
    for size in shape:
        if size == _ANY_SIZE:
            counts.append(1)
        else:
            counts[-1] *= size
    return counts


def batch_tensors(config: ModelConfig) -> Iterator[Refusal]:
    """What is made for a whole batch is made of one input, and batch outputs are outputs."""
    names = {
        side: {tensor.get("name") for tensor in config.get(side, ())}
        for side in ("input", "output")
    }
    for side in names:
        for made in config.get(f"batch_{side}", ()):
            sources = made.get("source_input", ())
            if len(sources) != 1 or sources[0] not in names["input"]:
                yield Refusal(f"source_input {[*sources]} of batch_{side} is not one input")
            targets = made.get("target_name", ())
            if side == "output" and not names["output"].issuperset(targets):
                yield Refusal(f"target_name {[*targets]} of batch_output is no output")
            if side == "input" and made.get("data_type") not in ("TYPE_INT32", "TYPE_FP32"):
                yield Refusal("the data_type of batch_input is neither TYPE_INT32 nor TYPE_FP32")


def warm_up(config: ModelConfig) -> Iterator[Refusal]:
    """A request of the warm-up has all inputs that are not optional, in their types and sizes."""
    for request in config.get("model_warmup", ()):
        about = f"model_warmup {request.get('name')}"
        given = request.get("inputs", {})
        for tensor in config.get("input", ()):
            name = tensor.get("name")
            if name not in given:
                if not tensor.get("optional"):
                    yield Refusal(f"{about} has no input {name}")
                continue
            types = [each.get("data_type") for each in (given[name], tensor)]
            if types[0] != types[1]:
                yield Refusal(f"{about} has {name} as {types[0]} instead of {types[1]}")
            sizes, dims = (_sizes(each.get("dims", ())) for each in (given[name], tensor))
            if not given[name].keys() & {*_WARM_UP_DATA}:
                yield Refusal(f"{about} has {name} without {' or '.join(_WARM_UP_DATA)}")
            if not _fit(sizes, dims):
                yield Refusal(f"{about} has {name} with dims {sizes} instead of {dims}")


def _fit(sizes: Sequence[int], dims: Sequence[int]) -> bool:
    return len(sizes) == len(dims) and all(
        dim in (size, _ANY_SIZE) for size, dim in zip(sizes, dims, strict=True)
    )


def controls(config: ModelConfig) -> Iterator[Refusal]:
    """Each control of sequences is one input, with a value for false and one for true; the
    correlation ID is a whole number or text.
    """
    names, kinds = set[str](), set[str]()
    for tensor in config.get("sequence_batching", {}).get("control_input", ()):
        name = tensor.get("name", "")
        if not name or name in names:
            yield Refusal("the names of control_input are missing or equal")
        names.add(name)
        for control in tensor.get("control", ()):
            kind = str(control.get("kind", "CONTROL_SEQUENCE_START"))
            if kind in kinds:
                yield Refusal(f"{kind} is given twice")
            kinds.add(kind)
            values = [control[field] for field in _FALSE_TRUE if control.get(field)]
            if kind == _CORRELATION_ID:
                if values or control.get("data_type") not in _CORRELATION_TYPES:
                    yield Refusal(f"{kind} needs a data_type of {', '.join(_CORRELATION_TYPES)}")
            elif len(values) != 1 or len(values[0]) != 2:
                yield Refusal(f"{kind} needs one of {', '.join(_FALSE_TRUE)}, with two values")


def states(config: ModelConfig) -> Iterator[Refusal]:
    """A state begins with one tensor, which has its type and a fixed size that it allows."""
    for state in config.get("sequence_batching", {}).get("state", ()):
        about = f"state {state.get('input_name', '')}"
        initial = state.get("initial_state", ())
        if len(initial) > 1:
            yield Refusal(f"{about} has several initial_state")
        for each in initial:
            sizes, dims = _sizes(each.get("dims", ())), _sizes(state.get("dims", ()))
            if not each.get("name"):
                yield Refusal(f"the initial_state of {about} has no name")
            if each.get("data_type") != state.get("data_type"):
                yield Refusal(f"the initial_state of {about} has another data_type")
            if _ANY_SIZE in sizes or not _fit(sizes, dims):
                yield Refusal(f"the initial_state of {about} has dims {sizes} instead of {dims}")
            if not each.keys() & {"zero_data", "data_file"}:
                yield Refusal(f"the initial_state of {about} has neither zero_data nor data_file")


def versions(config: ModelConfig) -> Iterator[Refusal]:
    """A version policy selects at least one version."""
    latest = config.get("version_policy", {}).get("latest")
    if latest is not None and not int(latest.get("num_versions", 0)):
        yield Refusal("version_policy selects no version")


RULES: tuple[Callable[[ModelConfig], Iterator[Refusal]], ...] = (
    platforms,
    batch_sizes,
    one_batcher,
    priorities,
    ordering,
    slots,
    response_cache,
    devices,
    ensembles,
    shapes,
    batch_tensors,
    warm_up,
    controls,
    states,
    versions,
)


def _limits_of_ensembles(variant: ModelVariant) -> Iterator[Refusal]:
    """An ensemble accepts no larger batches than the models of its steps that batch."""
    for part in variant.with_parts():
        steps = step_models(part.config)
        for step in part.composing:
            if step.model in steps and 0 < step.max_batch_size < part.max_batch_size:
                yield Refusal(
                    f"max_batch_size {part.max_batch_size} of the ensemble {part.model} is above"
                    f" that of {step.model}, which is",
                    step.max_batch_size,
                )


def limits_rates(server_flags: Mapping[str, Any]) -> bool:
    """Whether a server with these flags uses the rate_limiter of models; usually not."""
    return bool(server_flags.get("rate-limit") == _LIMITING)


def rate_limits(
    variants: Iterable[ModelVariant], server_flags: Mapping[str, Any]
) -> Iterator[Refusal]:
    """The resources of all models together, where the server limits rates: a resource belongs to
    the server or to each device, and no instance needs more than there is.
    """
    if not limits_rates(server_flags):
        return
    available = _available(server_flags)
    is_global: dict[str, bool] = {}
    for variant in variants:
        for group in instance_groups(variant.config):
            for resource in group.get("rate_limiter", {}).get("resources", ()):
                name, count = str(resource.get("name")), int(resource.get("count", 0))
                shared = bool(resource.get("global"))
                if is_global.setdefault(name, shared) is not shared:
                    yield Refusal(f"the resource {name} is global and not global")
                if available and count > available.get(name, 0):
                    yield Refusal(
                        f"an instance of {variant.model} needs {count} of the resource {name},"
                        f" but rate-limit-resource has {available.get(name, 0)}"
                    )


def _available(server_flags: Mapping[str, Any]) -> Mapping[str, int]:
    """The resources of the flag, each NAME:COUNT or NAME:COUNT:DEVICE; without any, there are
    enough.
    """
    given = server_flags.get("rate-limit-resource", ())
    texts = (given,) if isinstance(given, str) else given
    matches = filter(None, (re.match(r"([^:]+):(\d+)", text) for text in texts))
    return {match[1]: int(match[2]) for match in matches}
