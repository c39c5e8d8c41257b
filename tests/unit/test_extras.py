# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Versions of optional packages, and what installs them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest

from model_analyzer import extras
from model_analyzer.extras import check_extra, install_command

LINES = [
    "click>=8.1",
    "tritonclient[grpc]>=2.64",
    "mcp<3,>=2.0; extra == 'mcp'",
    "anyio>=4.9; extra == 'mcp'",
    'ray>=2.50; (python_version < "3.15") and extra == "ray"',
    "mcp>=1; extra == 'other'",
]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    versions = {"mcp": "2.1.0", "anyio": "4.9.0", "ray": "2.50.1"}

    def version(name: str) -> str:
        if name not in versions:
            raise PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(extras, "requires", lambda _: LINES)
    monkeypatch.setattr(extras, "version", version)
    return versions


@pytest.mark.usefixtures("installed")
def test_all_packages_of_an_extra_are_installed_within_their_bounds() -> None:
    assert install_command("mcp") == "pip install 'mcp<3,>=2.0' 'anyio>=4.9'"
    assert install_command("ray") == "pip install 'ray>=2.50'"


@pytest.mark.parametrize(
    ("name", "version", "extra", "needed"),
    [
        ("mcp", "1.9.4", "mcp", "mcp<3,>=2.0"),
        ("mcp", "3.0.0rc1", "mcp", "mcp<3,>=2.0"),
        ("anyio", "4.8.12", "mcp", "anyio>=4.9"),
        ("ray", "2.9.3", "ray", "ray>=2.50"),
    ],
)
def test_other_versions_are_refused(
    installed: dict[str, str], name: str, version: str, extra: str, needed: str
) -> None:
    check_extra(extra)
    installed[name] = version

    with pytest.raises(ImportError) as raised:
        check_extra(extra)

    assert str(raised.value) == f"{name} {version} is installed, {needed} is needed"


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("mcp", "2"),
        ("mcp", "2.0.0"),
        ("mcp", "2.10.0.post1"),
        ("anyio", "10.0"),
        ("ray", "3.0.0.dev0"),
    ],
)
def test_versions_are_compared_by_their_numbers(
    installed: dict[str, str], name: str, version: str
) -> None:
    installed[name] = version

    check_extra("mcp")
    check_extra("ray")


def test_an_absent_package_is_left_to_its_import(installed: dict[str, str]) -> None:
    installed.clear()

    check_extra("mcp")


def test_a_program_that_was_never_installed_names_the_extra(monkeypatch) -> None:
    def requires(name: str) -> list[str]:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(extras, "requires", requires)

    check_extra("ray")
    assert install_command("ray") == "pip install ray"


@pytest.mark.parametrize(
    "extra",
    [
        "pdf", "optuna", "docker", "ray", "remote", "parquet", "mcp", "otlp", "mlflow", "wandb",
    ],
)  # fmt: skip
def test_every_extra_has_packages(extra: str) -> None:
    assert ">=" in install_command(extra)
    check_extra(extra)
