# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model_config_parameters`: checks the fields against Triton's ModelConfig and expands sweeps.

If a value fits its field, it is one value; otherwise it is a list of alternatives (a sweep):
`max_batch_size: [4, 8]` is a sweep, `preferred_batch_size: [4, 8]` is one value, and
`[[4, 8], [16]]` is a sweep of it. Alternatives at any depth multiply. `null` leaves a field
unchanged.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from itertools import islice, product
from types import MappingProxyType
from typing import Any

from model_analyzer.config.kinds import Boolean, Integer, Kind, Number, Text
from model_analyzer.config.nodes import (
    NULL,
    Entry,
    Node,
    Schema,
    any_of,
    array,
    closed,
    did_you_mean,
    mapping,
    read_mapping,
)
from model_analyzer.domain.model_config_fields import ENUMS, MESSAGES
from model_analyzer.domain.models import ALTERNATIVES
from model_analyzer.domain.words import MOST_INSTANCES

_MOST_ALTERNATIVES = 100_000
SCALARS: Mapping[str, Kind] = {
    "int32": Integer(-(2**31), 2**31 - 1),
    "int32 from 0": Integer(0, 2**31 - 1),
    "instances": Integer(0, MOST_INSTANCES),
    "int64": Integer(-(2**63), 2**63 - 1),
    "uint32": Integer(0, 2**32 - 1),
    "uint64": Integer(0, 2**64 - 1),
    "float": Number(-sys.float_info.max, sys.float_info.max),
    "bool": Boolean(),
    "str": Text(),
}

# Fields of which no server takes some of the values that their type has.
_NARROWER = {
    "ModelConfig": {"max_batch_size": "int32 from 0"},
    "ModelInstanceGroup": {"count": "instances"},
}

# Of these fields, a message has one at most.
_ONE_OF = {
    "ModelVersionPolicy": ALTERNATIVES["version_policy"],
    "ModelSequenceBatching": ALTERNATIVES["sequence_batching"],
    "ModelSequenceBatching.InitialState": frozenset({"zero_data", "data_file"}),
    "ModelWarmup.Input": frozenset({"zero_data", "random_data", "input_data_file"}),
}

Alternatives = tuple[Any, ...]


class ModelConfigParameters:
    """A mapping from fields of the model configuration to the values to try, in order."""

    metavar = "MAPPING"

    def parse(self, node: Node) -> Mapping[str, Alternatives]:
        fields = _fields(node, "ModelConfig")
        for entry in node.entries:
            if entry.key == "name":
                raise entry.problem("the name of a model cannot be varied", "remove it")
        if math.prod(map(len, fields.values())) > _MOST_ALTERNATIVES:
            raise node.problem(f"more than {_MOST_ALTERNATIVES} combinations")
        return MappingProxyType(fields)

    def schema(self) -> Schema:
        return {"$ref": "#/$defs/ModelConfig"}


def definitions() -> Mapping[str, Schema]:
    """The definitions that the schema of `ModelConfigParameters` refers to: every message, with
    its sweep forms.
    """
    messages = {
        name: closed({field: _schema(kind) for field, kind in _kinds(name).items()})
        for name in MESSAGES
    }
    del messages["ModelConfig"]["properties"]["name"]  # model-analyzer names the variants
    kinds = {kind for fields in MESSAGES.values() for kind in fields.values()}
    lists = {
        f"list of {kind[1:-1]}": any_of(
            NULL,
            array(_single_schema(kind[1:-1])),
            array({"$ref": f"#/$defs/list of {kind[1:-1]}"}),
        )
        for kind in sorted(kinds)
        if kind.startswith("[")
    }
    return {**messages, **lists}


def _schema(kind: str) -> Schema:
    """A field of this kind: null, a value, or a list of values to try."""
    if kind.startswith("["):
        return {"$ref": f"#/$defs/list of {kind[1:-1]}"}
    single = mapping(_schema(kind[1:-1])) if kind.startswith("{") else _single_schema(kind)
    return any_of(single, NULL, array(any_of(single, NULL), minItems=1))


def _single_schema(kind: str) -> Schema:
    if kind in SCALARS:
        return SCALARS[kind].schema()
    return {"enum": list(ENUMS[kind])} if kind in ENUMS else {"$ref": f"#/$defs/{kind}"}


def _kinds(message: str) -> Mapping[str, str]:
    """The kind of each field of a message."""
    return {**MESSAGES[message], **_NARROWER.get(message, {})}


def _fields(node: Node, message: str) -> dict[str, Alternatives]:
    """The alternatives of each field of a message."""
    kinds = _kinds(message)

    def read(entry: Entry) -> Alternatives:
        if entry.key not in kinds:
            hint = did_you_mean(entry.key, list(kinds))
            raise entry.problem(f"{message} has no field {entry.key!r}", hint)
        return _alternatives(entry.node, kinds[entry.key])

    fields = read_mapping(node, f" of {message} fields", read)
    one_of = _ONE_OF.get(message, ())
    given = [each for each in node.entries if each.key in one_of and not each.node.is_null]
    if len(given) > 1:
        names = " and ".join(each.key for each in given)
        raise given[1].problem(f"{names} exclude each other", "give one of them")
    return fields


def _alternatives(node: Node, kind: str) -> Alternatives:
    if node.is_null:
        return (None,)
    if kind.startswith("["):
        return _repeated(node, kind[1:-1])
    if node.is_list:
        if not node.items:
            raise node.problem("the list of values to try is empty")
        return _limited(node, (value for item in node.items for value in _single(item, kind)))
    return _single(node, kind)


def _single(node: Node, kind: str) -> Alternatives:
    """The alternatives of a value that is not a list."""
    if node.is_null:
        return (None,)
    if kind.startswith("{"):
        fields = read_mapping(node, "", lambda entry: _alternatives(entry.node, kind[1:-1]))
        return _combine(node, fields)
    if kind in SCALARS:
        return (SCALARS[kind].parse(node),)
    if kind in ENUMS:
        return (_enum_value(node, kind),)
    return _combine(node, _fields(node, kind))


def _repeated(node: Node, kind: str) -> Alternatives:
    """A list is one value, unless it has lists (or null) as items: then these are alternatives."""
    if not node.is_list:
        raise node.problem(f"expected a list, found {node.describe()}", "put it in [ ]")
    if any(item.is_list or item.is_null for item in node.items):
        return _limited(
            node, (value for item in node.items for value in _alternatives(item, f"[{kind}]"))
        )
    return _limited(node, product(*(_single(item, kind) for item in node.items)))


def _combine(node: Node, fields: Mapping[str, Alternatives]) -> Alternatives:
    """Every combination of the fields' alternatives; the last field changes fastest."""
    combinations = (
        MappingProxyType(
            {key: value for key, value in zip(fields, values, strict=True) if value is not None}
        )
        for values in product(*fields.values())
    )
    return _limited(node, combinations)


def _limited(node: Node, combinations: Iterable[Any]) -> Alternatives:
    values = tuple(islice(combinations, _MOST_ALTERNATIVES + 1))
    if len(values) > _MOST_ALTERNATIVES:
        raise node.problem(f"more than {_MOST_ALTERNATIVES} combinations")
    return values


def _enum_value(node: Node, kind: str) -> str:
    word = str(node.value) if node.is_scalar else ""
    if word not in ENUMS[kind]:
        raise node.problem(
            f"expected a {kind}, found {node.describe()}", did_you_mean(word, ENUMS[kind])
        )
    return word
