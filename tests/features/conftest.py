# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Features are tested through the whole program, too."""

from __future__ import annotations

from tests.cli.conftest import run, setting

__all__ = ["run", "setting"]
