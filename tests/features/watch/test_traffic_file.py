# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The traffic of production, as a load that `profile` accepts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from model_analyzer.config.resolve import check_file
from model_analyzer.config.sources import parse_yaml
from model_analyzer.features.watch.server_readings import WatchReport
from model_analyzer.features.watch.watch_text import traffic_file
from tests.features.watch.production import Server, looks, seen


def written(tmp_path: Path, **server: Any) -> Any:
    """The options of the model, which are valid ones."""
    report = WatchReport(watched=seen([*looks(Server(**server))]), needed=None)
    text = traffic_file([report])
    assert text is not None
    check_file(parse_yaml(text, "traffic.yaml"), tmp_path)
    return yaml.safe_load(text)["profile_models"]["m"]


def test_independent_users_are_poisson_arrivals(tmp_path: Path) -> None:
    (rate,) = written(tmp_path)["load"].pop("rate")

    assert rate == pytest.approx(100, rel=0.1)
    assert written(tmp_path) == {"load": {"arrivals": "poisson", "rate": [rate]}}


def test_bursts_have_their_cv(tmp_path: Path) -> None:
    load = written(tmp_path, cv=3)["load"]

    assert (load["arrivals"], load["cv"]) == ("gamma", pytest.approx(3, rel=0.3))


def test_a_rate_that_changes_has_stages(tmp_path: Path) -> None:
    stages = written(tmp_path, rate=lambda at: 50 if at < 1e6 + 60 else 150)["load"]["stages"]

    rates = [each["rate"] for each in stages]
    assert rates[0] == pytest.approx(50, rel=0.2)
    assert rates[-1] == pytest.approx(150, rel=0.2)
    assert sum(float(each["for"][:-1]) for each in stages) == pytest.approx(60, abs=1)


def test_the_size_of_requests_is_that_of_clients(tmp_path: Path) -> None:
    assert written(tmp_path, size=3.8, batch=4)["parameters"] == {"batch_sizes": [4]}


def test_too_little_traffic_is_no_load() -> None:
    report = WatchReport(watched=seen([*looks(Server(rate=0.1))]), needed=None)

    assert traffic_file([report]) is None
