# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What travels between rooms is a value: nobody can change it on the way."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import pytest

from model_analyzer.domain import (
    goals,
    measurements,
    metrics,
    models,
    profiles,
    settings,
    trials,
)
from model_analyzer.domain.models import VariantNames

MODULES = (goals, measurements, metrics, models, profiles, settings, trials)
NOUNS = {
    thing
    for module in MODULES
    for thing in vars(module).values()
    if isinstance(thing, type) and is_dataclass(thing) and thing.__module__ == module.__name__
} - {VariantNames}  # the one that counts


@pytest.mark.parametrize("noun", sorted(NOUNS, key=str))
def test_a_noun_is_frozen_and_built_by_keyword(noun: type) -> None:
    assert noun.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert all(field.kw_only for field in fields(noun))


def test_there_are_nouns_to_look_at() -> None:
    assert len(NOUNS) > 20
