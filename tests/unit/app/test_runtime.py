# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the installation of a runtime refuses before it begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_analyzer.app.runtime import install, inventories
from model_analyzer.errors import ConfigError
from model_analyzer.runner.runtime import with_runtime
from tests.unit.scripts import make_runtime


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


def test_runtimes_side_by_side_are_listed_with_the_newest_last(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    assert [*inventories(environment)] == []

    runtimes = [make_runtime(with_runtime(environment, version)) for version in ("2.51", "2.36.0")]
    listed = [*inventories(environment)]

    assert [each.root for each in listed] == [runtimes[1].root, runtimes[0].root]
    assert [each.parts["tritonserver"].split()[0] for each in listed] == ["2.36.0", "2.51.0"]
    assert all(each.works for each in listed)
