# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""GPUs by a pretend NVML and by a pretend metrics endpoint."""

from __future__ import annotations

import importlib.util
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from model_analyzer.domain.costs import with_metered_power
from model_analyzer.domain.hardware import Device
from model_analyzer.domain.measurements import Values
from model_analyzer.runner.gpus import Gpu, GpuMonitor, Nvml, ObservedGpus, Sample, TritonMetrics
from tests.conftest import GIB, TESTS, PretendDriver, gpu

MB = 1e6


@pytest.fixture
def nvml(driver: PretendDriver, monkeypatch: pytest.MonkeyPatch) -> PretendDriver:
    """The pretend driver as `pynvml` of this process."""
    spec = importlib.util.spec_from_file_location("pynvml", TESTS / "fakes" / "nvml" / "pynvml.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "pynvml", module)
    monkeypatch.setenv("FAKE_NVML", str(driver.plan))
    return driver


def usable(nvml: Nvml) -> tuple[Device, ...]:
    return tuple(device for gpu in nvml.gpus for device in gpu.usable)


def find_devices() -> tuple[Device, ...]:
    """What CUDA programs can use of the GPUs of this machine."""
    with Nvml() as nvml:
        return usable(nvml)


def sample_of_all() -> dict:
    with Nvml() as nvml:
        return dict(nvml.read(usable(nvml)))


# --------------------------------------------------------------------------------------- NVML


def test_gpus_are_found_with_name_and_memory(nvml: PretendDriver) -> None:
    nvml.has(gpu(0), gpu(1, name="Other", total=8 * GIB))
    assert find_devices() == (
        Device(uuid="GPU-0000", name="NVIDIA Pretend", memory=16 * GIB / MB),
        Device(uuid="GPU-1111", name="Other", memory=8 * GIB / MB),
    )


def test_values_are_in_the_units_of_the_catalogue(nvml: PretendDriver) -> None:
    nvml.has(gpu(0), gpu(1, used=3_000_000, total=10_000_000, utilization=7, power=12_345))
    assert sample_of_all()["GPU-1111"] == {
        "gpu_used_memory": 3.0,
        "gpu_free_memory": 7.0,
        "gpu_total_memory": 10.0,
        "gpu_utilization": 7.0,
        "gpu_power_usage": 12.345,
    }


def test_an_old_driver_reports_memory_in_its_own_format(nvml: PretendDriver) -> None:
    nvml.has(gpu(0, old=True, used=2_000_000))
    assert sample_of_all()["GPU-0000"]["gpu_used_memory"] == 2.0


def test_a_gpu_without_power_reading_has_all_other_values(nvml: PretendDriver) -> None:
    nvml.has(gpu(0, power=None))
    assert "gpu_power_usage" not in sample_of_all()["GPU-0000"]
    assert len(sample_of_all()["GPU-0000"]) == 4


def test_a_gpu_in_mig_mode_is_its_slices_and_has_their_memory_only(nvml: PretendDriver) -> None:
    parts = [
        {"uuid": f"MIG-{n}", "name": "NVIDIA Pretend MIG 1g", "total": 2 * GIB, "used": n * GIB}
        for n in (0, 1)
    ]
    nvml.has(gpu(0), gpu(1, slices=parts))
    with Nvml() as driver:
        whole, cut = driver.gpus
        assert whole.slices is None
        assert [device.uuid for device in cut.usable] == ["MIG-0", "MIG-1"]
        used = driver.read(cut.usable)["MIG-1"]
        chosen = ObservedGpus(cut.usable, driver.read, meter=driver.meter)
        assert chosen.unknown() == (
            "gpu_utilization, gpu_power_usage, gpu_metered_power of MIG-0, MIG-1"
        )
    assert used == {
        "gpu_used_memory": GIB / MB,
        "gpu_free_memory": GIB / MB,
        "gpu_total_memory": 2 * GIB / MB,
    }


def test_a_gpu_in_mig_mode_may_have_no_slices(nvml: PretendDriver) -> None:
    nvml.has(gpu(0, slices=[]))
    assert find_devices() == ()


def test_a_lost_gpu_is_named_and_the_others_are_used(nvml: PretendDriver, caplog) -> None:
    nvml.has(gpu(0, lost=True), gpu(1))
    assert [device.uuid for device in find_devices()] == ["GPU-1111"]
    assert "GPU 0 cannot be used: GPU is lost" in caplog.text


def test_a_gpu_that_is_lost_later_has_no_values(nvml: PretendDriver) -> None:
    with Nvml() as driver:
        devices = driver.gpus[0].usable
        nvml.has(gpu(0, lost=True))
        assert driver.read(devices) == {"GPU-0000": {}}


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("NVMLError_LibraryNotFound", False),
        ("NVMLError_DriverNotLoaded", False),
        ("NVMLError_LibRmVersionMismatch", True),
    ],
)
def test_without_a_working_driver_there_are_no_gpus(
    nvml: PretendDriver, caplog: pytest.LogCaptureFixture, error: str, said: bool
) -> None:
    nvml.has(gpu(), error=error)
    assert find_devices() == ()
    assert ("GPUs cannot be used" in caplog.text) == said


