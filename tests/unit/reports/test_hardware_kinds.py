# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reports of a model that was measured on several kinds of hardware."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import jsonschema
import pytest

from model_analyzer.domain.hardware import Device, Machine
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.reports import html
from model_analyzer.reports.build import Page
from model_analyzer.reports.document import results_document, results_schema
from model_analyzer.reports.kubernetes import manifest
from model_analyzer.reports.tables import gpu_table, hardware_table, inference_table
from model_analyzer.results.answer import Answer, answer_of
from model_analyzer.results.ranking import rank
from tests.drawn import NOT_DRAWN, page_of
from tests.unit.builders import failure, goal, measurement, origin, record, summary_page, variant

DEFAULT = variant("m_config_default", backend="python")
BATCHED = variant("m_config_0", max_batch_size=8, backend="python")


def machine(host: str, *names: str, cores: int) -> Machine:
    devices = (Device(uuid=f"GPU-{host}-{n}", name=name, memory=24_000) for n, name in
               enumerate(names))  # fmt: skip
    return Machine(host=host, devices=tuple(devices), driver="550.1", processor="X", cores=cores)


BIG = machine("big", "NVIDIA H100", cores=64)
SMALL = machine("small", "NVIDIA L4", "NVIDIA L4", cores=8)
NO_GPU = machine("plain", cores=16)


def measured(on: Machine, *throughputs: float) -> list[TrialRecord]:
    """The default and another variant, measured on a machine."""
    setup = ServerSetup(version="2.51.0", devices=tuple(gpu.name for gpu in on.devices))
    gpus = {gpu.uuid: {"gpu_used_memory": 700.0} for gpu in on.devices}
    return [
        record(
            of,
            replace(measurement(throughput, 900 / throughput, gpus=gpus), machine=on),
            setup=setup,
        )
        for of, throughput in zip((DEFAULT, BATCHED), throughputs, strict=False)
    ]


RECORDS = [*measured(SMALL, 100, 150), *measured(BIG, 900, 300)]


def answers(*records: TrialRecord) -> list[Answer]:
    return [answer_of(each) for each in rank(Profile(records=records), "m", goal())]


def page(*records: TrialRecord) -> Page:
    return summary_page(*(answer.ranking for answer in answers(*records)), difference="+x")


def test_which_hardware_has_the_best_of_each_kind_and_its_gain_on_that_kind() -> None:
    table = hardware_table(answers(*RECORDS))
    assert table.headers == (
        "Hardware", "Configuration", "Instances", "Batch", "Load", "Infer/s", "p99 ms",
        "Over default",
    )  # fmt: skip
    rows = [(row[0], row[1], row[5], row[-1]) for row in table.rows]
    assert rows == [
        ("1 x NVIDIA H100", "m_config_default", 900, "is the default"),
        ("2 x NVIDIA L4", "m_config_0", 150, "+50 %"),
    ]


def test_a_kind_with_only_failures_has_a_row_without_values() -> None:
    setup = ServerSetup(version="2.51.0", devices=("NVIDIA A10",))
    table = hardware_table(answers(*RECORDS, record(DEFAULT, failure(), setup=setup)))
    assert table.rows[0][0] == "1 x NVIDIA A10"
    assert set(table.rows[0][1:]) == {None}


def test_a_model_on_one_kind_has_no_such_table() -> None:
    only = page(*RECORDS[:2])
    assert only.hardware is None
    assert len(only.parts) == 1
    assert (only.parts[0].place, only.parts[0].statement.headline[0]) == ("", "")


