# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The server inside perf_analyzer: what is laid out for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from model_analyzer.domain.models import ModelVariant, VariantNames
from model_analyzer.domain.settings import (
    LaunchMode,
    Protocol,
    ServerRestart,
    ServerSettings,
)
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.runner.model_config import parse_text
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.runner.runtime import Program
from model_analyzer.runner.server.c_api import EmbeddedServer

SETTINGS = ServerSettings(
    launch=LaunchMode.C_API, path=None, install_path=None, reload_disable=False,
    protocol=Protocol.GRPC, http_endpoints=(), grpc_endpoints=(), metrics_urls=(), log=None,
    ready_timeout_s=10, load_timeout_s=7, restart=ServerRestart.AUTO,
)  # fmt: skip


@pytest.fixture
def repository(make_model) -> ModelRepository:
    make_model("other")
    return ModelRepository(make_model("m"))


@pytest.fixture
def server(repository, tmp_path: Path) -> EmbeddedServer:
    library = Program(
        path=Path("/opt/triton"), origin="test", environment={"LD_LIBRARY_PATH": "/libs"}
    )
    return EmbeddedServer(library, SETTINGS, repository, tmp_path / "served")


def variant(repository: ModelRepository, count: int = 2) -> ModelVariant:
    group = [{"count": count, "kind": "KIND_CPU"}]
    return VariantNames().variant(repository.facts("m"), {"instance_group": group})


def test_a_variant_is_alone_in_its_repository_under_its_models_own_name(server, repository) -> None:
    model = variant(repository)

    assert server.serve([model], ServerSetup()) is None

    flags = server.route(model, Protocol.GRPC).flags
    assert flags["service-kind"] == "triton_c_api"
    assert flags["triton-server-directory"] == "/opt/triton"
    served = Path(flags["model-repository"])
    assert [path.name for path in served.iterdir()] == ["m"]
    config = parse_text((served / "m" / "config.pbtxt").read_text(), "served")
    assert config["name"] == "m"
    assert config["instance_group"][0]["count"] == 2
    assert (served / "m" / "1" / "model.py").read_text() == "# never run\n"
    # the user's own file is not written through a link
    assert repository.facts("m").config["instance_group"][0]["count"] == 1


def test_a_model_is_measured_without_its_response_cache(server, repository) -> None:
    plain = variant(repository)
    model = replace(plain, config={**plain.config, "response_cache": {"enable": True}})

    configs = []
    for setup in (ServerSetup(uncached=True), ServerSetup()):
        server.serve([model], setup)
        served = Path(server.route(model, Protocol.GRPC).flags["model-repository"])
        configs.append(parse_text((served / "m" / "config.pbtxt").read_text(), "served"))

    assert ["response_cache" in config for config in configs] == [False, True]


def test_composing_models_lie_beside_the_one_that_calls_them(server, repository) -> None:
    part = VariantNames().default(repository.facts("other"))
    whole = replace(variant(repository), composing=(part,))

    server.serve([whole], ServerSetup())

    served = Path(server.route(whole, Protocol.GRPC).flags["model-repository"])
    assert sorted(path.name for path in served.iterdir()) == ["m", "other"]


def test_two_variants_have_separate_repositories_and_serving_twice_works(
    server, repository
) -> None:
    first, second = variant(repository, 1), variant(repository, 2)
    for served in ([first, second], [first], [second]):
        server.serve(served, ServerSetup())

    places = {
        server.route(each, Protocol.GRPC).flags["model-repository"] for each in (first, second)
    }

    assert len(places) == 2


def test_the_users_variables_reach_perf_analyzer_expanded(server, repository) -> None:
    served = variant(repository)
    setup = ServerSetup(environment={"LD_LIBRARY_PATH": "/mine:$LD_LIBRARY_PATH", "OPS": "1"})

    server.serve([served], setup)

    route = server.route(served, Protocol.GRPC)
    assert route.environment == {"LD_LIBRARY_PATH": "/mine:/libs", "OPS": "1"}
    assert route.load_timeout_s == 7


def test_nothing_runs_between_trials(server) -> None:
    server.discard()
    server.begin_stop()
    server.stop()
    assert server.is_alive
    assert server.log_tail() == ()
