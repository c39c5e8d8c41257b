# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of the YAML file, for editors and other programs.

It accepts everything that the option table accepts. It does not check rules between options, empty
ranges, weights that are all 0, limits of numbers written as text, the number of combinations of a
sweep, and home directories of unknown users.
"""

from __future__ import annotations

from model_analyzer.config import model_options, sweeps
from model_analyzer.config.fragments import Schema
from model_analyzer.config.options import OPTIONS
from model_analyzer.config.table import schema


def json_schema() -> Schema:
    """A schema (draft 2020-12) for a whole file; it also accepts an empty file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of model-analyzer",
        **schema(OPTIONS),
        "type": ["object", "null"],
        "$defs": {**model_options.definitions(), **sweeps.definitions()},
    }