def test_the_table_of_all_measurements_has_every_kind_and_charts_point_to_its_rows() -> None:
    both = page(*RECORDS, *measured(NO_GPU, 9))
    explorer = both.explorer
    assert explorer.count == 5
    (hardware,) = [column for column in explorer.own if column.key == "hardware"]
    assert hardware.is_usual
    for start, part in zip((0, 2, 4), both.parts, strict=True):
        places = {
            point["row"]
            for chart in part.charts
            for point in chart.spec["data"]["values"]
            if point.get("row", -1) >= 0
        }
        assert min(places) == start
    keys = [chart.key for chart in both.charts]
    assert len(keys) == len(set(keys))
    assert {key.partition("/")[0] for key in keys} == {
        "2-x-NVIDIA-L4", "1-x-NVIDIA-H100", "no-GPU",
    }  # fmt: skip


def test_html_and_pdf_have_it_too_and_no_id_twice() -> None:
    report = page(*RECORDS)
    text = html.render_summary(report, NOT_DRAWN)
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    targets = re.findall(r'\bhref="#([^"]+)"', text)
    assert set(targets) <= {*ids, "measurements"}
    printed = html.on_paper(report, NOT_DRAWN)
    for each in (text, printed):
        assert each.index("Which hardware") < each.index(">On 1 x NVIDIA H100</h2>")
        assert each.index(">On 1 x NVIDIA H100</h2>") < each.index(">On 2 x NVIDIA L4</h2>")


def test_the_charts_of_each_kind_are_drawn() -> None:
    report = page(*RECORDS)
    without_scripts = re.sub(r"<script.*?</script>", "", page_of(report), flags=re.DOTALL)
    assert without_scripts.count("<svg") == len(report.charts)


def test_results_for_programs_have_an_entry_for_each_kind_with_its_machines() -> None:
    document = json.loads(json.dumps(results_document(answers(*RECORDS), origin(), complete=True)))

    jsonschema.validate(document, results_schema())
    big, small = document["models"]
    assert (small["model"], big["model"]) == ("m", "m")
    assert small["hardware"]["kind"] == "2 x NVIDIA L4"
    assert small["hardware"]["gpus"] == small["server"]["devices"] == ["NVIDIA L4", "NVIDIA L4"]
    (where,) = small["hardware"]["machines"]
    assert (where["host"], where["cores"], len(where["gpus"])) == ("small", 8, 2)
    assert big["variants"][0]["measurements"][0]["host"] == "big"
    assert (small["recommended"]["variant"], big["recommended"]["variant"]) == (
        "m_config_0", "m_config_default",
    )  # fmt: skip


def test_tables_have_a_column_of_the_hardware_if_it_differs() -> None:
    fields = ("model_name", "model_config_path", "perf_throughput")
    rankings = [answer.ranking for answer in answers(*RECORDS)]

    table = inference_table(rankings, fields)

    assert table.headers == ("Model", "Hardware", "Model Config Path", "Throughput (infer/sec)")
    assert {row[1] for row in table.rows} == {"2 x NVIDIA L4", "1 x NVIDIA H100"}
    assert "Hardware" not in inference_table(rankings[:1], fields).headers
    gpus = gpu_table(rankings, ("model_name", "gpu_uuid", "gpu_used_memory"), always=True)
    assert gpus.headers[:3] == ("Model", "Hardware", "GPU UUID")


@pytest.mark.parametrize(
    ("index", "cores", "name"), [(0, 64, "1 x NVIDIA H100"), (1, 8, "2 x NVIDIA L4")]
)
def test_a_manifest_is_for_its_kind(index: int, cores: int, name: str) -> None:
    on_cpus = variant(backend="python", instance_group=[{"kind": "KIND_CPU"}])
    works = [replace(each.trial.workloads[0], variant=on_cpus) for each in RECORDS]
    records = [
        TrialRecord(trial=replace(each.trial, workloads=(work,)), outcome=each.outcome)
        for each, work in zip(RECORDS, works, strict=True)
    ]
    answer = answers(*records[::2])[index]
    text = manifest(answer, origin(cores=4), {"m": 'name: "m"\n'})
    assert f"cpu: {cores}  # all cores of the measured machine" in text
    assert f"# {on_cpus.name} on {name}: " in text
