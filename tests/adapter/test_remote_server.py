# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A server that is not ours: found, used, never ended, and left as it was; A server with OpenAI's
API: its models are known by name, and nothing is asked but that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.models import ModelVariant, VariantNames
from model_analyzer.domain.settings import (
    EndpointKind,
    LaunchMode,
    Protocol,
    ServerRestart,
    ServerSettings,
)
from model_analyzer.domain.trials import Failure, FailureReason, ServerSetup
from model_analyzer.errors import RepositoryError, ServerError
from model_analyzer.runner.repository import other_models, served_facts
from model_analyzer.runner.server.endpoints import remote_endpoints
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.remote import RemoteLauncher
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.versions import named
from tests.adapter.test_local_server import facts
from tests.fakes.openai_server import running

SETTINGS = ServerSettings(
    launch=LaunchMode.REMOTE,
    path=None,
    install_path=Path("/opt/tritonserver"),
    reload_disable=False,
    protocol=Protocol.GRPC,
    http_endpoints=(),
    grpc_endpoints=(),
    metrics_urls=(),
    log=None,
    ready_timeout_s=120,
    load_timeout_s=120,
    restart=ServerRestart.AUTO,
)
SETUP = ServerSetup(launch="remote")

Make = Callable[..., TritonServer]


def settings_for(there: Any, **changes: Any) -> ServerSettings:
    return replace(
        SETTINGS,
        http_endpoints=(there.http,),
        grpc_endpoints=(there.grpc,),
        metrics_urls=(there.metrics,),
        **changes,
    )


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("", "http://127.0.0.1:8002/metrics"),
        ("localhost:9", "http://127.0.0.1:9/metrics"),
        ("http://10.0.0.1:9/", "http://10.0.0.1:9/metrics"),
        ("http://10.0.0.1:9/triton/metrics", "http://10.0.0.1:9/triton/metrics"),
        ("https://localhost:9/metrics", "https://localhost:9/metrics"),
    ],
)
def test_metrics_are_where_the_user_says(given: str, url: str) -> None:
    urls = (given,) if given else ()
    assert remote_endpoints(replace(SETTINGS, metrics_urls=urls)).metrics_url == url


@pytest.fixture(params=list(Protocol), ids=lambda protocol: protocol.value)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    with ExitStack() as stack:

        def build(there: Any, **changes: Any) -> TritonServer:
            settings = settings_for(there, **{"protocol": request.param, **changes})
            log = ServerLog(tmp_path / "none")
            server = TritonServer(RemoteLauncher(settings), settings, log, settles=False)
            return stack.enter_context(server)

        yield build


def variant(name: str = "m", count: int = 1, fake: str = "") -> ModelVariant:
    group = {"instance_group": [{"count": count, "kind": "KIND_CPU"}]}
    return VariantNames().variant(facts(name, fake), group)


def changes(pretend) -> list[str]:
    """What was asked of the server, without requests and batch limits."""
    return [
        " ".join(call.split()[:3]) for call in pretend.server_calls if call[:4] in ("load", "unlo")
    ]


def test_variants_are_loaded_and_unloaded_at_the_end(elsewhere, pretend, make) -> None:
    server = make(elsewhere(repository=["m"]))

    for count in (1, 2):
        assert server.serve([variant(count=count)], SETUP) is None
    server.begin_stop()
    server.stop()

    assert changes(pretend) == ["load m count=1", "load m count=2", "unload m"]


def test_models_that_were_loaded_before_are_restored(elsewhere, pretend, make) -> None:
    there = elsewhere(repository=["m"], loaded=["m"])
    server = make(there)

    server.serve([variant(count=3)], SETUP)
    server.stop()

    assert changes(pretend) == ["load m count=3", "unload m", "load m count=1"]
    assert there.process.poll() is None


def test_nothing_is_touched_where_nothing_was_served(elsewhere, pretend, make) -> None:
    server = make(elsewhere(loaded=["m"], version="2.51.0"))

    assert server.version(SETUP) == "2.51.0"
    server.stop()

    assert changes(pretend) == []


def test_another_model_gets_the_server_without_the_last_one(elsewhere, pretend, make) -> None:
    server = make(elsewhere())

    server.serve([variant("a")], SETUP)
    server.serve([variant("b")], SETUP)

    assert changes(pretend) == ["load a count=1", "unload a", "load b count=1"]


def test_a_restart_for_each_variant_is_an_unload(elsewhere, pretend, make) -> None:
    there = elsewhere()
    server = make(there, restart=ServerRestart.VARIANT)

    for count in (1, 2):
        server.serve([variant(count=count)], SETUP)

    assert changes(pretend) == ["load m count=1", "unload m", "load m count=2"]
    assert there.process.poll() is None


