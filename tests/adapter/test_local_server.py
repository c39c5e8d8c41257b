# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The local server: starting, loading, failing and stopping, with a pretend tritonserver."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.models import ModelFacts, ModelVariant, VariantNames, freeze
from model_analyzer.domain.settings import LaunchMode, Protocol, ServerRestart, ServerSettings
from model_analyzer.domain.trials import Failure, FailureReason, ServerSetup
from model_analyzer.errors import ServerError
from model_analyzer.runner.runtime import Program
from model_analyzer.runner.server.local import LocalLauncher
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.timings import Timings

SETTINGS = ServerSettings(
    launch=LaunchMode.LOCAL,
    path=None,
    install_path=None,
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

# a busy machine is no reason to give up
PATIENT = Timings(grace_s=60, dying_s=60, warm_up_s=60)

Make = Callable[..., TritonServer]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    with ExitStack() as stack:

        def build(
            program: Path,
            *,
            renews: bool = False,
            acts: Callable[[str], bool] = lambda _: True,
            timings: Timings = PATIENT,
            **settings: Any,
        ) -> TritonServer:
            chosen = replace(SETTINGS, **settings)
            triton = Program(path=program, origin="test", environment=dict(os.environ))
            server = TritonServer(
                LocalLauncher(triton, chosen, tmp_path),
                chosen,
                ServerLog(tmp_path / "server.log"),
                settles=False,
                renews=renews,
                acts=acts,
                timings=timings,
            )
            return stack.enter_context(server)

        yield build


def facts(name: str = "m", fake: str = "") -> ModelFacts:
    config: dict[str, Any] = {
        "name": name,
        "backend": "python",
        "max_batch_size": 8,
        "input": ({"name": "IN", "data_type": "TYPE_FP32", "dims": (4,)},),
        "output": ({"name": "OUT", "data_type": "TYPE_FP32", "dims": (4,)},),
    }
    if fake:
        config["parameters"] = {"fake": {"string_value": fake}}
    return ModelFacts(name=name, config=config, files="f")


def variants(name: str = "m", count: int = 3, fake: str = "") -> list[ModelVariant]:
    names = VariantNames()
    return [
        names.variant(facts(name, fake), {"instance_group": [{"count": n, "kind": "KIND_CPU"}]})
        for n in range(1, count + 1)
    ]


def test_variants_are_loaded_one_after_another_on_one_server(pretend, make: Make) -> None:
    server = make(pretend.tritonserver())
    first, second, third = variants()

    for variant in (first, second, third):
        assert server.serve([variant], ServerSetup()) is None

    assert pretend.starts == 1
    assert pretend.loads == [f"load m count={n} max_batch_size=8" for n in (1, 2, 3)]


def test_a_variant_in_place_is_not_loaded_again(pretend, make: Make) -> None:
    server = make(pretend.tritonserver())
    served = variants()[0]

    server.serve([served], ServerSetup())
    server.serve([served], ServerSetup())

    assert len(pretend.loads) == 1


def test_composing_models_are_loaded_before_the_one_that_calls_them(pretend, make: Make) -> None:
    server = make(pretend.tritonserver())
    whole = replace(VariantNames().default(facts("whole")), composing=tuple(variants("part", 1)))

    server.serve([whole], ServerSetup())

    assert [call.split()[1] for call in pretend.loads] == ["part", "whole"]


def test_a_changed_composing_variant_is_loaded_though_the_top_stays(pretend, make: Make) -> None:
    server = make(pretend.tritonserver())
    parts = variants("part", 2)
    top = VariantNames().default(facts("whole"))

    for part in parts:
        server.serve([replace(top, composing=(part,))], ServerSetup())

    assert "load part count=2 max_batch_size=8" in pretend.loads


def ensemble(part: ModelVariant) -> ModelVariant:
    """An ensemble with one step."""
    scheduling = {"step": ({"model_name": part.model},)}
    whole = VariantNames().default(facts("whole"))
    config = {**whole.config, "ensemble_scheduling": scheduling}
    return replace(whole, config=config, composing=(part,))


def test_a_part_that_the_server_replaces_when_it_loads_an_ensemble_is_loaded_again(
    pretend, make: Make
) -> None:
    """The first load of an ensemble may load its parts from the repository, without a word."""
    server = make(pretend.tritonserver(replaces={"whole": ["part"]}))
    one, two = variants("part", 2)

    assert server.serve([ensemble(two)], ServerSetup()) is None
    assert server.serve([ensemble(one)], ServerSetup()) is None

    words = [call.split()[1:3] for call in pretend.loads]
    assert words == [
        ["part", "count=2"],
        ["whole", "count=1"],
        ["part", "count=2"],
        ["part", "count=1"],
        ["whole", "count=1"],
    ]


def test_a_part_that_the_server_always_replaces_is_a_failure(pretend, make: Make) -> None:
    server = make(pretend.tritonserver(replaces={"whole": ["part"]}, forgets=True))
    part = variants("part", 2)[1]

    failure = server.serve([ensemble(part)], ServerSetup())

    assert isinstance(failure, Failure)
    assert failure.message == (
        f"{part.name} did not load: the server uses the configuration of the repository instead"
    )


def test_statistics_cover_a_variant_and_its_composing_variants(pretend, make: Make) -> None:
    server = make(pretend.tritonserver())
    part = variants("part", 1)[0]
    top = replace(variants("top", 1)[0], composing=(part,))
    server.serve([top], ServerSetup())

    # three requests of zeros for each
    assert {name: statistic.executions for name, statistic in server.statistics([top]).items()} == {
        "part": 3,
        "top": 3,
    }


@pytest.mark.parametrize("protocol", Protocol)
def test_a_server_without_statistics_is_usable(
    pretend, make: Make, caplog, protocol: Protocol
) -> None:
    server = make(pretend.tritonserver(mute=True), protocol=protocol)
    served = variants()[0]
    caplog.set_level("DEBUG")

    assert server.statistics([served]) == {}
    server.serve([served], ServerSetup())

    assert server.statistics([served]) == {}
    assert "does not report its statistics: statistics are switched off" in caplog.text
    assert server.serve([served], ServerSetup()) is None


def test_different_server_flags_need_a_new_server(pretend, make: Make) -> None:
    server = make(pretend.tritonserver())
    served = variants()[0]

    server.serve([served], ServerSetup())
    server.serve([served], ServerSetup(flags={"rate-limit": "off"}))
    server.serve([served], ServerSetup(environment={"A": "1"}))

    assert pretend.starts == 3


def test_another_model_gets_the_machine_for_itself(pretend, make: Make) -> None:
    server = make(pretend.tritonserver())

    server.serve([variants("a")[0]], ServerSetup())
    server.serve([variants("b")[0]], ServerSetup())

    assert pretend.starts == 2


@pytest.mark.parametrize(
    ("policy", "starts"), [(ServerRestart.VARIANT, 3), (ServerRestart.AUTO, 1)]
)
def test_the_restart_policy_is_applied(
    pretend, make: Make, policy: ServerRestart, starts: int
) -> None:
    server = make(pretend.tritonserver(), restart=policy)

    for variant in variants():
        server.serve([variant], ServerSetup())

    assert pretend.starts == starts


def test_the_server_is_bound_to_loopback_and_takes_our_flags_and_the_users(
    pretend, make: Make
) -> None:
    server = make(pretend.tritonserver())

    server.serve(
        [variants()[0]],
        ServerSetup(
            flags={"log-verbose": "1", "backend-config": ("a,b=c", "d,e=f"), "http-port": "1"}
        ),
    )

    words = pretend.server_calls[0].split()
    assert "--http-address=127.0.0.1" in words
    assert "--grpc-address=127.0.0.1" in words
    assert "--model-control-mode=explicit" in words
    assert "--disable-auto-complete-config" in words
    assert "--log-verbose=1" in words
    assert {"--backend-config=a,b=c", "--backend-config=d,e=f"} <= set(words)
    assert "--http-port=1" not in words  # a run depends on it, so it is ours
    assert any(
        word.startswith("--backend-config=python,shm-region-prefix-name=ma_") for word in words
    )


@pytest.mark.parametrize(
    "flags", [{"strict-model-config": "false"}, {"disable-auto-complete-config": "false"}]
)
def test_completion_of_configurations_can_be_asked_for(pretend, make: Make, flags) -> None:
    make(pretend.tritonserver()).serve([variants()[0]], ServerSetup(flags=flags))

    assert "--disable-auto-complete-config" not in pretend.server_calls[0].split()


def test_a_variant_that_the_model_itself_would_change_is_a_failure(pretend, make: Make) -> None:
    """Its code sets max_batch_size and batching: where servers complete configurations, it wins."""
    variant = variants("m")[0]
    small = replace(variant, config={**variant.config, "max_batch_size": 2})
    plan = {"raises": {"m": variant.max_batch_size}}
    completing = ServerSetup(flags={"disable-auto-complete-config": "false"})

    assert make(pretend.tritonserver(**plan)).serve([small], ServerSetup()) is None
    failure = make(pretend.tritonserver(**plan)).serve([small], completing)

    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.MODEL_NOT_LOADED
    assert failure.message.startswith(
        f"the server gave {variant.name} max_batch_size {variant.max_batch_size} instead of 2"
    )
    assert failure.hint == "start the server with --disable-auto-complete-config"


def test_a_default_that_the_model_itself_changes_is_measured_as_it_is(
    pretend, make: Make, caplog
) -> None:
    """What the server makes of it is what it serves today."""
    default = replace(variants("m", 1)[0], name="m_config_default")
    completing = ServerSetup(flags={"disable-auto-complete-config": "false"})

    assert make(pretend.tritonserver(raises={"m": 16})).serve([default], completing) is None

    assert "the server gave m_config_default max_batch_size 16" in caplog.text
    assert "measured as it is" in caplog.text


def test_a_variant_that_the_model_itself_has_changed_does_not_stay_loaded(
    pretend, make: Make
) -> None:
    """It would use a part of the machine while another model is measured."""
    server = make(pretend.tritonserver(raises={"m": 16}))
    completing = ServerSetup(flags={"disable-auto-complete-config": "false"})

    assert isinstance(server.serve(variants("m", 1), completing), Failure)
    assert server.serve(variants("other", 1), completing) is None

    assert pretend.starts == 2


def test_given_endpoints_are_used(pretend, make: Make) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = make(pretend.tritonserver(), grpc_endpoints=(f"localhost:{port}",))

    variant = variants()[0]
    server.serve([variant], ServerSetup())

    assert server.route(variant, Protocol.GRPC).flags == {
        "url": f"127.0.0.1:{port}",
        "protocol": "grpc",
    }


def test_a_given_port_in_use_is_named_with_its_option(pretend, make: Make) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = make(pretend.tritonserver(), metrics_urls=(f"http://localhost:{port}/metrics",))

        with pytest.raises(ServerError, match=f"127.0.0.1:{port}.*triton_metrics_url"):
            server.serve([variants()[0]], ServerSetup())

    assert pretend.starts == 0


def test_a_server_that_ends_at_once_says_why(pretend, make: Make) -> None:
    server = make(
        pretend.tritonserver(die="error: creating server: Internal - failed to stat file")
    )
    began = time.monotonic()

    with pytest.raises(ServerError, match="failed to stat file"):
        server.serve([variants()[0]], ServerSetup())

    assert time.monotonic() - began < 60  # it is not waited for as for one that starts


def test_a_log_that_cannot_be_written_is_an_error_in_one_line(
    pretend, make: Make, tmp_path: Path
) -> None:
    server = make(pretend.tritonserver())
    (tmp_path / "server.log").mkdir()

    with pytest.raises(ServerError, match=r"server\.log: Is a directory"):
        server.serve([variants()[0]], ServerSetup())


def test_a_server_that_never_gets_ready_is_given_up(pretend, make: Make, mark) -> None:
    server = make(pretend.tritonserver(never_ready=True), ready_timeout_s=1)

    with pytest.raises(ServerError, match="not ready within 1 s"):
        server.serve([variants()[0]], ServerSetup())


def test_a_slow_start_is_waited_for(pretend, make: Make) -> None:
    assert make(pretend.tritonserver(start_s=1)).serve([variants()[0]], ServerSetup()) is None


def cached(count: int = 1) -> ModelVariant:
    plain = variants()[count - 1]
    return replace(plain, config=freeze({**plain.config, "response_cache": {"enable": True}}))


def test_a_model_is_measured_without_its_response_cache(pretend, make: Make) -> None:
    server, setup = make(pretend.tritonserver()), ServerSetup(uncached=True)

    server.serve([cached()], setup)

    config = server.client(setup).model_config("m")
    assert "response_cache" not in config
    assert config["instance_group"][0]["count"] == 1


def test_a_response_cache_that_is_kept_is_empty_for_each_variant(pretend, make: Make) -> None:
    """Variants share it, since they have the model's name, and unloading does not empty it."""
    server, setup = make(pretend.tritonserver()), ServerSetup()

    for count in (1, 1, 2):
        server.serve([cached(count)], setup)
        assert server.client(setup).model_config("m")["response_cache"] == {"enable": True}

    assert pretend.starts == 2


@pytest.mark.parametrize("state", ["UNAVAILABLE", "READY"])
def test_a_model_that_fails_is_a_failure_with_reason_and_hint(
    pretend, make: Make, state: str
) -> None:
    server = make(pretend.tritonserver(state=state))

    failure = server.serve([variants(fake="fail")[0]], ServerSetup())

    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.MODEL_NOT_LOADED
    reason = "did not load: Internal: ModuleNotFoundError: No module named 'nosuch'"
    assert failure.message.endswith(reason)
    assert "`model-analyzer runtime install --with nosuch --unverified`" in failure.hint


def test_a_refused_configuration_gives_the_reason_from_the_log_and_costs_no_server(
    pretend, make: Make
) -> None:
    server = make(pretend.tritonserver())

    failure = server.serve([variants(fake="refuse")[0]], ServerSetup())
    assert server.serve([variants()[0]], ServerSetup()) is None

    assert isinstance(failure, Failure)
    assert "Invalid config override: as asked" in failure.message
    assert pretend.starts == 1


def test_a_failed_load_beside_another_variant_is_tried_on_a_new_server(pretend, make: Make) -> None:
    server = make(pretend.tritonserver())
    first = variants()[0]
    crowded = variants(fake="crowded")[1]

    assert server.serve([first], ServerSetup()) is None
    assert server.serve([crowded], ServerSetup()) is None

    assert pretend.starts == 2


def test_a_load_whose_process_ended_is_tried_once_more(pretend, make: Make) -> None:
    server = make(pretend.tritonserver())

    failure = server.serve([variants(fake="killed")[0]], ServerSetup())

    assert isinstance(failure, Failure)
    assert "the model's process ended" in failure.hint
    assert pretend.starts == len(pretend.loads) == 2


def test_a_failed_load_on_a_new_server_is_not_tried_again(pretend, make: Make) -> None:
    server = make(pretend.tritonserver())

    assert server.serve([variants(fake="fail")[0]], ServerSetup()) is not None

    assert len(pretend.loads) == 1


def test_a_load_that_hangs_is_ended_by_its_deadline(pretend, make: Make) -> None:
    server = make(pretend.tritonserver(), load_timeout_s=1)
    began = time.monotonic()

    failure = server.serve([variants(fake="hang")[0]], ServerSetup())

    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.LOAD_TIMEOUT
    assert "--model-load-timeout" in failure.hint
    assert time.monotonic() - began < 60  # it hangs for ten minutes
    assert not server.is_alive


def test_a_server_that_dies_while_loading_is_distinguished(pretend, make: Make) -> None:
    failure = make(pretend.tritonserver()).serve([variants(fake="die")[0]], ServerSetup())

    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.SERVER_DIED
    assert any("segmentation fault" in line for line in failure.log)


def test_empty_answers_end_the_run_since_every_number_would_be_wrong(pretend, make: Make) -> None:
    with pytest.raises(ServerError, match=r"empty tensors.*numpy 2"):
        make(pretend.tritonserver()).serve([variants(fake="empty")[0]], ServerSetup())


def test_each_new_variant_is_warmed_up_before_it_is_measured(pretend, make: Make) -> None:
    make(pretend.tritonserver()).serve([variants()[2]], ServerSetup())

    assert (
        pretend.server_calls.count("infer m") == 7
    )  # one, then twice for each of its three instances


@pytest.mark.parametrize("protocol", list(Protocol))
def test_warming_up_is_no_harder_than_the_lightest_load(
    pretend, make: Make, protocol: Protocol
) -> None:
    server = make(pretend.tritonserver(), protocol=protocol)

    assert server.serve([variants(fake="lonely")[2]], ServerSetup()) is None

    assert pretend.server_calls.count("infer m") == 7
    assert server.is_alive


def test_a_slow_model_is_warmed_up_by_what_time_allows(pretend, make: Make) -> None:
    server = make(pretend.tritonserver(), timings=Timings(warm_up_s=-1))

    server.serve([variants()[2]], ServerSetup())

    assert pretend.server_calls.count("infer m") == 1


def test_a_server_that_was_begun_is_used(pretend, make: Make) -> None:
    server = make(pretend.tritonserver())

    server.begin(ServerSetup())
    assert server.version(ServerSetup()) == "9.99.0"

    assert pretend.starts == 1


def test_a_server_that_was_begun_otherwise_is_replaced(pretend, make: Make) -> None:
    server = make(pretend.tritonserver())
    verbose = ServerSetup(flags={"log-verbose": "1"})

    server.begin(ServerSetup())
    assert server.serve([variants()[0]], verbose) is None

    assert "--log-verbose=1" in [call for call in pretend.server_calls if "start" in call][-1]


def test_a_server_that_was_begun_and_died_is_reported(pretend, make: Make) -> None:
    server = make(pretend.tritonserver(die="E1121 00:00:00.000000 1 a.cc:1] no such library"))

    server.begin(ServerSetup())
    with pytest.raises(ServerError, match="no such library"):
        server.version(ServerSetup())

    assert pretend.starts == 1


def test_a_server_unloads_its_models_before_it_ends(pretend, make: Make) -> None:
    server = make(pretend.tritonserver(stop_s=0.5))
    whole = replace(VariantNames().default(facts("whole")), composing=tuple(variants("part", 1)))
    server.serve([whole], ServerSetup())

    server.begin_stop()
    server.stop()

    assert pretend.server_calls[-3:] == ["unload whole", "unload part", "stop"]
    assert not server.is_alive


def test_a_server_is_not_asked_to_end_if_nothing_happens_then(pretend, make: Make) -> None:
    server = make(pretend.tritonserver(named=True), acts=lambda name: name == "part")
    whole = replace(VariantNames().default(facts("whole")), composing=tuple(variants("part", 1)))
    server.serve([variants()[0]], ServerSetup())
    server.stop()
    assert not server.is_alive
    assert "unload" not in " ".join(pretend.server_calls)

    server.serve([whole], ServerSetup())
    server.stop()

    assert not server.is_alive
    assert pretend.server_calls[-2:] == ["unload whole", "unload part"]


def test_a_server_that_writes_traces_is_asked_to_end(pretend, make: Make) -> None:
    server = make(pretend.tritonserver(named=True), acts=lambda _: False)
    server.serve([variants()[0]], ServerSetup(flags={"trace-config": "rate=1"}))

    server.stop()

    assert pretend.server_calls[-2:] == ["unload m", "stop"]


def test_a_server_that_does_not_unload_is_killed(pretend, make: Make) -> None:
    server = make(pretend.tritonserver(unloads=False), timings=Timings(grace_s=0.5))
    server.serve([variants()[0]], ServerSetup())

    server.stop()

    assert pretend.server_calls[-1] == "unload m"
    assert not server.is_alive


def test_a_server_that_does_not_stop_is_killed(pretend, make: Make, mark) -> None:
    server = make(pretend.tritonserver(deaf=True), timings=Timings(grace_s=0.5))
    server.serve([variants()[0]], ServerSetup())

    server.stop()

    assert not server.is_alive


def test_discarding_is_quick_and_can_be_repeated(pretend, make: Make) -> None:
    server = make(pretend.tritonserver(deaf=True), timings=Timings(grace_s=300))  # not used
    server.serve([variants()[0]], ServerSetup())
    began = time.monotonic()

    server.discard()
    server.discard()

    assert time.monotonic() - began < 60
    assert server.serve([variants()[0]], ServerSetup()) is None


def test_variables_of_the_server_are_expanded(pretend, make: Make, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    program = tmp_path / "server.sh"
    program.write_text(f'#!/bin/sh\necho "$PLUGIN" > {seen}\necho error: enough\nexit 1\n')
    program.chmod(0o755)

    with pytest.raises(ServerError):
        make(program).serve([variants()[0]], ServerSetup(environment={"PLUGIN": "a:$HOME"}))

    assert seen.read_text().strip() == f"a:{os.environ['HOME']}"


# ------------------------------------------------------------------------------- for GPU metrics


@pytest.mark.parametrize(("backend", "starts"), [("python", 1), ("onnxruntime", 3)])
def test_a_server_that_has_run_a_model_itself_is_renewed_for_another_variant(
    pretend, make: Make, backend: str, starts: int
) -> None:
    server = make(pretend.tritonserver(), renews=True)

    for variant in variants():
        again = replace(variant, config={**variant.config, "backend": backend})
        server.serve([again], ServerSetup())
        server.serve([again], ServerSetup())

    assert pretend.starts == starts


def test_an_idle_server_continues_afterwards(pretend, make: Make) -> None:
    server = make(pretend.tritonserver())
    server.version(ServerSetup())

    began = time.monotonic()
    server.rest(0.3)

    assert 0.3 <= time.monotonic() - began < 60
    assert server.serve([variants()[0]], ServerSetup(devices=("GPU-a",))) is None
    assert pretend.starts == 1
    assert server.metrics_url.startswith("http://127.0.0.1:")


def test_a_server_that_dies_at_rest_is_named_at_once(pretend, make: Make) -> None:
    server = make(pretend.tritonserver())
    server.version(ServerSetup())
    for process in server.processes():
        process.kill()

    began = time.monotonic()
    with pytest.raises(ServerError, match="died while idle"):
        server.rest(300)
    assert time.monotonic() - began < 60
