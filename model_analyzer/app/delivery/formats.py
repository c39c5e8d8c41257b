# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Output formats whose libraries are installed."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from model_analyzer.domain.settings import OutputFormat
from model_analyzer.reports.libraries import possible, pyarrow

log = logging.getLogger(__name__)


def writable(formats: Sequence[OutputFormat]) -> tuple[OutputFormat, ...]:
    """These formats, without PDF if its library is missing: HTML is written in any case, and a
    warning says so. Raises OutputError if another library is missing.
    """
    if OutputFormat.PARQUET in formats:
        pyarrow()
    rest, reason = possible(formats)
    if reason:
        log.warning("%s", reason)
    return rest
