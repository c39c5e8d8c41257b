# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How a reader of a page uses what it recommends, or another configuration."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """How to use the recommendation: its config.pbtxt (of each model, if there are several), their
    `difference` from those in the model repository, and the `command` that prints a Kubernetes
    manifest; `start` is how that begins, before goals. "" if unknown. `configurations` are the same
    texts of the best variants, in the order of the ranking.
    """

    configuration: str = ""
    difference: str = ""
    command: str = ""
    start: str = ""
    configurations: tuple[tuple[str, str], ...] = ()
