# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""YAML that we write is read back as what it was."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.reports.commented_yaml import Noted, comment, to_yaml

TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    [
        "yes",
        "null",
        "1",
        "0x1",
        "1e3",
        "-",
        "--x=y",
        "a: b",
        "a #b",
        "12:30",
        "812M",
        "a\nb\n",
        " a\n",
    ]
)
SCALARS = TEXT | st.integers() | st.booleans() | st.none()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(TEXT, VALUES, min_size=1, max_size=4))
def test_what_is_read_back_is_what_was_written(value: dict[str, Any]) -> None:
    assert yaml.safe_load(to_yaml(value)) == value


@given(st.dictionaries(TEXT, SCALARS, min_size=1, max_size=3), st.text())
def test_comments_change_nothing(value: dict[str, Any], why: str) -> None:
    noted = {key: Noted(item, why) for key, item in value.items()}
    nested = {"a": Noted([noted, Noted("x", why)], why), "b": Noted(value, why)}
    text = f"{comment(why)}\n{to_yaml(nested)}"
    assert yaml.safe_load(text) == {"a": [value, "x"], "b": value}


def test_it_reads_as_people_write_it() -> None:
    text = to_yaml(
        {"a": Noted(1, "one"), "b": {"c": ["x", {"d": "z", "e": []}]}, "f": "l1\n  l2\n", "g": "2"}
    )
    assert text == (
        'a: 1  # one\nb:\n  c:\n    - x\n    - d: z\n      e: []\nf: |\n  l1\n    l2\ng: "2"\n'
    )