# ------------------------------------------------------------------------------------ monitor


def test_a_trial_is_sampled_from_before_to_after(nvml: PretendDriver) -> None:
    # the first look is the one that finds its memory; how many there are in the end is up to the
    # machine
    nvml.has(gpu(0, used=[0, 1_000_000, 9_000_000, 2_000_000], utilization=[99, 0, 50]))
    with Nvml() as driver:
        looks = []

        def read(devices: Sequence[Device]) -> Sample:
            looks.append(driver.read(devices))
            return looks[-1]

        monitor = ObservedGpus(driver.gpus[0].usable, read).monitor(interval_s=0.01)
        with monitor:
            while len(looks) < 2:
                time.sleep(0.01)
    values = monitor.observation.gpus["GPU-0000"]
    assert values["gpu_used_memory"] == 9.0
    assert values["gpu_free_memory"] == round(16 * GIB / MB - 9.0, 1)
    assert values["gpu_utilization"] == 50.0
    assert monitor.observation.host == {}


def test_a_load_shorter_than_the_interval_is_sampled_twice(nvml: PretendDriver) -> None:
    nvml.has(gpu(0, used=[0, 0, 5_000_000], utilization=[0, 0, 80]))
    with Nvml() as driver:
        monitor = ObservedGpus(driver.gpus[0].usable, driver.read).monitor(interval_s=60)
        with monitor:
            pass
    values = monitor.observation.gpus["GPU-0000"]
    assert (values["gpu_used_memory"], values["gpu_utilization"]) == (5.0, 80.0)


def test_an_error_of_a_reader_is_raised_after_the_load() -> None:
    def read() -> dict:
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"), GpuMonitor(read, 0.01):
        time.sleep(0.05)


def test_a_failing_load_is_not_sampled_once_more() -> None:
    samples = []

    def read() -> Mapping[str, Mapping[str, float]]:
        samples.append(1)
        return {}

    def load() -> None:
        time.sleep(0.05)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), GpuMonitor(read, 60):
        load()
    assert samples == [1]


# -------------------------------------------------------------------------- the energy counter


def metered(
    driver: Nvml, looks: int = 2, meter: Callable[[], Mapping[str, float]] | None = None
) -> Mapping[str, Values]:
    """What a monitor observes with so many looks, a second each: without a thread, so that it is
    exact. A reading takes half a second, and counts at its middle.
    """
    devices = usable(driver)
    halves = iter(range(2000, 2000 + 2 * looks))
    monitor = GpuMonitor(
        lambda: driver.read(devices),
        60,
        meter=meter or (lambda: driver.meter(devices)),
        clock=lambda: next(halves) / 2,
    )
    for _ in range(looks):
        monitor.look()
        monitor.read_counters()
    observed = monitor.observation
    return with_metered_power(observed.gpus, observed.counters)


