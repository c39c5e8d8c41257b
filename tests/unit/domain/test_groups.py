# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Names of models that are measured together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.domain.model_names import group_members, group_name


@pytest.mark.parametrize(
    ("members", "name"),
    [
        (["a"], "a"),
        (["a", "b"], "a,b"),
        (["a,b"], r"a\,b"),
        (["a,b", "c"], r"a\,b,c"),
        (["a\\"], r"a\\"),
    ],
)
def test_a_comma_of_a_member_is_no_separator(members: list[str], name: str) -> None:
    assert group_name(members) == name
    assert group_members(name) == tuple(members)


@given(st.lists(st.text(min_size=1), min_size=1))
def test_a_group_name_gives_back_its_members(members: list[str]) -> None:
    assert group_members(group_name(members)) == tuple(members)
