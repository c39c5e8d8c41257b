# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The pieces that the JSON Schema of the configuration is put together from.

Patterns keep to what Python and ECMAScript read alike, since they serve both a kind's `parse` and
the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

NULL: Schema = {"type": "null"}
# what YAML may turn a piece of text into
SCALAR: Schema = {"type": ["string", "number", "boolean"]}
# the name of a directory or a file
NAME = r"^(?!\.{1,2}$)[^/\u0000-\u001f]+$"


def any_of(*schemas: Schema) -> Schema:
    """What at least one of `schemas` accepts."""
    flat = [part for schema in schemas for part in schema.get("anyOf", [schema])]
    return flat[0] if len(flat) == 1 else {"anyOf": flat}


def array(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, **more}


def mapping(values: Schema, *, names: str | None = None) -> Schema:
    """Any keys (that match `names`), with values alike."""
    keys = {} if names is None else {"propertyNames": {"pattern": names}}
    return {"type": "object", **keys, "additionalProperties": values}


def closed(properties: Mapping[str, Schema], **more: Any) -> Schema:
    """These keys and no others."""
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


def text(pattern: str) -> Schema:
    """Text that is `pattern`, with blanks around it."""
    return {"type": "string", "pattern": whole(pattern)}


def whole(pattern: str) -> str:
    return rf"^\s*(?:{pattern})\s*$"


def with_commas(pattern: str) -> Schema:
    """Text with commas between pieces that are each `pattern`; blank ones are passed over."""
    piece = rf"\s*(?:{pattern})?\s*"
    return {"type": "string", "pattern": rf"^(?=[\s\S]*[^\s,]){piece}(?:,{piece})*$"}


def any_case(word: str) -> str:
    """The pattern of `word` in small and capital letters."""
    return "".join(f"[{c.upper()}{c.lower()}]" if c.isalpha() else c for c in word)
