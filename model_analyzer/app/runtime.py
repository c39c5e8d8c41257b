# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A tritonserver and perf_analyzer in the cache directory: installs, describes or starts them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.errors import ConfigError, Problem, RuntimeNotFound, UnknownProgram
from model_analyzer.runner import install as installation
from model_analyzer.runner.install import Say
from model_analyzer.runner.process import become
from model_analyzer.runner.runtime import (
    Program,
    command_for,
    describe_packages,
    examined,
    find_perf_analyzer,
    find_tritonserver,
    installed_runtime,
    why_server_fails,
    with_runtime,
)
from model_analyzer.runner.versions import PYTHONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """The place of a runtime; its parts, each with a description; and whether they start."""

    root: Path
    parts: Mapping[str, str]
    works: bool


def inventories(environment: Mapping[str, str]) -> Iterator[Inventory]:
    """Every installed runtime, the default one last; its programs are started to find out."""
    for version in PYTHONS:
        chosen = with_runtime(environment, version)
        if installed_runtime(chosen).exists:
            yield _inventory(chosen)


def _inventory(environment: Mapping[str, str]) -> Inventory:
    runtime = installed_runtime(environment)
    server_fault = why_server_fails(find_tritonserver(str(runtime.server), environment))
    load, load_fault = examined(runtime.load_generator(environment))
    parts = {
        "tritonserver": server_fault or f"{runtime.version}  {runtime.server}",
        "perf_analyzer": load_fault or f"{load.version}  {runtime.perf_analyzer}",
        "model Python": f"numpy {runtime.numpy_version or 'missing'}  {runtime.python}",
        "packages": describe_packages(runtime),
    }
    return Inventory(root=runtime.root, parts=parts, works=not (server_fault or load_fault))


def shell_variables(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The variables with which a shell finds and starts the installed programs. Raises
    RuntimeNotFound if there are none.
    """
    runtime = installed_runtime(environment)
    if not runtime.exists:
        raise RuntimeNotFound(f"no runtime in {runtime.root}", f"run `{command_for(runtime)}`")
    return runtime.shell_environment(environment)


def start(name: str, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Replaces this process by a program: the tritonserver or perf_analyzer that a run would find,
    or another one with the libraries and the Python of the runtime. Raises RuntimeNotFound.
    """
    program = _program(name, environment)
    given = [argument.partition("=")[0] for argument in arguments]
    flags = [
        f"--{flag}={value}" for flag, value in program.flags.items() if f"--{flag}" not in given
    ]
    try:
        become([str(program.path), *flags, *arguments], program.environment)
    except OSError as error:
        raise RuntimeNotFound(f"{program.path} does not start: {error.strerror}") from None


def _program(name: str, environment: Mapping[str, str]) -> Program:
    runtime = installed_runtime(environment)
    try:
        match name:
            case "tritonserver":
                return find_tritonserver(None, environment)
            case "perf_analyzer":
                return find_perf_analyzer(None, environment)
    except RuntimeNotFound as error:
        raise RuntimeNotFound(error.message, f"run `{command_for(runtime)}`") from None
    if runtime.exists:
        environment = {**environment, **runtime.shell_environment(environment)}
    path = shutil.which(name, path=environment.get("PATH"))
    if path is None:
        message = f"no program {name!r} on the PATH or in {runtime.root}"
        if runtime.exists:
            raise UnknownProgram(message)
        raise RuntimeNotFound(message, f"run `{command_for(runtime)}`")
    return Program(path=Path(path), origin="PATH", environment=environment)


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
