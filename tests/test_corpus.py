# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever failed once in `make fuzz` holds now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.corpus import LIMIT_S, kept, within
from tools.fuzz import KINDS

EXAMPLES = [pytest.param(kind, path, id=f"{kind}-{path.stem}") for kind, path in kept()]


@pytest.mark.parametrize(("kind", "path"), EXAMPLES)
def test_what_failed_once_holds(kind: str, path: Path, request: pytest.FixtureRequest) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    if reason := content.get("waits_for"):
        request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
    with within(LIMIT_S):
        KINDS[kind].check(content["example"])