def test_a_failed_variant_is_unloaded(elsewhere, pretend, make) -> None:
    failure = make(elsewhere()).serve([variant(fake="fail")], SETUP)

    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.MODEL_NOT_LOADED
    assert changes(pretend)[-1] == "unload m"


def test_errors_that_are_only_in_its_log_point_to_the_log(elsewhere, make) -> None:
    failure = make(elsewhere()).serve([variant(fake="refuse")], SETUP)

    assert isinstance(failure, Failure)
    assert failure.hint == "see the server's log"


def test_a_server_that_polls_is_reported_with_both_solutions(elsewhere, make) -> None:
    server = make(elsewhere(loaded=["m"], polls=True))

    with pytest.raises(ServerError, match=r"--model-control-mode=explicit.*--reload-model-disable"):
        server.serve([variant()], SETUP)


def test_without_reloading_the_loaded_model_is_used(elsewhere, pretend, make) -> None:
    server = make(elsewhere(loaded=["m"], polls=True), reload_disable=True)

    assert server.serve([variant()], SETUP) is None
    server.stop()

    assert changes(pretend) == []


def test_without_reloading_a_missing_model_ends_the_run(elsewhere, make) -> None:
    server = make(elsewhere(repository=["m"]), reload_disable=True)

    with pytest.raises(ServerError, match="m is not loaded on the server"):
        server.serve([variant()], SETUP)


def test_a_model_that_is_in_no_repository_is_measured_as_it_is(elsewhere, pretend, make) -> None:
    server = make(elsewhere(unlisted=["m"]), reload_disable=True)

    assert served_facts(server.client(SETUP), "m", timeout_s=60).config["name"] == "m"
    assert server.serve([variant()], SETUP) is None
    server.stop()

    assert changes(pretend) == []


def test_a_model_that_is_in_no_repository_is_neither_loaded_nor_unloaded(
    elsewhere, pretend, make
) -> None:
    """Nothing could load it again."""
    server = make(elsewhere(unlisted=["m"]))

    with pytest.raises(ServerError, match="serves m, but has no files of it") as raised:
        server.serve([variant(count=2)], SETUP)
    server.stop()

    assert "with reload_model_disable" in str(raised.value)
    assert changes(pretend) == []


def test_a_server_that_hides_its_index_is_measured_as_it_is(elsewhere, pretend, make) -> None:
    server = make(elsewhere(loaded=["m", "n"], restricts="key"), reload_disable=True)

    served = served_facts(server.client(SETUP), "m", timeout_s=60)
    assert other_models(server.client(SETUP), [served]) == []
    assert server.serve([variant()], SETUP) is None


def test_the_header_that_a_server_wants_is_named(elsewhere, pretend, make) -> None:
    server = make(elsewhere(loaded=["m"], restricts="key"))

    with pytest.raises(ServerError) as raised:
        server.serve([variant()], SETUP)

    assert str(raised.value) == (
        "This protocol is restricted, expecting header 'key' (give it its value:"
        " perf_analyzer_flags: {http-header: 'key: VALUE'})"
    )
    assert server.is_alive, "gRPC answers like a server that is away"


def test_a_server_that_goes_away_is_noticed_and_waited_for(elsewhere, make) -> None:
    there = elsewhere()
    server = make(there, ready_timeout_s=1)
    server.serve([variant()], SETUP)
    assert server.is_alive

    there.process.kill()
    there.process.wait()

    assert not server.is_alive
    began = time.monotonic()
    with pytest.raises(ServerError, match=r"was not ready within 1 s.*_endpoint"):
        server.serve([variant(count=2)], SETUP)
    assert 1 <= time.monotonic() - began < 60


def test_a_server_that_denies_access_is_not_waited_for(elsewhere, make) -> None:
    server = make(elsewhere(header="authorization:Bearer s3cr3t"))

    with pytest.raises(ServerError, match="cannot be used: .*who are you"):
        server.version(SETUP)


def test_another_server_of_the_protocol_is_refused_by_its_name(elsewhere, make) -> None:
    server = make(elsewhere(name="mlserver", version="1.7.1"))

    with pytest.raises(ServerError, match=r"cannot be used: it is mlserver 1\.7\.1: perf_analyzer"):
        server.version(SETUP)


def test_clients_get_the_address_as_it_was_given(elsewhere, make) -> None:
    there = elsewhere()
    server = make(there)
    server.version(SETUP)

    flags = server.route(variant(), Protocol.GRPC).flags
    assert flags["url"] == there.grpc.replace("localhost", "127.0.0.1")
    assert server.processes() == ()


def test_with_tls_clients_get_the_name_on_the_certificate() -> None:
    settings = replace(
        SETTINGS, http_endpoints=("https://models.example.com:443",), protocol=Protocol.HTTP
    )

    (http, grpc) = (
        RemoteLauncher(settings).endpoints().for_protocol(protocol) for protocol in Protocol
    )

    assert http.as_written == "https://models.example.com:443"
    assert grpc.as_written == "localhost:8001"
    assert str(grpc) == "127.0.0.1:8001"


