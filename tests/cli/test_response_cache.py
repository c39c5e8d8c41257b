# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is done about a response cache is said before anything is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

CONFIG = """\
model_repository: models
profile_models: {m: {cpu_only: true}}
run_config_search_disable: true
concurrency: 1
response_cache: RESPONSE_CACHE
"""


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("off", "model m: measured without the response cache of m."),
        (
            "keep\ntriton_server_flags: {cache-config: 'local,size=1048576'}",
            "model m: measured with the response cache of m.",
        ),
        ("keep", "model m: response_cache of m has no effect, because the server has no cache:"),
    ],
    ids=["off", "keep", "no cache"],
)
@pytest.mark.parametrize(
    "command",
    [
        ("config", "validate", "config.yaml"),
        ("profile", "--dry-run", "-f", "config.yaml"),
        ("doctor", "--no-models", "-f", "config.yaml"),
    ],
    ids=["validate", "dry run", "doctor"],
)
def test_it_is_said_whether_the_cache_is_measured(
    run, make_model, tmp_path: Path, option: str, words: str, command: tuple[str, ...]
) -> None:
    make_model("m", extra="response_cache { enable: true }")
    (tmp_path / "config.yaml").write_text(CONFIG.replace("RESPONSE_CACHE", option))

    _, output, error = run(*command)

    assert " ".join((output + error).split()).count(words) == 1