def test_power_is_the_growth_of_the_counter_over_time(nvml: PretendDriver) -> None:
    start = 2**53  # millijoules
    nvml.has(
        gpu(0, energy=[start, start + 500_000, start + 600_000]),
        gpu(1, energy=[7, 50_007, 300_007]),
    )
    with Nvml() as driver:
        observed = metered(driver, looks=3)
    assert observed["GPU-0000"]["gpu_metered_power"] == 300.0
    assert observed["GPU-1111"]["gpu_metered_power"] == 150.0


@pytest.mark.parametrize(
    "counter",
    [
        pytest.param([900_000, 100], id="the driver was loaded again"),
        pytest.param([2**64 - 1000, 500], id="wrapped around"),
        pytest.param([900_000, 100, 950_000], id="loaded again, and grown above the start"),
        pytest.param(None, id="a GPU without a counter"),
    ],
)
def test_power_is_unknown_and_never_0(nvml: PretendDriver, counter: list[int] | None) -> None:
    nvml.has(gpu(0, energy=counter), gpu(1, energy=[0, 1000, 2000, 3000]))
    with Nvml() as driver:
        observed = metered(driver, looks=3)
    assert "gpu_metered_power" not in observed["GPU-0000"]
    assert observed["GPU-0000"]["gpu_used_memory"] > 0
    assert "gpu_metered_power" in observed["GPU-1111"]


def test_a_part_of_a_gpu_has_no_counter_although_the_gpu_has_one(nvml: PretendDriver) -> None:
    part = {"uuid": "MIG-0", "name": "NVIDIA Pretend MIG 1g", "total": 2 * GIB, "used": 1}
    nvml.has(gpu(0, energy=[0, 1000, 2000], slices=[part]))
    with Nvml() as driver:
        assert set(metered(driver)["MIG-0"]) == {
            "gpu_used_memory", "gpu_free_memory", "gpu_total_memory"
        }  # fmt: skip


def test_a_counter_that_is_missing_once_is_not_guessed(nvml: PretendDriver) -> None:
    nvml.has(gpu(0, energy=[0, 1000, 2000]))
    with Nvml() as driver:
        answers = iter([{"GPU-0000": 0.0}, {}, {"GPU-0000": 2.0}])
        observed = metered(driver, looks=3, meter=lambda: next(answers))
        assert "gpu_metered_power" not in observed["GPU-0000"]


def test_counters_are_read_more_often_than_samples_are_taken(nvml: PretendDriver) -> None:
    nvml.has(gpu(0, energy=[0, 1000, 2000, 3000]))
    with Nvml() as driver:
        devices, readings = driver.gpus[0].usable, []

        def meter() -> Mapping[str, float]:
            readings.append(driver.meter(devices))
            return readings[-1]

        monitor = ObservedGpus(devices, driver.read, meter=lambda _: meter()).monitor(60)
        with monitor:
            while len(readings) < 4:
                time.sleep(0.01)
    counters = [values["GPU-0000"] for _, values in monitor.observation.counters]
    assert counters[:2] == [1.0, 2.0], "the first reading only says that there is a counter"
    assert [at for at, _ in monitor.observation.counters] == sorted(
        at for at, _ in monitor.observation.counters
    )


def test_a_gpu_without_a_counter_is_asked_for_it_once() -> None:
    asked = []

    def meter() -> Mapping[str, float]:
        asked.append(1)
        return {}

    monitor = GpuMonitor(dict, 0.01, meter=meter)
    with monitor:
        time.sleep(0.05)
    assert (len(asked), monitor.observation.counters) == (1, ())


# ----------------------------------------------------------------------------- metrics endpoint


@dataclass
class Endpoint:
    """A metrics endpoint; `answers` are (status, text), the last one is repeated."""

    url: str
    answers: list[tuple[int, str]] = field(default_factory=list)
    asked: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, text = made.answers[min(made.asked, len(made.answers) - 1)]
            made.asked += 1
            made.headers = dict(self.headers)
            if status == 0:
                return  # the connection breaks
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_port}/metrics"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


