# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which tests are due for a change: `make test CHANGED=1`."""

from __future__ import annotations

from tools.changed import ALL, ALWAYS, due


def test_tests_are_due_that_import_a_changed_file_or_run_it() -> None:
    gate, best, rules = (
        due([f"model_analyzer/{path}"])
        for path in ("features/compare/facts/gate.py", "cli/commands/best.py", "noise/ties.py")
    )

    assert "tests/features/compare/test_gate.py" in gate
    assert not [path for path in gate if path.startswith(("tests/cli", "qa/test_profile"))]
    assert {"tests/cli/test_answer.py", "qa/test_profile.py"} <= {*best} & {*rules}
    assert "tests/features/compare/test_gate.py" not in best
    assert "tests/unit/results/test_ranking.py" in rules


def test_what_is_no_code_counts_for_the_code_beside_it() -> None:
    assert due(["docs/search.md", "CHANGELOG.md"]) == sorted(ALWAYS)
    assert due(["pyproject.toml"]) == ALL
    assert "tests/browser/test_alternatives.py" in due(["model_analyzer/reports/static/ranking.js"])
    assert "tests/unit/runner/test_output.py" in due(["tests/golden/perf_analyzer/round.csv"])
