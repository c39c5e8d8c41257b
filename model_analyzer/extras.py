# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Optional packages, as extras of pyproject.toml: their versions, and how they are installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

_REQUIREMENT = re.compile(r"([\w.-]+)([^;]*);.*\bextra == ['\"]([\w-]+)['\"]")


def check_extra(extra: str) -> None:
    """Raises ImportError if a package of this extra is installed in a version that is too old or
    too new. A package that is absent under its name may be part of another one, as mlflow-skinny
    is of older versions of mlflow: whether it is there, only its import tells.
    """
    for name, bounds in _requirements(extra):
        try:
            found = version(name)
        except PackageNotFoundError:
            continue
        if not _is_within(found, bounds):
            raise ImportError(f"{name} {found} is installed, {name}{bounds} is needed")


def install_command(extra: str) -> str:
    """What installs the packages of this extra, in versions that are supported."""
    packages = " ".join(f"'{name}{bounds}'" for name, bounds in _requirements(extra))
    return f"pip install {packages or extra}"


def _requirements(extra: str) -> Iterator[tuple[str, str]]:
    """Names and bounds; none if the program runs without having been installed, as on a node of a
    cluster that got only its files.
    """
    try:
        lines = requires("model-analyzer") or ()
    except PackageNotFoundError:
        return
    for line in lines:
        if (match := _REQUIREMENT.fullmatch(line)) and match[3] == extra:
            yield match[1], match[2].strip()


def _is_within(found: str, bounds: str) -> bool:
    """Whether a version is within bounds like `<3,>=2.0`, which are all that extras have."""
    numbers = _numbers(found)
    at_least = re.findall(r">=([\d.]+)", bounds)
    below = re.findall(r"<([\d.]+)", bounds)
    return all(numbers >= _numbers(each) for each in at_least) and all(
        numbers < _numbers(each) for each in below
    )


def _numbers(text: str) -> tuple[int, ...]:
    release = re.match(r"[\d.]*\d", text)
    numbers = [*map(int, release[0].split("."))] if release else []
    while numbers and not numbers[-1]:
        numbers.pop()  # 2 is 2.0
    return tuple(numbers)
