# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer runtime`: a real tritonserver and perf_analyzer without root or Docker."""

from __future__ import annotations

import os
from pathlib import Path

import click

from model_analyzer.cli.complete import complete_program
from model_analyzer.cli.echo import echo, echo_data
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED

_triton = click.option(
    "--triton",
    metavar="VERSION",
    help="Triton of the runtime, for example 2.36. Default: the newest one that can be installed.",
)


@click.group("runtime", context_settings={"help_option_names": ["-h", "--help"]})
def runtime() -> None:
    """Install, show, start or remove a tritonserver and perf_analyzer in your cache directory.

    Needs Linux on x86_64 with glibc 2.34 or newer (Debian 12, Ubuntu 22.04); no root, no Docker
    and no GPU.
    """


@runtime.command()
@_triton
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
    triton: str | None,
    python: str | None,
    packages: tuple[str, ...],
    unverified: bool,
    locks: tuple[Path, ...],
) -> int:
    """Install the runtime, or packages for the models into it.

    Runtimes with several versions of Triton can be installed beside one another: --runtime-version
    of a run chooses one.

    Every file is checked against a hash, except for the packages of --with.

    \b
    Examples:
      model-analyzer runtime install
      model-analyzer runtime install --triton 2.36
      model-analyzer runtime install --requirements models.txt
      model-analyzer runtime install --with onnxruntime --with pillow --unverified
    """
    from model_analyzer.app.runtime import install as install_runtime
    from model_analyzer.cli.uninterrupted import hear_terminations
    from model_analyzer.runner.runtime import with_runtime

    hear_terminations()
    install_runtime(
        with_runtime(os.environ, triton),
        python=python,
        locks=locks,
        packages=packages,
        unverified=unverified,
        say=echo,
    )
    return EXIT_OK


@runtime.command()
def show() -> int:
    """Show which runtimes are installed, and whether they start."""
    from model_analyzer.app.runtime import inventories
    from model_analyzer.runner.runtime import command_for, installed_runtime

    works: list[bool] = []
    for each in inventories(os.environ):
        if works:
            echo("")
        works.append(each.works)
        for name, text in each.parts.items():
            echo(f"{name:14} {text}")
    if not works:
        runtime = installed_runtime(os.environ)
        echo(f"No runtime in {runtime.root}: run `{command_for(runtime)}`")
    return EXIT_OK if works and all(works) else EXIT_RUN_FAILED


@runtime.command(context_settings={"allow_interspersed_args": False})
@_triton
@click.argument("program", shell_complete=complete_program)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(triton: str | None, program: str, arguments: tuple[str, ...]) -> int:
    """Start tritonserver, perf_analyzer or python3 by hand.

    PROGRAM finds its libraries, and models the Python of the runtime. tritonserver and
    perf_analyzer are those that a run would use. All ARGUMENTS are passed on; the exit status is
    that of PROGRAM.

    \b
    Examples:
      model-analyzer runtime run tritonserver --model-repository models
      model-analyzer runtime run perf_analyzer -m my_model --concurrency-range 8
      model-analyzer runtime run python3 -c "import numpy; print(numpy.__version__)"
    """
    from model_analyzer.app.runtime import start
    from model_analyzer.runner.runtime import with_runtime

    start(program, arguments, with_runtime(os.environ, triton))
    return EXIT_OK


@runtime.command("env")
@_triton
def env(triton: str | None) -> int:
    """Print the variables with which a shell starts the installed programs.

    tritonserver also needs --backend-directory, which `runtime run tritonserver` adds.

    \b
    Example:
      eval "$(model-analyzer runtime env)"
    """
    from shlex import quote

    from model_analyzer.app.runtime import shell_variables
    from model_analyzer.runner.runtime import with_runtime

    variables = shell_variables(with_runtime(os.environ, triton))
    echo_data("".join(f"export {name}={quote(value)}\n" for name, value in variables.items()))
    return EXIT_OK


@runtime.command()
@_triton
def remove(triton: str | None) -> int:
    """Remove a runtime from the cache directory."""
    from model_analyzer.runner.install import remove as remove_runtime
    from model_analyzer.runner.runtime import with_runtime

    remove_runtime(with_runtime(os.environ, triton), echo)
    return EXIT_OK
