# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/versions.md: which versions of Triton and perf_analyzer work, and what differs.

python tools/versions.py > docs/versions.md
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from model_analyzer.runner.versions import EXPORT, FEATURES, OPENAI_FROM, PYTHONS, WARM_UP

MATRIX = Path(__file__).parents[1] / "qa" / "versions" / "table.json"

# What differs without a change for the user: the behaviour, from which version it is so, why that
# does not matter or where it is taken care of, and the test that shows it ("" if nothing relies on
# it).
_LOG, _FACTS = "tests/unit/runner/test_versions.py", "qa/versions/facts.py"
_UNKNOWN_FLAG = (
    f"{_LOG}::test_a_flag_that_the_server_does_not_know_is_named_instead_of_the_end_of_its_help"
)
_KEPT_PARTS = (
    "tests/adapter/test_local_server.py::"
    "test_a_part_that_the_server_replaces_when_it_loads_an_ensemble_is_loaded_again"
)
_NEW_INSTANCES = "qa/test_profile.py::test_every_instance_of_a_variant_is_initialized_for_it"
_STATUSES = (
    "tests/adapter/test_clients.py::"
    "test_the_text_of_a_refusal_counts_whatever_its_status_in_a_version"
)
_REFUSED_FIELD = "qa/test_versions.py::test_a_field_that_a_server_does_not_know_is_named"
BEHAVIOURS = (
    (
        "The same load again does nothing",
        "2.36",
        "each variant has a tag of its own, so it loads",
        _NEW_INSTANCES,
    ),
    (
        "Another number of instances alone is changed in place",
        "2.36",
        "for the same reason: what stays would keep what it set up for the old number",
        f"{_FACTS} in place",
    ),
    (
        "A plain load keeps an override (before, the file counts again)",
        "2.44",
        "remote models are unloaded first, and then loaded from the server's files",
        f"{_FACTS} override stays",
    ),
    (
        "Loading an ensemble keeps the overrides of its parts (before, they are reset)",
        "2.44",
        "parts that were reset are loaded again, before anything is measured",
        _KEPT_PARTS,
    ),
    (
        "HTTP answers a refused load with 500 (before, 400)",
        "2.44",
        "texts are read, not statuses",
        f"{_FACTS} refused load",
    ),
    (
        "HTTP answers an unknown model with 404, an error of a model with 500 (before, 400)",
        "2.44",
        "texts are read, not statuses",
        f"{_FACTS} unknown model",
    ),
    (
        "HTTP answers with 503 if a queue is full (before, 400)",
        "2.44",
        "texts are read, not statuses: the failure says that the queue was full",
        "qa/test_counts.py::test_a_request_that_fails_is_told_by_its_kind",
    ),
    (
        "HTTP answers with 503 where loading is not allowed (before, 400)",
        "2.44",
        "texts are read, not statuses: both solutions are named",
        _STATUSES,
    ),
    (
        "An unknown backend: three other texts before",
        "2.44",
        "all four are known, with one hint",
        "tests/unit/runner/test_versions.py::"
        "test_an_unknown_backend_is_known_by_the_text_of_each_version",
    ),
    (
        "Error lines of the log are quoted",
        "2.48",
        "quotes are taken off; older lines have none",
        f"{_LOG}::test_error_lines_are_without_the_quotes_of_newer_servers",
    ),
    ("`/generate`", "2.39", "not used", ""),
    ("Cancelled requests reach Python models", "2.39", "not used", ""),
    ("gRPC health service", "2.33", "not used: readiness is asked by Triton's own call", ""),
    (
        "Memory in `/stats` (2.36), `response_stats` (2.44)",
        "2.36",
        "not used: other members of the answer are read",
        "tests/adapter/test_clients.py::test_statistics_are_the_sum_over_all_versions",
    ),
    (
        "`--cache-config`, `--cache-directory`, `--metrics-config`",
        "2.33",
        "given only where the server has caches; a flag of the user that it does not know is named",
        _UNKNOWN_FLAG,
    ),
    (
        "`--response-cache-byte-size` needs the cache's library",
        "2.33",
        "the installed runtime has it",
        "qa/versions/run cached",
    ),
    (
        "`--metrics-address`",
        "2.36",
        "not used; a flag of the user that it does not know is named",
        _UNKNOWN_FLAG,
    ),
    (
        "Restricted protocols and namespaces (2.33), `--http-restricted-api` (2.41)",
        "2.33",
        "not used; a flag of the user that it does not know is named",
        _UNKNOWN_FLAG,
    ),
    (
        "`--model-load-retry-count` (2.44), `--enable-peer-access` (2.48)",
        "2.44",
        "not used; a flag of the user that it does not know is named",
        _UNKNOWN_FLAG,
    ),
    (
        "The field `sequence_batching.iterative_sequence`",
        "2.41",
        "only given if the model has it; the refusal names the field",
        _REFUSED_FIELD,
    ),
    (
        "The field `input.is_non_linear_format_io`",
        "2.50",
        "only given if the model has it; the refusal names the field",
        _REFUSED_FIELD,
    ),
    (
        "State in the text of a failed override: READY",
        "2.50",
        "the text behind it is read",
        "tests/adapter/test_local_server.py::test_a_model_that_fails_is_a_failure_with_reason_and_hint",
    ),
    ("Instance names in errors: `m_0_0`, before `m_0`", "2.39", "not read", ""),
    (
        "HTTP refuses parameters that begin with `triton_`",
        "2.33",
        "none is sent over HTTP",
        "qa/versions/run plain",
    ),
    (
        "The processes of models fit Python 3.9 to 3.11 (2.36), 3.12 (2.44), 3.13 (2.51)",
        "2.36",
        "the installed runtime has a Python that fits",
        "tests/unit/runner/test_versions.py::test_each_server_has_a_python_that_its_models_fit",
    ),
    (
        "Response cache in a library of its own",
        "2.33",
        "`runtime install` keeps it",
        "qa/versions/run cached",
    ),
)

