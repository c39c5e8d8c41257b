# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Tables on a terminal have the numbers of the pages, those in the log the numbers of the files."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from model_analyzer.app.delivery.answer import Delivery
from model_analyzer.cli.console import TerminalView, log_table, plain_table
from model_analyzer.cli.shared_options import print_table
from model_analyzer.cli.table_layout import laid_out
from model_analyzer.reports.markdown import markdown_table
from model_analyzer.reports.tables import Table

TABLE = Table(
    headers=("Name", "Load", "Infer/s", "p99 ms"),
    rows=(("m_config_0", 32, 1327.449, 14.4651), ("m_config_1", 1024, 98.702, None)),
)


def cells_of(line: str) -> list[str]:
    return line.replace("|", " ").split()


def drawn(table: Table) -> list[str]:
    console = Console(width=80)
    with console.capture() as capture:
        for part in laid_out(table, console.width):
            console.print(part)
    return [line.rstrip() for line in capture.get().splitlines() if line.strip()]


def test_a_terminal_shows_the_numbers_of_the_pages() -> None:
    _, _, *page = markdown_table(TABLE)
    _, *plain, _ = plain_table("Best", TABLE)[1:]
    _, _, *terminal = drawn(TABLE)
    assert list(map(cells_of, terminal)) == list(map(cells_of, plain)) == [
        ["m_config_0", "32", "1,327", "14.5"],
        ["m_config_1", "1,024", "99", "-"],
    ]  # fmt: skip
    assert [line.replace("\\", "") for line in page] == [
        "| m_config_0 | 32 | 1,327 | 14.5 |",
        "| m_config_1 | 1,024 | 99 | - |",
    ]


def test_numbers_are_aligned_at_their_last_digit_even_if_one_is_missing() -> None:
    _, _, first, second = drawn(TABLE)
    assert first.endswith("14.5")
    assert second.endswith("   -")
    assert len(first) == len(second)


def test_the_log_has_the_cells_of_the_files() -> None:
    _, header, *rows, end = log_table("Models (Inference)", TABLE)
    assert header == "Name         Load   Infer/s   p99 ms  "
    assert list(map(cells_of, rows)) == [
        ["m_config_0", "32", "1327.4", "14.465"],
        ["m_config_1", "1024", "98.702", "-"],
    ]
    assert [line.split(",")[2] for line in TABLE.to_csv().splitlines()[1:3]] == ["1327.4", "98.702"]
    assert end == ""


def test_truth_values_are_words(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("Nodes", Table(headers=("Node", "Complete"), rows=(("a", True), ("b", False))))
    assert capsys.readouterr().out.split() == ["Nodes:", "Node", "Complete", "a", "yes", "b", "no"]


@pytest.mark.usefixtures("logger")
def test_what_many_models_have_written_fills_no_screen(capsys: pytest.CaptureFixture[str]) -> None:
    paths = [Path(f"/x/best/m{number}/config.pbtxt") for number in range(90)]
    models = [(f"m{number}", f"model-analyzer best -m m{number}") for number in range(60)]
    delivery = Delivery(paths=paths, remarks=[], error_log=None, deployments=models)

    TerminalView(0).deliver(delivery)

    lines = capsys.readouterr().out.splitlines()
    assert lines[19:22] == [
        "wrote /x/best/m19/config.pbtxt",
        "wrote 70 more files below /x/best",
        "to deploy m0 on Kubernetes: model-analyzer best -m m0",
    ]
    assert lines[-1] == "to deploy 55 more models: the same, with their names"
