# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A tritonserver and perf_analyzer in the cache directory: installs, describes or removes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.errors import ConfigError, Problem
from model_analyzer.runner import install as installation
from model_analyzer.runner.install import Say
from model_analyzer.runner.runtime import (
    VERSION,
    describe_packages,
    find_tritonserver,
    installed_runtime,
    perf_analyzer_version,
    why_server_fails,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """The place of the runtime; its parts, each with a description; and whether they start."""

    root: Path
    parts: Mapping[str, str]
    works: bool


def inventory(environment: Mapping[str, str]) -> Inventory:
    """Starts the programs to find out. Without a runtime, there are no parts."""
    runtime = installed_runtime(environment)
    if not runtime.exists:
        return Inventory(root=runtime.root, parts={}, works=False)
    server_fault = why_server_fails(find_tritonserver(str(runtime.server), environment))
    version, load_fault = perf_analyzer_version(runtime.load_generator(environment))
    parts = {
        "tritonserver": server_fault or f"{VERSION}  {runtime.server}",
        "perf_analyzer": load_fault or f"{version}  {runtime.perf_analyzer}",
        "model Python": f"numpy {runtime.numpy_version or 'missing'}  {runtime.python}",
        "packages": describe_packages(runtime),
    }
    return Inventory(root=runtime.root, parts=parts, works=not (server_fault or load_fault))


def install(
    environment: Mapping[str, str],
    *,
    python: str | None,
    locks: Sequence[Path],
    packages: Sequence[str],
    unverified: bool,
    say: Say,
) -> None:
    """Installs what is missing. Raises ConfigError before, where a file of `locks` is missing, or
    `packages` may not be `unverified`.
    """
    if problems := [*_problems(locks, () if unverified else packages)]:
        raise ConfigError(*problems)
    installation.install(environment, python=python, locks=locks, unverified=packages, say=say)


def _problems(locks: Sequence[Path], without_hash: Sequence[str]) -> Iterator[Problem]:
    for path in locks:
        if not path.is_file():
            yield Problem(where=f"--requirements {path}", message="file not found")
    for package in without_hash:
        yield Problem(
            where=f"--with {package}",
            message="its files cannot be verified without hashes",
            hint="--unverified installs it anyway; --requirements FILE takes a file with hashes",
        )
