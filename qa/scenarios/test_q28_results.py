# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q28: summaries of a model and across all, and a detailed report, each at its known path.

Here summaries are HTML, and detailed reports are PDF besides where the extra `pdf` is installed.
"""

import json

import jsonschema

from model_analyzer.errors import OutputError
from model_analyzer.reports.document import results_schema
from model_analyzer.reports.libraries import imported

MODELS = {"profile_models": ["add_sub"]}


def test_reports_are_where_they_are_looked_for(scenario) -> None:
    run = scenario.profile(
        run_config_search_max_concurrency=2,
        run_config_search_max_instance_count=2,
        run_config_search_max_model_batch_size=2,
        **MODELS,
    )
    assert run.status == 0, run.output
    reports = scenario.directory / "reports"

    run = scenario.run(
        "analyze", **MODELS, num_top_model_configs=2, constraints={"perf_latency_p99": {"max": 50}}
    )

    assert run.status == 0, run.output
    assert (reports / "summaries" / "add_sub" / "result_summary.html").exists()
    document = json.loads((scenario.directory / "results" / "results.json").read_text())
    jsonschema.validate(document, results_schema())
    assert document["models"][0]["recommended"]["metrics"]["perf_throughput"] > 0
    (across,) = (path for path in (reports / "summaries").iterdir() if path.name != "add_sub")
    assert (across / "result_summary.html").exists()

    has_pdf = can_print()
    run = scenario.run(
        "report",
        report_model_configs=["add_sub_config_0"],
        output_formats=["pdf" if has_pdf else "html"],
    )

    assert run.status == 0, run.output
    name = "detailed_report.pdf" if has_pdf else "detailed_report.html"
    assert (reports / "detailed" / "add_sub_config_0" / name).exists()


def can_print() -> bool:
    """Whether the extra `pdf` is there, with the libraries of the system that it needs."""
    try:
        imported("pdf", "weasyprint")
    except OutputError:
        return False
    return True
