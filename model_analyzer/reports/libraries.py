# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Optional libraries of output formats: whether they are installed. They are slow to import."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from model_analyzer.domain.settings import OutputFormat
from model_analyzer.errors import OutputError


def check_installed(formats: Collection[OutputFormat]) -> None:
    """Checks that the libraries for these formats are installed, before hours of measuring.

    Raises OutputError that says what to install.
    """
    if OutputFormat.PDF in formats:
        check_weasyprint()
    if OutputFormat.PARQUET in formats:
        pyarrow()


def check_weasyprint() -> None:
    """Raises OutputError if weasyprint is not installed."""
    try:
        import weasyprint  # noqa: F401
    except (ImportError, OSError) as error:
        raise OutputError(
            "output format pdf needs the package weasyprint: pip install weasyprint"
            f" ({_first_line(error)})"
        ) from error


def pyarrow() -> Any:
    """Imports pyarrow. Raises OutputError if it is not installed."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise OutputError(
            f"format parquet needs the package pyarrow: pip install pyarrow ({error})"
        ) from error
    return pyarrow


def _first_line(error: Exception) -> str:
    """The reason: a missing system library makes a message of many lines."""
    return str(error).strip().splitlines()[0]