def test_facts_come_from_the_server_fit_to_be_changed(elsewhere, pretend, make) -> None:
    server = make(elsewhere(repository=["m"]))

    served = served_facts(server.client(SETUP), "m", timeout_s=60)
    server.discard()

    assert served.config["max_batch_size"] == 8
    assert served.config["dynamic_batching"] == {}
    assert changes(pretend) == ["load m count=1", "unload m"]


def test_a_loaded_model_is_not_loaded_for_its_facts(elsewhere, pretend, make) -> None:
    server = make(elsewhere(loaded=["m", "n"]))

    served = served_facts(server.client(SETUP), "m", timeout_s=60)

    assert changes(pretend) == []
    assert other_models(server.client(SETUP), [served]) == ["n"]


def test_a_model_that_the_server_does_not_have_is_named(elsewhere, make) -> None:
    server = make(elsewhere(repository=["resnet", "bert"]))

    with pytest.raises(RepositoryError, match=r"no model 'resent' \(did you mean 'resnet'\?\)"):
        served_facts(server.client(SETUP), "resent", timeout_s=60)


SPOKEN = replace(
    SETTINGS, endpoint=EndpointKind.OPENAI, protocol=Protocol.HTTP, reload_disable=True
)


@pytest.fixture
def reach(tmp_path: Path) -> Callable[[str], TritonServer]:
    """Connects to an address."""

    def reached(address: str) -> TritonServer:
        settings = replace(SPOKEN, http_endpoints=(address,))
        return TritonServer(
            RemoteLauncher(settings), settings, ServerLog(tmp_path / "none"), settles=False
        )

    return reached


def test_a_model_is_reached_by_its_name(
    tmp_path: Path, reach: Callable[[str], TritonServer]
) -> None:
    with running(tmp_path / "port") as address, reach(address) as server:
        client = server.client(SETUP)
        variant = VariantNames().default(served_facts(client, "chat", timeout_s=9))
        with pytest.raises(RepositoryError, match="did you mean 'chat'"):
            served_facts(client, "chatt", timeout_s=9)

        assert named(server.version(SETUP)) == "a server with OpenAI's API"
        assert server.serve([variant], SETUP) is None
        assert server.statistics([variant]) == {}
        assert server.route(variant, Protocol.HTTP).flags == {
            "url": address.replace("localhost", "127.0.0.1"),
            "service-kind": "openai",
            "endpoint": "v1/chat/completions",
            "async": "true",
        }


@pytest.mark.parametrize("key", ["detail", "error"])
def test_a_server_that_lists_no_models_has_any(
    tmp_path: Path, reach: Callable[[str], TritonServer], key: str
) -> None:
    with running(tmp_path / "port", "--unlisted", key) as address, reach(address) as server:
        variant = VariantNames().default(served_facts(server.client(SETUP), "any", timeout_s=9))

        assert named(server.version(SETUP)) == "a server with OpenAI's API"
        assert server.serve([variant], SETUP) is None


class KnowsMethods(BaseHTTPRequestHandler):
    """Like routers that know a path only together with its method."""

    to_incomplete = 400
    to_get = 404

    def do_GET(self) -> None:
        self._answer(self.to_get)

    def do_POST(self) -> None:
        self._answer(self.to_incomplete if self.path == "/v1/chat/completions" else 404)

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


class AnswersAnything(KnowsMethods):
    """Like small servers that do not look at requests closely."""

    to_incomplete = 200


class KnowsOnlyPosts(KnowsMethods):
    to_get = 405


class DoesNotImplementOthers(KnowsMethods):
    to_get = 501


class FailsToList(AnswersAnything):
    to_get = 500


@pytest.mark.parametrize(
    "handler",
    [KnowsMethods, AnswersAnything, KnowsOnlyPosts, DoesNotImplementOthers, FailsToList],
)
def test_a_path_may_be_known_for_what_is_posted_only(
    reach: Callable[[str], TritonServer], handler: type[BaseHTTPRequestHandler]
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        found = reach(f"localhost:{other.server_port}").version(SETUP)
        other.shutdown()

    assert named(found) == "a server with OpenAI's API"


class HasNothing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        text = b"" if self.path == "/v1/models" else b'{"error": "Not Found"}'
        self.send_response(404)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class FailsAlways(KnowsMethods):
    to_incomplete = to_get = 500


@pytest.mark.parametrize("handler", [BaseHTTPRequestHandler, HasNothing, FailsAlways])
def test_a_server_without_the_api_is_not_waited_for(
    reach: Callable[[str], TritonServer], handler: type[BaseHTTPRequestHandler]
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with pytest.raises(ServerError, match="the server has no OpenAI API"):
            reach(f"localhost:{other.server_port}").version(SETUP)
        other.shutdown()
