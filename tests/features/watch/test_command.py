# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer watch` beside pretend servers and a pretend Prometheus."""

from __future__ import annotations

import html
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from model_analyzer.config.resolve import check_file
from model_analyzer.config.sources import parse_yaml
from model_analyzer.domain.words import capitalized
from model_analyzer.state.profile_state import ProfileState
from tests.features.watch.production import Server, measured, metrics_text

PROMISED, DEVIATION, UNKNOWN, USAGE = 0, 3, 1, 2

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def watch(run: Run, tmp_path: Path) -> Run:
    """The command with a checkpoint of rates that no machine is too slow for."""
    with ProfileState(tmp_path / "checkpoints") as state:
        for rate in (1, 100_000):
            state.record(*measured(rate)[:2])
        state.save()
    return lambda *arguments: run("watch", *arguments)


@contextmanager
def answering(answer: Callable[[str], str]) -> Iterator[str]:
    """The URL of a server that answers like this to each path."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = answer(self.path).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextmanager
def production(server: Server) -> Iterator[str]:
    """Metrics of a server that answers ten times its rate."""
    last = time.monotonic()

    def answer(_: str) -> str:
        nonlocal last
        before, last = last, time.monotonic()
        server.look(0, 10 * (last - before))
        return metrics_text(server.counts)

    with answering(answer) as url:
        yield f"{url}/metrics"


QUICK = ("--for", "1s", "--every", "0.1s")


def test_what_is_promised_and_seen_stand_beside_each_other(watch: Run, tmp_path: Path) -> None:
    with production(Server()) as url:
        status, output, errors = watch("--metrics-url", url, *QUICK, "--write-load", "t.yaml")

    assert (status, output.splitlines()[0]) == (PROMISED, "m: as promised")
    assert "1 is seen" in output
    assert "wrote the traffic to t.yaml" in errors
    written = (tmp_path / "t.yaml").read_text()
    check_file(parse_yaml(written, "t.yaml"), tmp_path)  # raises an error if it is none
    (load,) = (each["load"] for each in yaml.safe_load(written)["profile_models"].values())
    assert load.get("arrivals") in ("poisson", "gamma") or load["stages"]


def test_programs_get_all_of_it(watch: Run) -> None:
    with production(Server(compute_ms=20.0)) as url:
        status, output, _ = watch("--metrics-url", url, *QUICK, "--json")

    (model,) = json.loads(output)["models"]
    assert (status, model["verdict"]) == (DEVIATION, "slower than measured")
    (deviation,) = model["deviations"]
    assert deviation["seen"]["value"] == pytest.approx(20, rel=0.1)
    assert deviation["promised"]["high"] < 9
    assert model["replicas"][0]["versions"] == ["1"]


def test_a_page_shows_the_same(watch: Run, tmp_path: Path) -> None:
    with production(Server(compute_ms=20.0)) as url, production(Server()) as other:
        urls = ("--metrics-url", url, "--metrics-url", other, "--server-url", url)
        _, output, errors = watch(*urls, *QUICK, "-o", "watch.html")

    page = html.unescape((tmp_path / "watch.html").read_text())
    assert "wrote the page to watch.html" in errors
    assert '<section class="answer bad" aria-label="m">' in page
    first, *others = output.split("\n\n")[0].splitlines()
    told = [first.removeprefix("m: slower than measured: "), *map(str.strip, others)]
    assert len(told) > 3
    assert [line for line in told if capitalized(line) not in page] == []
    assert "The configuration of 1 replica was not compared: give a --server-url for each" in page


def test_a_replica_may_be_away(watch: Run) -> None:
    with production(Server()) as url, production(Server()) as other:
        pass
    with production(Server()) as url:
        status, output, _ = watch("--metrics-url", url, "--metrics-url", other, *QUICK)

    assert (status, "m: replica missing: 127.0.0.1:" in output) == (DEVIATION, True)
    assert "cannot be read: Connection refused" in output


def test_prometheus_tells_what_it_has_read(watch: Run) -> None:
    server, now = Server(), time.time()
    series: dict[tuple[str, ...], list[list[object]]] = {}
    for step in range(41):
        server.look(0, 15.0)
        for line in metrics_text(server.counts).splitlines():
            name, _, value = line.rpartition(" ")
            series.setdefault(tuple(name.split("{")), []).append([now - 600 + 15 * step, value])
    result = []
    for (name, *labels), values in series.items():
        pairs = (pair.split("=") for text in labels for pair in text.rstrip("}").split(","))
        metric = {key: value.strip('"') for key, value in pairs}
        metric |= {"__name__": name, "instance": "a:8002"}
        result.append({"metric": metric, "values": values})
    asked = []

    def answer(path: str) -> str:
        asked.append(parse_qs(urlsplit(path).query)["query"][0])
        return json.dumps({"status": "success", "data": {"result": result}})

    with answering(answer) as url:
        status, output, _ = watch("--prometheus", url, "--query-labels", "job=triton")

    assert (status, output.splitlines()[0]) == (PROMISED, "m: as promised")
    assert asked[0].endswith(',job="triton"}[600s]')


def test_nothing_to_judge_is_no_promise(watch: Run) -> None:
    with production(Server(rate=0)) as url:
        status, output, _ = watch("--metrics-url", url, *QUICK)

    assert (status, output.startswith("m: not checked: 0 requests")) == (UNKNOWN, True)


@pytest.mark.parametrize(
    ("arguments", "words", "status"),
    [
        ((), "--metrics-url: give the metrics of servers, or --prometheus", USAGE),
        (("--metrics-url", "ftp://x"), "--metrics-url: expected http://HOST:PORT", USAGE),
        (("--metrics-url", "http://u:pw@x"), "a password in a URL is not sent", USAGE),
        (("--metrics-url", "x", "--query-labels", "a=b"), "only --prometheus", USAGE),
        (("--prometheus", "x", "--query-labels", "a"), "expected NAME=VALUE", USAGE),
        (("--metrics-url", "x", "--once", "--for", "1m"), "--once: not together", USAGE),
        (("--metrics-url", "127.0.0.1:1", *QUICK), "cannot be read", UNKNOWN),
        (("--prometheus", "127.0.0.1:1"), "cannot be read", UNKNOWN),
    ],
)
def test_mistakes_are_one_line(
    watch: Run, arguments: tuple[str, ...], words: str, status: int
) -> None:
    found, _, errors = watch(*arguments)

    assert (found, len(errors.splitlines())) == (status, 1)
    assert words in errors
    assert "pw" not in errors


@pytest.mark.parametrize("answer", ["", "<html>", "nv_inference_count{ 1", "{}", "[]"])
def test_other_servers_are_named(watch: Run, answer: str) -> None:
    with answering(lambda _: answer) as url:
        metrics = watch("--metrics-url", url, *QUICK)
        prometheus = watch("--prometheus", url)

    assert metrics[0] == prometheus[0] == UNKNOWN
    assert len(metrics[2].splitlines()) == len(prometheus[2].splitlines()) == 1


@pytest.mark.parametrize("flag", ["-o", "--write-load"])
@pytest.mark.parametrize("path", ["nowhere/file", "checkpoints"])
def test_a_file_that_cannot_be_written_is_told_before_the_servers_are_read(
    watch: Run, flag: str, path: str
) -> None:
    with answering(lambda _: "") as url:
        begin = time.monotonic()
        status, _, error = watch("--metrics-url", url, "--for", "1h", flag, path)

    assert (status, time.monotonic() - begin < 60) == (USAGE, True)
    assert f"cannot write {path}" in error
    assert error.endswith(f"; check {flag}\n")
