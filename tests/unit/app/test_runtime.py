# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the installation of a runtime refuses before it begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_analyzer.app.runtime import install, inventory
from model_analyzer.errors import ConfigError


def test_missing_files_and_packages_without_hashes_are_refused_together(tmp_path: Path) -> None:
    missing = tmp_path / "models.txt"

    with pytest.raises(ConfigError) as refused:
        install(
            {"MODEL_ANALYZER_CACHE": str(tmp_path)},
            python=None,
            locks=[missing],
            packages=["pillow"],
            unverified=False,
            say=print,
        )

    wheres = [problem.where for problem in refused.value.problems]
    assert wheres == [f"--requirements {missing}", "--with pillow"]
    assert not [*tmp_path.iterdir()]


def test_without_a_runtime_there_are_no_parts(tmp_path: Path) -> None:
    installed = inventory({"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)})

    assert not installed.works
    assert not installed.parts
    assert installed.root.is_relative_to(tmp_path)
