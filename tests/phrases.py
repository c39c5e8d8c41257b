# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Phrases of messages that several tests look for: a reworded message is changed here once."""

from __future__ import annotations

QUICK_DOES_NOT_SUPPORT = "search mode quick does not support"
ONE_VALUE_OF_EACH_FIELD = "search mode quick supports one value for each field"
REPLACES = "replaces the value at"
EMPTY_RANGE = "is empty"
NO_PASSWORD = "must not contain a user or password"
UNSUPPORTED_TAG = "unsupported tag"

# reports
DEFAULT_IS_BEST = "it is the default configuration, and no other configuration is better"
FAILED_TRIALS = "Failed trials"
EFFECT_OF_EACH_PARAMETER = "Effect of each parameter"
CONFIGURATION_CHANGES = "Changes to config.pbtxt"
