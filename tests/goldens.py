# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Texts that a test expects word for word, in files of tests/golden.

With `RENEW` in the environment, as `make goldens` does, the files become what was found.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from tests.conftest import TESTS


def check_folder(name: str, texts: Mapping[str, str]) -> None:
    """Compares the texts, by file name, with all files of a folder of tests/golden."""
    folder = TESTS / "golden" / name
    if "RENEW" in os.environ:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file, text in texts.items():
            (folder / file).write_text(text)
    assert texts == {path.name: path.read_text() for path in folder.iterdir()}
