# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer runtime`: a real tritonserver and perf_analyzer without root or Docker."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from model_analyzer.cli.echo import echo
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, ConfigError, Problem


def runtime() -> click.Group:
    return _runtime


@click.group("runtime", context_settings={"help_option_names": ["-h", "--help"]})
def _runtime() -> None:
    """Install, show or remove a tritonserver and perf_analyzer in your cache directory.

    Needs Linux on x86_64 with glibc 2.34 or newer (Debian 12, Ubuntu 22.04); no root, no Docker
    and no GPU.
    """


@_runtime.command()
@click.option(
    "--python",
    metavar="PYTHON",
    help="Interpreter for models of the Python backend: a version, name or path. Python 3.8 to"
    " 3.12; 3.13 must compile numpy. Default: the first suitable one.",
)
@click.option(
    "--with",
    "packages",
    multiple=True,
    metavar="PACKAGE",
    help="Package that models import, for example onnxruntime. Needs --unverified. Can be"
    " repeated.",
)
@click.option(
    "--unverified",
    is_flag=True,
    help="Install the packages of --with and their dependencies without checking hashes.",
)
@click.option(
    "--requirements",
    "locks",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File with packages that models import, pinned with hashes, as `pip-compile"
    " --generate-hashes` writes it. Can be repeated.",
)
def install(
    python: str | None, packages: tuple[str, ...], unverified: bool, locks: tuple[Path, ...]
) -> int:
    """Install the runtime, or packages for the models into it.

    Every file is checked against a hash, except for the packages of --with.

    \b
    Examples:
      model-analyzer runtime install
      model-analyzer runtime install --requirements models.txt
      model-analyzer runtime install --with onnxruntime --with pillow --unverified
    """
    from model_analyzer.runner.install import install as install_runtime

    if problems := list(_problems(locks, () if unverified else packages)):
        raise ConfigError(*problems)
    install_runtime(dict(os.environ), python=python, locks=locks, unverified=packages, say=echo)
    return EXIT_OK


def _problems(locks: Sequence[Path], without_hash: Sequence[str]) -> Iterator[Problem]:
    for path in locks:
        if not path.is_file():
            yield Problem(where=f"--requirements {path}", what="file not found")
    for package in without_hash:
        yield Problem(
            where=f"--with {package}",
            what="its files cannot be verified without hashes",
            hint="--unverified installs it anyway; --requirements FILE takes a file with hashes",
        )


@_runtime.command()
def show() -> int:
    """Show what is installed, and whether it starts."""
    from model_analyzer.runner.runtime import (
        INSTALL,
        VERSION,
        describe_packages,
        find_tritonserver,
        installed_runtime,
        perf_analyzer_version,
        why_server_fails,
    )

    environment = dict(os.environ)
    found = installed_runtime(environment)
    if not found.exists:
        echo(f"No runtime in {found.root}: run `{INSTALL}`")
        return EXIT_RUN_FAILED
    server_reason = why_server_fails(find_tritonserver(str(found.server), environment))
    version, load_reason = perf_analyzer_version(found.load_generator(environment))
    echo(f"tritonserver   {server_reason or f'{VERSION}  {found.server}'}")
    echo(f"perf_analyzer  {load_reason or f'{version}  {found.perf_analyzer}'}")
    echo(f"model Python   numpy {found.numpy_version or 'missing'}  {found.python}")
    echo(f"packages       {describe_packages(found)}")
    return EXIT_RUN_FAILED if server_reason or load_reason else EXIT_OK


@_runtime.command()
def remove() -> int:
    """Remove the runtime from the cache directory."""
    from model_analyzer.runner.install import remove as remove_runtime

    remove_runtime(dict(os.environ), echo)
    return EXIT_OK