# From public release notes; no server of these versions could be tried here.
NOT_TRIED = (
    ("2.63", "Ensembles may limit their requests in flight: the field is passed on as it is."),
    (
        "2.68",
        "Shared memory of clients needs `--allow-client-shm=true`: a run gives it to its own"
        " server, and `doctor` warns of a remote one without it.",
    ),
)


def main() -> None:
    print("\n".join(_page()))


def _page() -> Iterator[str]:
    first, last = min(PYTHONS, key=_number), max(PYTHONS, key=_number)
    yield "# Versions of Triton and perf_analyzer"
    yield ""
    yield "<!-- Written by tools/versions.py: do not edit. -->"
    yield ""
    yield f"Tested are Triton {', '.join(PYTHONS)}. `doctor` and the beginning of a run say whether"
    yield f"a server is one of {first} to {last}, and what it does not have."
    yield "[`runtime install --triton VERSION`](runtime.md) installs any of these."
    yield ""
    yield "## What needs a version"
    yield ""
    yield "| Feature | Triton from | Without it | Shown by |"
    yield "|---|---|---|---|"
    for each in FEATURES:
        yield f"| {each.name} | {each.since} | {each.without} | `{each.shown_by}` |"
    yield ""
    yield "| perf_analyzer's flag | From | Without it |"
    yield "|---|---|---|"
    yield f"| `--{EXPORT}` | 2.39 | it cannot be used: the run and `doctor` say so |"
    yield (
        f"| `--{WARM_UP}` | 2.50 | models without fixed shapes get no warm-up requests; the first"
        " answers are left out, as always |"
    )
    yield f"| `--endpoint` of OpenAI's API | {OPENAI_FROM} | `endpoint: openai` is refused |"
    yield ""
    yield (
        "Up to 2.44, perf_analyzer does not know `--request-count`: a load that follows a log or"
        " has stages cannot be measured with it."
    )
    yield ""
    yield "## What differs, and changes nothing for you"
    yield ""
    yield "| Behaviour | From | Why | Shown by |"
    yield "|---|---|---|---|"
    for behaviour, since, why, shown_by in BEHAVIOURS:
        shown = f"`{shown_by.partition('::')[0]}`" if shown_by else "nothing relies on it"
        yield f"| {behaviour} | {since} | {why} | {shown} |"
    yield ""
    yield "`python -m qa.versions.facts` asks installed servers how they behave."
    yield ""
    yield f"## Newer than {last}, not tried"
    yield ""
    for since, what in NOT_TRIED:
        yield f"* From {since} on: {what}"
    if MATRIX.exists():
        yield ""
        yield from _matrix(json.loads(MATRIX.read_text()))


def _matrix(rows: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """The table of what `qa/versions/run` saw."""
    yield "## What was tried"
    yield ""
    yield (
        "`qa/versions/run` takes kinds of models through commands of the program on each server,"
        " with the perf_analyzer that is installed with it. Here, each kind was measured in its own"
        " configuration at two loads, and compared with what is true; an empty cell was not tried."
        " `remote` is a server that somebody else started: its models are searched, and are as"
        " before in the end:"
    )
    yield ""
    columns = sorted({column for row in rows.values() for column in row}, key=_number)
    yield f"| Kind | {' | '.join(columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for kind, row in rows.items():
        yield f"| {kind} | {' | '.join(row.get(column, '') for column in columns)} |"


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


if __name__ == "__main__":
    main()
