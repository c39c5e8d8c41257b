# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Optional packages of output formats: whether they are installed. They are slow to import."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from model_analyzer.domain.settings import OutputFormat
from model_analyzer.errors import OutputError
from model_analyzer.extras import check_extra, install_command

log = logging.getLogger(__name__)

# What formats cannot be written without; PDF is left out, since HTML has the same.
_NEEDED = {"parquet": "pyarrow"}
_LEFT_OUT_WITHOUT = {"pdf": "weasyprint"}


def needed_packages(formats: Sequence[OutputFormat]) -> Sequence[tuple[str, str]]:
    """The name of each format that cannot be left out, and the package that it needs."""
    return [(form.value, _NEEDED[form.value]) for form in formats if form.value in _NEEDED]


def possible(formats: Sequence[OutputFormat]) -> tuple[tuple[OutputFormat, ...], str]:
    """These formats, and "". If one can be left out and its package is missing, the others and the
    reason.
    """
    for form in formats:
        try:
            if form.value in _LEFT_OUT_WITHOUT:
                imported(form.value, _LEFT_OUT_WITHOUT[form.value])
        except OutputError as error:
            others = tuple(each for each in formats if each is not form)
            return others, f"{form.name} is left out, HTML is written: {error}"
    return tuple(formats), ""


def writable(formats: Sequence[OutputFormat]) -> tuple[OutputFormat, ...]:
    """The `possible` formats, with a warning if one is left out. Raises OutputError if a package
    of the others is missing.
    """
    for name, package in needed_packages(formats):
        imported(name, package)
    rest, reason = possible(formats)
    if reason:
        log.warning("%s", reason)
    return rest


def imported(form: str, package: str) -> Any:
    """The package, or module, that a format needs. Raises OutputError if it is not installed."""
    try:
        check_extra(form)
        return import_module(package)
    except (ImportError, OSError) as error:
        # a missing library of the system makes a message of many lines
        reason = str(error).strip().splitlines()[0]
        raise OutputError(
            f"output format {form} needs the package {package}: {reason} ({install_command(form)})"
        ) from error
