# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Phrases of messages that several tests look for: a reworded message is changed here once."""

from __future__ import annotations

QUICK_DOES_NOT_SUPPORT = "search mode quick does not support"
ONE_VALUE_OF_EACH_FIELD = "search mode quick supports one value for each field"
REPLACES = "replaces the value at"
EMPTY_RANGE = "is empty"
NOT_AN_INTEGER = "expected a whole number"
DID_NOT_LOAD = "did not load"
NO_PASSWORD = "must not contain a user or password"
OTHER_LOAD = "has no effect for model 'm': its load is"
GIVEN_TWICE = "profile_models is also given at"
ONLY_LOADED = "measuring only the configuration that the server has loaded"
NO_VALUES_TO_TRY = "the list of values to try is empty"
INCOMPLETE_CONFIGURATION = "backend, inputs or outputs are missing"
NO_MODEL_FILE = "no model.py in version 1, which the server loads"
NO_STREAMS_OVER_HTTP = "it streams its responses, which HTTP does not support"
VARIABLE_DIMENSION = "input ROWS has a variable dimension"
NEEDS_LESS_MEMORY = "use fewer instances or smaller batches"
NOT_DELETED = "it will not be deleted"
FOREIGN_DIRECTORY = "is not empty, and no run created it"
FOREIGN_ENTRY = "which no run created"
ONLY_A_SERVER = "only a server can complete the configuration of"
USING_ITS_MEASUREMENTS = "using its measurements"


def died_during(variant: str) -> str:
    """The message for a server that died under load."""
    return f"the server died during the measurement of {variant}"


def too_large_batch(size: int, *, largest: int) -> str:
    """The message for a client batch size that no variant accepts."""
    return f"the client batch size {size} is above the largest that a variant accepts ({largest})"


def wrong_limit(tag: str, *, right: str, wrong: str) -> str:
    """The message for a constraint with the wrong kind of limit."""
    return f"the limit of {tag} is {right!r}, not {wrong!r}"


UNSUPPORTED_TAG = "unsupported tag"

# reports
DEFAULT_IS_BEST = "it is the default configuration, and no other configuration is better"
FAILED_TRIALS = "Failed trials"
CONFIGURATION_CHANGES = "Changes to config.pbtxt"
