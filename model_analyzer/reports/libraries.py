# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Optional libraries of output formats: whether they are installed. They are slow to import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from model_analyzer.domain.settings import OutputFormat
from model_analyzer.errors import OutputError


def possible(formats: Sequence[OutputFormat]) -> tuple[tuple[OutputFormat, ...], str]:
    """These formats, and "". If PDF is one of them and cannot be made, the others and the reason:
    HTML is written in any case.
    """
    if OutputFormat.PDF in formats:
        try:
            check_weasyprint()
        except OutputError as error:
            others = tuple(each for each in formats if each is not OutputFormat.PDF)
            return others, f"PDF is left out, HTML is written: {error}"
    return tuple(formats), ""


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
