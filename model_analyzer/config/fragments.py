# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Building blocks for the JSON Schema of the configuration.

Patterns use only syntax that means the same in Python and ECMAScript, since both a kind's `parse`
and the schema use them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

NULL: Schema = {"type": "null"}
# types that YAML may give to text
SCALAR: Schema = {"type": ["string", "number", "boolean"]}
# the name of a directory or a file
NAME = r"^(?!\.{1,2}$)[^/\u0000-\u001f]+$"


def any_of(*schemas: Schema) -> Schema:
    """Accepts what at least one of `schemas` accepts."""
    flat = [part for schema in schemas for part in schema.get("anyOf", [schema])]
    return flat[0] if len(flat) == 1 else {"anyOf": flat}


def array(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, **more}


def mapping(values: Schema, *, names: str | None = None) -> Schema:
    """Any keys (that match `names`), all with the same kind of value."""
    keys = {} if names is None else {"propertyNames": {"pattern": names}}
    return {"type": "object", **keys, "additionalProperties": values}


def closed(properties: Mapping[str, Schema], **more: Any) -> Schema:
    """Only these keys."""
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


def text(pattern: str) -> Schema:
    """Text that matches `pattern`, with optional blanks around it."""
    return {"type": "string", "pattern": whole(pattern)}


def whole(pattern: str) -> str:
    return rf"^\s*(?:{pattern})\s*$"


def with_commas(pattern: str) -> Schema:
    """Text with commas between pieces that each match `pattern`; blank pieces are skipped."""
    piece = rf"\s*(?:{pattern})?\s*"
    return {"type": "string", "pattern": rf"^(?=[\s\S]*[^\s,]){piece}(?:,{piece})*$"}


def any_case(word: str) -> str:
    """The pattern of `word` in lower and upper case."""
    return "".join(f"[{c.upper()}{c.lower()}]" if c.isalpha() else c for c in word)