def text(used: int) -> str:
    return (
        f'nv_gpu_memory_used_bytes{{gpu_uuid="GPU-x"}} {used}\n'
        'nv_gpu_memory_total_bytes{gpu_uuid="GPU-x"} 16000000000\n'
        'nv_gpu_memory_total_bytes{gpu_uuid="GPU-y"} 8000000000\n'
    )


def test_a_server_reports_its_gpus(endpoint: Endpoint) -> None:
    endpoint.answers = [(200, text(0))]
    assert TritonMetrics(endpoint.url, {}).gpus() == (
        Gpu(Device(uuid="GPU-x", name="GPU (16000 MB)", memory=16000.0)),
        Gpu(Device(uuid="GPU-y", name="GPU (8000 MB)", memory=8000.0)),
    )


def test_very_many_gpus_of_a_server_are_cut_with_one_line(endpoint: Endpoint, caplog) -> None:
    lines = (f'nv_gpu_utilization{{gpu_uuid="GPU-{number}"}} 0\n' for number in range(20_000))
    endpoint.answers = [(200, "".join(lines))]
    assert len(TritonMetrics(endpoint.url, {}).gpus()) == 256
    (line,) = caplog.messages
    assert line == "The server's metrics name more than 256 GPUs: the others are left out"


def test_only_the_devices_in_use_are_read(endpoint: Endpoint) -> None:
    endpoint.answers = [(200, text(2_000_000))]
    chosen = Device(uuid="GPU-x", name="GPU", memory=16000.0)
    assert TritonMetrics(endpoint.url, {}).read([chosen]) == {
        "GPU-x": {"gpu_used_memory": 2.0, "gpu_free_memory": 15998.0, "gpu_total_memory": 16000.0}
    }


@pytest.mark.parametrize("failing", [(500, "no"), (0, ""), (200, "<html>"), (200, "")])
def test_a_failing_request_does_not_end_the_sampling(
    endpoint: Endpoint, failing: tuple[int, str]
) -> None:
    endpoint.answers = [(200, text(1_000_000)), failing, failing, (200, text(7_000_000))]
    chosen = Device(uuid="GPU-x", name="GPU", memory=16000.0)
    metrics = TritonMetrics(endpoint.url, {})
    monitor = GpuMonitor(lambda: metrics.read([chosen]), 0.02)
    with monitor:
        deadline = time.monotonic() + 120
        while endpoint.asked < 5 and time.monotonic() < deadline:
            time.sleep(0.01)
    assert monitor.observation.gpus["GPU-x"]["gpu_used_memory"] == 7.0


def test_without_an_answer_there_are_no_gpus(endpoint: Endpoint, caplog) -> None:
    with caplog.at_level(logging.INFO):
        assert TritonMetrics("http://127.0.0.1:1/metrics", {}).gpus() == ()
    assert caplog.text == ""


def test_no_proxy_is_asked(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    endpoint.answers = [(200, text(0))]
    assert len(TritonMetrics(endpoint.url, {}).gpus()) == 2


def test_over_https_metrics_are_asked_for_as_perf_analyzer_asks(
    endpoint: Endpoint, tls_proxy: Callable[[int], str], certificates: Any
) -> None:
    endpoint.answers = [(200, text(0))]
    url = tls_proxy(int(endpoint.url.split(":")[2].split("/")[0])) + "/metrics"
    flags = {
        "ssl-https-ca-certificates-file": certificates["ca.pem"],
        "ssl-https-client-certificate-file": certificates["client.pem"],
        "ssl-https-private-key-file": certificates["client.key"],
        "http-header": ["Authorization: Bearer s3cr3t"],
    }

    assert len(TritonMetrics(url, flags).gpus()) == 2
    assert endpoint.headers["Authorization"] == "Bearer s3cr3t"
    # nobody vouches for the proxy
    assert TritonMetrics(url, {}).gpus() == ()


def test_headers_are_not_sent_unencrypted(endpoint: Endpoint) -> None:
    endpoint.answers = [(200, text(0))]
    TritonMetrics(endpoint.url, {"http-header": "Authorization: Bearer s3cr3t"}).gpus()
    assert "Authorization" not in endpoint.headers
