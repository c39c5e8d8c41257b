# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Models, their facts, and the named configurations (variants) made from them; and the fields in
which configurations differ, as columns of a table.

Names are of models, of groups that are measured together, and patterns that stand for models of a
repository (`all`, or shell patterns such as `resnet*`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import count
from types import MappingProxyType
from typing import Any

from model_analyzer.domain.foreign_json import parse_with
from model_analyzer.domain.model_config_fields import MESSAGES
from model_analyzer.domain.secrets import masked_values

DEFAULT_SUFFIX = "_config_default"

# The platform of models behind OpenAI's API.
OPENAI = "openai"

# A model configuration: Triton's ModelConfig as nested mappings, tuples and scalars, with the
# field names of the protobuf and 64-bit integers as integers.
ModelConfig = Mapping[str, Any]

_EMPTY: Mapping[str, Any] = MappingProxyType({})


def empty() -> Mapping[Any, Any]:
    """An empty mapping, for defaults of fields."""
    return _EMPTY


def freeze(value: Any) -> Any:
    """The same JSON-like value with read-only mappings and tuples inside."""
    if isinstance(value, Mapping):
        return MappingProxyType({str(key): freeze(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        return tuple(freeze(item) for item in value)
    return value


def thaw(value: Any) -> Any:
    """The same value as plain dicts and lists, ready for `json` or a protobuf."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [thaw(item) for item in value]
    return value


def fingerprint(value: Any) -> str:
    """32 hex digits that are equal for equal content; the order of keys does not matter."""
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=dict
    )  # `default` converts read-only mappings
    return hashlib.sha256(text.encode()).hexdigest()[:32]


# Of these, a message has one at most, by the field with the message.
ALTERNATIVES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "version_policy": frozenset({"latest", "all", "specific"}),
        "sequence_batching": frozenset({"direct", "oldest"}),
    }
)


def apply_parameters(base: ModelConfig, parameters: Mapping[str, Any]) -> ModelConfig:
    """`base` changed by one combination of model configuration parameters.

    Mappings are merged key by key; an alternative replaces that of `base`. Other values, also
    lists, replace the field. `None` leaves the field as it is in `base`.
    """
    merged = dict(base)
    for key, value in parameters.items():
        if value is None:
            continue
        old = merged.get(key)
        if isinstance(value, Mapping):
            old = old if isinstance(old, Mapping) else {}
            alternatives = ALTERNATIVES.get(key, frozenset())
            given = {name for name, each in value.items() if each is not None}
            replaced = alternatives - given if alternatives & given else ()
            kept = {name: each for name, each in old.items() if name not in replaced}
            merged[key] = apply_parameters(kept, value)
        else:
            merged[key] = freeze(value)
    return MappingProxyType(merged)


def max_batch_size(config: ModelConfig) -> int:
    """The batch limit of a configuration; 0 means that the model does not batch."""
    return int(config.get("max_batch_size", 0))


def largest_preferred_batch_size(config: ModelConfig) -> int:
    """The largest preferred batch size of the dynamic batcher, or 0."""
    batching = config.get("dynamic_batching", {})
    return max((int(size) for size in batching.get("preferred_batch_size", ())), default=0)


def queue_delay_us(config: ModelConfig) -> int:
    """How many microseconds the dynamic batcher may delay a request to fill a batch."""
    return int(config.get("dynamic_batching", {}).get("max_queue_delay_microseconds", 0))


# Backends that get two instances on CPUs from Triton if the configuration has no count.
_TWO_ON_CPUS = ("onnxruntime", "tensorflow")


def platform_of(config: ModelConfig) -> str:
    """The backend or the platform of a configuration."""
    return str(config.get("backend") or config.get("platform") or "unknown")


def instance_groups(config: ModelConfig) -> Sequence[Mapping[str, Any]]:
    """The groups of instances; without any, Triton makes one."""
    return config.get("instance_group") or ({},)


def kind_of_group(group: Mapping[str, Any]) -> str:
    """Such as "GPU"; "AUTO" if the server chooses."""
    return str(group.get("kind", "KIND_AUTO")).removeprefix("KIND_")


def count_of_groups(config: ModelConfig) -> int:
    """The counts of all groups together, whatever the number of GPUs."""
    groups = instance_groups(config)
    return sum(_count(config, group, kind_of_group(group)) for group in groups)


def _count(config: ModelConfig, group: Mapping[str, Any], kind: str) -> int:
    """The instances of a group; with a `count` below 1, or without, the server's default."""
    usual = 2 if kind == "CPU" and platform_of(config).startswith(_TWO_ON_CPUS) else 1
    count = int(group.get("count", 0))
    return count if count > 0 else usual


def step_models(config: ModelConfig) -> tuple[str, ...]:
    """The models that the steps of an ensemble call, each once, in step order."""
    steps = config.get("ensemble_scheduling", {}).get("step", ())
    return tuple(dict.fromkeys(str(step.get("model_name", "")) for step in steps))


def is_cached(config: ModelConfig) -> bool:
    """Whether the server may answer requests of the model from its response cache."""
    return bool(config.get("response_cache", {}).get("enable", False))


def without_cache(config: ModelConfig) -> ModelConfig:
    """The configuration without a response cache."""
    return {key: value for key, value in config.items() if key != "response_cache"}


def is_decoupled(config: ModelConfig) -> bool:
    """Whether the model answers a request with any number of responses."""
    return bool(config.get("model_transaction_policy", {}).get("decoupled", False))


# Triton's default.
_SEQUENCE_IDLE_S = 1.0


def sequence_idle_s(config: ModelConfig) -> float:
    """The seconds without a request after which the server drops a sequence."""
    idle_us = config.get("sequence_batching", {}).get("max_sequence_idle_microseconds", 0)
    return int(idle_us) / 1e6 or _SEQUENCE_IDLE_S


def is_openai(config: ModelConfig) -> bool:
    """Whether the model is behind OpenAI's API, which tells nothing else about it."""
    return bool(config.get("platform") == OPENAI)


@dataclass(frozen=True, kw_only=True)
class ModelFacts:
    """A model as it is in the repository; read once, before a search is chosen.

    `files` is a fingerprint of all files of the model except its configuration. `composing` are
    the models that an ensemble calls, in step order, or those that the user named for a BLS model.
    """

    name: str
    config: ModelConfig
    files: str
    composing: tuple[ModelFacts, ...] = ()

    @cached_property
    def identity(self) -> str:
        """Fingerprint of the unchanged model: that of its default variant."""
        return VariantNames().default(self).identity

    def with_parts(self) -> Iterator[ModelFacts]:
        """The model, and all models that it calls, also indirectly."""
        yield self
        for part in self.composing:
            yield from part.with_parts()

    @property
    def is_ensemble(self) -> bool:
        return "ensemble_scheduling" in self.config

    @property
    def supports_batching(self) -> bool:
        return max_batch_size(self.config) > 0

    @property
    def supports_dynamic_batching(self) -> bool:
        return self.supports_batching and "sequence_batching" not in self.config


@dataclass(frozen=True, kw_only=True)
class ModelVariant:
    """A complete, named model configuration that a server can load.

    The field `name` of `config` is the name of the base model. Two variants are the same if their
    `identity` is the same: their names are for people only.
    """

    model: str
    name: str
    config: ModelConfig
    files: str
    composing: tuple[ModelVariant, ...] = ()

    @property
    def is_default(self) -> bool:
        return self.name == self.model + DEFAULT_SUFFIX

    @cached_property
    def identity(self) -> str:
        """Fingerprint of everything that the server loads."""
        config = dict(self.config)
        if groups := config.get("instance_group"):
            config["instance_group"] = [self._counted(group) for group in groups]
        return fingerprint(
            [self.model, config, self.files, [part.identity for part in self.composing]]
        )

    @cached_property
    def unverified_identity(self) -> str:
        """Fingerprint without the files. It is also equal for configurations that differ only in
        fields with default values or in the order of composing models.
        """
        from model_analyzer.domain.protobuf import normal

        try:
            config = normal(self.config)
        except ValueError:  # no server accepts it, so it equals no other configuration
            config = self.config
        parts = sorted(part.unverified_identity for part in self.composing)
        return fingerprint([self.model, config, parts])

    @property
    def is_ensemble(self) -> bool:
        return "ensemble_scheduling" in self.config

    @property
    def served(self) -> tuple[ModelVariant, ...]:
        """The variants that have instances: the parts of an ensemble; otherwise the variant itself
        and those that it calls.
        """
        parts = tuple(inner for part in self.composing for inner in part.served)
        return parts if self.is_ensemble else (self, *parts)

    def with_parts(self) -> Iterator[ModelVariant]:
        """The variant, and all variants that it calls, also indirectly."""
        yield self
        for part in self.composing:
            yield from part.with_parts()

    @property
    def full_name(self) -> str:
        """The name, followed by the names of the composing variants."""
        parts = ", ".join(part.full_name for part in self.composing)
        return f"{self.name}: {parts}" if parts else self.name

    @property
    def telling_name(self) -> str:
        """A unique name. Upstream gives one name to all combinations of a BLS model and the
        variants that it calls: there, it is the full name.
        """
        is_upstreams = not self.files and bool(self.composing) and not self.is_ensemble
        is_all_default = all(variant.is_default for variant in self.with_parts())
        return self.full_name if is_upstreams and not is_all_default else self.name

    @property
    def folder(self) -> str:
        """The telling name, as the name of a directory."""
        return self.telling_name.replace(": ", ",").replace(", ", ",")

    @property
    def max_batch_size(self) -> int:
        return max_batch_size(self.config)

    @property
    def has_dynamic_batching(self) -> bool:
        return "dynamic_batching" in self.config

    @property
    def platform(self) -> str:
        """The backend or the platform of the configuration."""
        return platform_of(self.config)

    def instances(self, *, gpus: int) -> Sequence[tuple[int, str]]:
        """(count, "GPU" or "CPU") of each kind of instance, summed over all groups.

        A GPU group counts once for each GPU that it names, or for each of the `gpus` present; one
        of KIND_MODEL counts once, since its backend decides where it runs.
        """
        totals: dict[str, int] = {}
        for group in instance_groups(self.config):
            kind = given = kind_of_group(group)
            if kind in ("AUTO", "MODEL"):
                kind = "GPU" if gpus else "CPU"
            count = _count(self.config, group, kind)
            if kind == "GPU" and given != "MODEL":
                count *= len(group.get("gpus", ())) or max(gpus, 1)
            totals[kind] = totals.get(kind, 0) + count
        return tuple((count, kind) for kind, count in totals.items())

    def filling_concurrency(self, *, gpus: int) -> int:
        """Requests in flight that keep the variant busy: twice the number that its instances
        process at the same time.

        For an ensemble, it is the smallest number of its steps.
        """
        steps = step_models(self.config)
        if steps:
            parts = [part for part in self.composing if part.model in steps]
            return min(part.filling_concurrency(gpus=gpus) for part in parts)
        instances = sum(count for count, _ in self.instances(gpus=gpus))
        return 2 * max(self.max_batch_size, 1) * instances

    def _counted(self, group: Mapping[str, Any]) -> Mapping[str, Any]:
        """The group with its count, unless the count depends on the machine."""
        kind = kind_of_group(group)
        if kind == "AUTO" and self.platform.startswith(_TWO_ON_CPUS):
            return group
        return {**group, "count": _count(self.config, group, kind)}

    def uses_gpus(self, *, gpus: int) -> bool:
        """Whether the variant or a composing one has an instance on one of the `gpus` present.

        An ensemble itself has no instances.
        """
        own = () if "ensemble_scheduling" in self.config else self.instances(gpus=gpus)
        return any(kind == "GPU" for _, kind in own) or any(
            part.uses_gpus(gpus=gpus) for part in self.composing
        )


@dataclass(slots=True)
class VariantNames:
    """Gives each new configuration of a model the next free name, and an old one its old name.

    Names are `MODEL_config_default` for the model's own configuration, then `MODEL_config_0`,
    `_1`, … in order of creation. A searched configuration that equals the default gets a number as
    well. A name includes the models that it calls: with other variants of these, the model has
    another number.
    """

    _names: dict[tuple[str, str], str] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)
    _numbers: dict[str, Iterator[int]] = field(default_factory=dict)  # by model, not yet given

    @classmethod
    def known(cls, variants: Iterable[ModelVariant]) -> VariantNames:
        """Starts with the names of `variants` and of those that they call."""
        names = cls()
        for variant in variants:
            names._learn(variant)
        return names

    def _learn(self, variant: ModelVariant) -> None:
        for part in variant.composing:
            self._learn(part)
        number = variant.name.removeprefix(f"{variant.model}_config_")
        key = self._key(variant.model, variant.config, variant.composing)
        # upstream may give a name twice: here, it belongs to the first
        is_another = variant.name in self._taken and self._names.get(key) != variant.name
        if number.isdecimal() and not is_another:
            self._names[key] = variant.name
            self._taken.add(variant.name)

    def default(self, facts: ModelFacts) -> ModelVariant:
        """The unchanged model, with the unchanged models that it calls."""
        return ModelVariant(
            model=facts.name,
            name=facts.name + DEFAULT_SUFFIX,
            config=facts.config,
            files=facts.files,
            composing=tuple(self.default(part) for part in facts.composing),
        )

    def knows(
        self,
        facts: ModelFacts,
        parameters: Mapping[str, Any],
        composing: Sequence[ModelVariant] | None = None,
    ) -> bool:
        """Whether this configuration has a name already."""
        config = apply_parameters(facts.config, parameters)
        return self._key(facts.name, config, self._parts(facts, composing)) in self._names

    def variant(
        self,
        facts: ModelFacts,
        parameters: Mapping[str, Any],
        composing: Sequence[ModelVariant] | None = None,
    ) -> ModelVariant:
        """The model with `parameters` applied, under its stable name. It calls `composing`; None
        stands for the defaults.
        """
        config = apply_parameters(facts.config, parameters)
        parts = self._parts(facts, composing)
        key = self._key(facts.name, config, parts)
        if key not in self._names:
            # A number without a record belongs to a variant that was never measured: a resumed run
            # gives it the same number again.
            numbers = self._numbers.setdefault(facts.name, count())
            free = (f"{facts.name}_config_{number}" for number in numbers)
            name = next(name for name in free if name not in self._taken)
            self._names[key] = name
            self._taken.add(name)
        return ModelVariant(
            model=facts.name,
            name=self._names[key],
            config=config,
            files=facts.files,
            composing=parts,
        )

    def _parts(
        self, facts: ModelFacts, composing: Sequence[ModelVariant] | None
    ) -> tuple[ModelVariant, ...]:
        if composing is None:
            return tuple(self.default(part) for part in facts.composing)
        return tuple(composing)

    @staticmethod
    def _key(model: str, config: ModelConfig, composing: Iterable[ModelVariant]) -> tuple[str, str]:
        return model, fingerprint([config, [part.name for part in composing]])


_MEMBER = re.compile(r"(?:[^,\\]|\\.|\\$)+", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SPECIAL = re.compile(r"[,\\]")


def group_name(members: Iterable[str]) -> str:
    r"""The name of the group in files, in tables and on the command line: `a,b`.

    A comma that belongs to the name of a member is written `\,`.
    """
    names = list(members)
    plain = ",".join(names)
    if plain.count(",") == len(names) - 1 and "\\" not in plain:
        return plain  # nearly always, and a checkpoint has many
    return ",".join(_SPECIAL.sub(lambda match: f"\\{match[0]}", name) for name in names)


def group_members(name: str) -> tuple[str, ...]:
    """The names of the members, in their order: the reverse of `group_name`."""
    return tuple(_ESCAPED.sub(r"\1", part) for part in _MEMBER.findall(name))


_ALL = "all"
_WILDCARDS = frozenset("*?[")


def is_pattern(name: str) -> bool:
    """Whether the name may stand for several models."""
    return name == _ALL or not _WILDCARDS.isdisjoint(name)


def matches(model: str, pattern: str) -> bool:
    """Whether the pattern stands for this model."""
    return pattern == _ALL or fnmatchcase(model, pattern)


def entry_for(model: str, entries: Iterable[str]) -> str | None:
    """The entry whose options the model has: its own name, or else the last pattern that matches
    it; None if there is neither.
    """
    names = list(entries)
    if model in names:
        return model
    patterns = (name for name in reversed(names) if is_pattern(name) and matches(model, name))
    return next(patterns, None)


def unmatched(entries: Iterable[str], models: Sequence[str]) -> Sequence[str]:
    """The patterns that stand for no model of a repository with these `models`."""
    return [
        entry
        for entry in entries
        if is_pattern(entry)
        and entry not in models
        and not any(matches(model, entry) for model in models)
    ]


# The beginning of the names of these columns.
PARAMETER = "config."

Setting = str | int | float | None


def differing_parameters(variants: Iterable[ModelVariant]) -> Mapping[str, Mapping[str, Setting]]:
    """The parameters (`config.…`) in which the variants of one model differ, by identity; those in
    JSON texts, too.
    """
    parameters = {variant.identity: dict(_parameters(variant)) for variant in variants}
    names = dict.fromkeys(name for values in parameters.values() for name in values)
    differing = [
        name for name in names if len({str(values.get(name)) for values in parameters.values()}) > 1
    ]
    return {
        identity: {name: values[name] for name in differing if name in values}
        for identity, values in parameters.items()
    }


def _parameters(variant: ModelVariant) -> Iterator[tuple[str, Setting]]:
    """The fields of the configuration, such as `config.max_batch_size`; for composing models with
    their name: `config.MODEL.max_batch_size`.
    """
    for name, value in masked_values(variant.config).items():
        yield from _leaves(PARAMETER + name, value)
    for part in variant.composing:
        for name, cell in _parameters(part):
            yield f"{PARAMETER}{part.model}.{name.removeprefix(PARAMETER)}", cell


def model_and_field(parameter: str) -> tuple[str, str]:
    """The model of a parameter ("" if it is not named) and its field, such as `max_batch_size`.
    Names of models may contain dots: the field begins where the configuration has one.
    """
    words = parameter.removeprefix(PARAMETER).split(".")
    places = (place for place, word in enumerate(words) if word in MESSAGES["ModelConfig"])
    place = next(places, 0)
    return ".".join(words[:place]), ".".join(words[place:])


def unpacked(value: Any) -> Any:
    """A text that is a JSON object as a mapping, with numbers as they are written; any other value
    as it is.
    """
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return parse_with(value, number=str, constant=str)
    except ValueError:
        return value


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Setting]]:
    value = unpacked(value)
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(f"{name}.{key}", inner)
    elif isinstance(value, Mapping):
        yield name, "{}"
    elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        for index, item in enumerate(value):
            yield from _leaves(f"{name}.{index}", item)
    elif isinstance(value, list):
        yield name, ",".join(map(str, value))
    else:
        yield name, value
