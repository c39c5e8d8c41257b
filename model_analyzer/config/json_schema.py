# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of the YAML file, for editors and other programs.

It accepts what the option table accepts, except for what only arithmetic or a look around can
tell: rules between options, ranges that hold nothing, weights that are all 0, numbers written as
text that are out of bounds, products of sweeps that are too large, homes of unknown users.
"""

from __future__ import annotations

from model_analyzer.config import model_options, sweeps
from model_analyzer.config.fragments import Schema
from model_analyzer.config.options import OPTIONS
from model_analyzer.config.table import schema


def json_schema() -> Schema:
    """A schema of draft 2020-12 for a whole file; an empty file is one, too."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of model-analyzer",
        **schema(OPTIONS),
        "type": ["object", "null"],
        "$defs": {**model_options.definitions(), **sweeps.definitions()},
    }
