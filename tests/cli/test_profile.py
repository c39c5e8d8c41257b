# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`profile` from command line and YAML to files, on pretend programs."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import jsonschema
import pytest

from model_analyzer.domain.measurements import Measurement, NoticeKind
from model_analyzer.reports.document import results_schema
from model_analyzer.runner.timings import Timings
from model_analyzer.state.checkpoint import load
from tests.ensemble_cases import Ensemble, step
from tests.phrases import DID_NOT_LOAD, FAILED_TRIALS, FOREIGN_ENTRY


def measured(pretend) -> list[str]:
    """The concurrency of each launch."""
    return [launch[launch.index("--concurrency-range") + 1] for launch in pretend.launches]


def steps(pretend) -> list[str]:
    """What happened to the server, without its warm-up."""
    return [call.split(" --")[0] for call in pretend.server_calls if not call.startswith("infer")]


def test_a_run_loads_and_measures_in_the_known_order(setting, pretend) -> None:
    setting.config["perf_analyzer_path"] = str(
        pretend.perf_analyzer(*[{"throughput": 100.0 * 1.5**n} for n in range(20)])
    )

    output = setting.succeeds()

    assert steps(pretend) == [
        "start",
        "load m count=1 max_batch_size=8",
        "load m count=1 max_batch_size=1",
        "load m count=1 max_batch_size=2",
        "load m count=2 max_batch_size=1",
        "load m count=2 max_batch_size=2",
        "unload m",
        "stop",
    ]
    assert measured(pretend) == ["1", "2"] * 5
    assert len(setting.rows) == 10
    assert setting.rows[0][3] == "m_config_3"
    assert "Profiling m_config_3: concurrency=2" in output
    assert "Profile complete. Profiled 5 configurations for models: ['m']" in output


def test_the_best_are_measured_again_in_rounds(setting) -> None:
    output = setting.succeeds("--progress", "json", measurement="auto")

    assert "Measuring the best configurations again, for longer" in output
    events = [json.loads(line) for line in output.splitlines() if line.startswith('{"event"')]
    again = [
        event for event in events if event["event"] == "trial_finished" and event["repetition"]
    ]
    assert 1 <= len(again) <= 12


def test_how_long_variants_took_to_load_is_kept(setting) -> None:
    setting.succeeds()

    lines = (setting.directory / "checkpoints" / "0.ckpt").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    taken = [entry for entry in entries if entry.get("entry") == "measurement"]
    assert all(entry.get("loading_s", 0.0) < entry["duration_s"] for entry in taken)
    # two loads of each variant: the second finds it loaded
    loading_s = [entry.get("loading_s", 0.0) for entry in taken]
    assert sum(loading_s[::2]) > sum(loading_s[1::2])


@pytest.mark.parametrize(("measurement", "sizes"), [("perf_analyzer", (1, 2)), ("auto", (1, 2, 4))])
def test_batch_limits_are_not_doubled_where_throughput_does_not_grow(
    setting, pretend, measurement: str, sizes: tuple[int, ...]
) -> None:
    """Rounds are noisy: growth has to be missing twice."""
    setting.succeeds(run_config_search_max_model_batch_size=8, measurement=measurement)

    _, *loads = dict.fromkeys(step for step in steps(pretend) if step.startswith("load"))
    assert loads == [
        f"load m count={count} max_batch_size={size}" for count in (1, 2) for size in sizes
    ]


def test_files_are_where_users_look_for_them(setting) -> None:
    output = setting.succeeds(skip_detailed_reports=False)

    here: Path = setting.directory
    assert (here / "checkpoints" / "0.ckpt").exists()
    assert (here / "output_model_repository" / "m_config_0" / "config.pbtxt").exists()
    assert (here / "results" / "metrics-model-inference.csv").exists()
    assert (here / "reports" / "summaries" / "m" / "result_summary.html").exists()
    assert (here / "reports" / "detailed" / "m_config_0" / "detailed_report.html").exists()
    assert "max_batch_size" in (here / "best" / "m" / "config.pbtxt").read_text()
    assert (here / "best" / "m" / "config.diff").exists()
    document = json.loads((here / "results" / "results.json").read_text())
    jsonschema.validate(document, results_schema())
    assert (document["complete"], document["models"][0]["model"]) == (True, "m")
    assert not (here / "perf_analyzer_error.log").exists()
    hint = next(
        line for line in output.splitlines() if line.startswith("to deploy m on Kubernetes")
    )
    command = shlex.split(hint.partition(": ")[2])
    deployed = subprocess.run(
        [setting.program, *command[1:], "--format", "pbtxt"],
        cwd=here, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert deployed.stdout == (here / "best" / "m" / "config.pbtxt").read_text()


def test_the_same_command_works_twice_in_one_directory(setting) -> None:
    setting.profile(override_output_model_repository=False)
    again = setting.profile(override_output_model_repository=False)

    assert again[0] == 0, again[1]
    output = setting.directory / "output_model_repository"
    assert (output / "m_config_0" / "1").exists()
    (output / "mine").mkdir()

    text = setting.fails(2, override_output_model_repository=False)

    assert f"contains mine, {FOREIGN_ENTRY}" in text
    assert (output / "m_config_0" / "1").exists()


@pytest.mark.parametrize("exists", [True, False])
def test_results_inside_the_output_repository_stay_when_it_is_replaced(
    setting, exists: bool
) -> None:
    output = setting.directory / "output_model_repository"
    if exists:
        (output / "old").mkdir(parents=True)
        (output / "results" / "mine").mkdir(parents=True)
    inside = {"export_path": str(output / "results"), "checkpoint_directory": str(output / "ckpt")}

    first = setting.profile(**inside)
    again = setting.profile(**inside)

    assert (first[0], again[0]) == (0, 0), first[1] + again[1]
    assert "Existing measurement found for run config" in again[1]
    assert (output / "results" / "mine").exists() is exists
    assert not (output / "old").exists()
    assert (output / "results" / "results" / "metrics-model-inference.csv").exists()
    assert sorted(path.name for path in (output / "ckpt").iterdir()) == ["0.ckpt"]
    assert (output / "m_config_0" / "1").exists()


def test_a_second_run_measures_nothing_and_writes_no_checkpoint(setting, pretend) -> None:
    setting.profile()
    first = setting.rows
    launches = len(pretend.launches)

    output = setting.succeeds()

    assert len(pretend.launches) == launches
    assert setting.checkpoints == ["0.ckpt"]
    assert setting.rows == first
    assert "Existing measurement found for run config. Skipping profile" in output
    assert "No changes made to analyzer data, no checkpoint saved." in output
    # what users deploy from is there again
    assert (setting.directory / "output_model_repository" / "m_config_0" / "1").exists()


def test_of_two_models_each_search_begins_below_its_name(setting, make_model) -> None:
    make_model("n")
    models = {name: {"cpu_only": True} for name in ("m", "n")}

    _, output = setting.profile(profile_models=models)
    _, again = setting.profile(profile_models=models)

    headings = ("Model 1 of 2: m", "brute search", "Model 2 of 2: n", "brute search")
    place = 0
    for text in headings:
        place = output.index(text, place) + len(text)
    assert output.index("Model 1 of 2: m") < output.index("Starting automatic brute search")
    # said once, though there was nothing to save after either model
    assert again.count("No changes made to analyzer data") == 1


def test_a_wider_run_measures_what_is_missing(setting, pretend) -> None:
    setting.profile()
    before = len(pretend.launches)

    setting.succeeds(run_config_search_max_concurrency=4)

    assert set(measured(pretend)[before:]) == {"4"}
    assert setting.checkpoints == ["0.ckpt", "1.ckpt"]


def test_a_changed_model_file_is_measured_again(setting, pretend) -> None:
    setting.profile()
    before = len(pretend.launches)
    (setting.directory / "models" / "m" / "1" / "model.py").write_text("# better\n")

    setting.profile()

    assert len(pretend.launches) == 2 * before


def test_changed_server_flags_are_measured_again_and_not_mixed(setting, pretend) -> None:
    setting.profile()
    rows = len(setting.rows)
    before = len(pretend.launches)

    setting.profile(triton_server_flags={"rate-limit": "off"})

    assert len(pretend.launches) == 2 * before
    assert len(setting.rows) == rows


def test_two_models_make_two_checkpoints(setting, make_model) -> None:
    make_model("n")

    setting.succeeds(profile_models={"m": {"cpu_only": True}, "n": {"cpu_only": True}})

    assert setting.checkpoints == ["0.ckpt", "1.ckpt"]
    assert {row[0] for row in setting.rows} == {"m", "n"}
    assert (setting.directory / "best" / "n" / "config.pbtxt").exists()


def test_listed_loads_and_parameters_are_all_that_is_measured(setting, pretend) -> None:
    output = setting.succeeds(
        profile_models={
            "m": {
                "cpu_only": True,
                "parameters": {"concurrency": [1, 3], "batch_sizes": "1,2"},
                "model_config_parameters": {
                    "max_batch_size": [4, 2],
                    "dynamic_batching": {"max_queue_delay_microseconds": [100, 200]},
                },
            }
        }
    )

    assert len(setting.rows) == 5 * 2 * 2
    assert measured(pretend)[:4] == ["1", "3", "1", "3"]
    assert "Setting dynamic_batching to {'max_queue_delay_microseconds': 100}" in output


def test_the_command_line_wins_over_the_file(setting, pretend) -> None:
    setting.succeeds(
        "-c", "5", "--run-config-search-disable", "-e", "elsewhere", "--num-configs-per-model=1"
    )

    assert measured(pretend) == ["5"]
    assert (setting.directory / "elsewhere" / "results").exists()
    assert not (setting.directory / "results").exists()


def test_a_latency_budget_is_searched_for_and_kept(setting, pretend) -> None:
    # the pretend perf_analyzer takes 10 ms for each concurrent request
    setting.succeeds("--latency-budget", "70", run_config_search_max_concurrency=16)

    assert setting.rows[0][2] == "7"
    assert {row[2]: row[6] for row in setting.rows}["8"] == "No"
    assert (
        "Max p99 Latency: 70 ms"
        in (setting.directory / "reports" / "summaries" / "m" / "result_summary.html").read_text()
    )


def test_when_nothing_passes_the_nearest_is_named(setting) -> None:
    output = setting.succeeds("--latency-budget", "5")

    assert "No configuration meets the constraints" in " ".join(output.split())
    assert all(row[6] == "No" for row in setting.rows)


def test_a_variant_that_does_not_load_fails_and_the_others_go_on(setting, pretend) -> None:
    output = setting.succeeds(
        profile_models={
            "m": {
                "cpu_only": True,
                "parameters": {"concurrency": [1, 2]},
                "model_config_parameters": {
                    "parameters": {"fake": {"string_value": ["fail", "x"]}}
                },
            }
        }
    )

    assert {row[3] for row in setting.rows} == {"m_config_default", "m_config_1"}
    assert f"m_config_0 {DID_NOT_LOAD}: Internal: ModuleNotFoundError" in output
    assert "runtime install --with" in output
    report = (setting.directory / "reports" / "summaries" / "m" / "result_summary.html").read_text()
    assert FAILED_TRIALS in report
    assert "ModuleNotFoundError" in (setting.directory / "perf_analyzer_error.log").read_text()


def test_what_failed_is_not_tried_again_unless_asked(setting, pretend) -> None:
    models = {
        "m": {
            "cpu_only": True,
            "parameters": {"concurrency": [1]},
            "model_config_parameters": {"parameters": {"fake": {"string_value": ["fail", "x"]}}},
        }
    }
    setting.profile(profile_models=models)

    def failing_loads() -> int:
        return len([call for call in pretend.server_calls if call.startswith("load")])

    before = failing_loads()
    setting.profile(profile_models=models)
    assert failing_loads() == before
    setting.profile("--retry-failed", profile_models=models)
    assert failing_loads() == before + 1


def test_a_model_that_never_works_is_given_up_and_the_next_one_measured(
    setting, make_model
) -> None:
    make_model("broken", fake="fail")

    output = setting.fails(
        1, profile_models={"broken": {"cpu_only": True}, "m": {"cpu_only": True}}
    )

    assert "The first 2 attempts failed and none succeeded" in output
    assert "Traceback" not in output
    assert {row[0] for row in setting.rows} == {"m"}


def test_the_server_is_started_again_after_it_died(setting, pretend) -> None:
    output = setting.succeeds(
        profile_models={
            "m": {
                "cpu_only": True,
                "parameters": {"concurrency": [1]},
                "model_config_parameters": {"parameters": {"fake": {"string_value": ["die", "x"]}}},
            }
        }
    )

    assert {row[3] for row in setting.rows} == {"m_config_default", "m_config_1"}
    assert "the server died while it loaded m_config_0" in output


def test_a_load_generator_that_was_killed_once_gets_another_try(setting, pretend) -> None:
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer({}, {"signal": 9}, {}))

    output = setting.succeeds()

    assert "killed by SIGKILL" in output
    assert "trying once more" in output
    assert not (setting.directory / "perf_analyzer_error.log").exists()


def test_verbose_shows_the_table_that_scripts_count(setting) -> None:
    output = setting.succeeds("-v")

    lines = output.splitlines()
    start = lines.index("Models (Inference):")
    assert lines[start + 1].split()[0] == "Model"
    rows = lines[start + 2 : start + 2 + len(setting.rows)]
    assert [len(row.split()) for row in rows] == [9] * len(setting.rows)
    assert lines[start + 2 + len(setting.rows)] == ""


def test_quiet_says_nothing_when_all_is_well(setting) -> None:
    assert setting.profile("-q") == (0, "")


def test_memory_is_measured_when_asked_for(setting) -> None:
    setting.succeeds(
        "--collect-cpu-metrics", "--inference-output-fields", "model_name,cpu_used_ram"
    )

    assert all(float(row[1]) > 1 for row in setting.rows)


def test_an_ensemble_is_measured_as_it_is(setting, make_model, pretend) -> None:
    models = make_model("part")
    steps = [step("part", inputs="IN:IN", outputs="OUT:OUT")]
    whole = Ensemble(steps=steps, inputs=["IN FP32 4"], outputs=["OUT FP32 4"])
    whole.write(models / "whole")

    setting.succeeds("--run-config-search-disable", profile_models=["whole"])

    assert {row[3] for row in setting.rows} == {"whole_config_default: part_config_default"}
    loads = [call.split()[1] for call in pretend.server_calls if call.startswith("load")]
    assert loads == ["part", "whole"]


def test_report_needs_no_server(setting, run) -> None:
    setting.profile()

    status, output, error = run("report", "-n", "m_config_default,m_config_0", "-e", "reports-only")

    assert (status, error) == (0, "")
    page = setting.directory / "reports-only" / "reports" / "detailed" / "m_config_0"
    assert "All measurements" in (page / "detailed_report.html").read_text()
    assert str(page) in output


def test_a_report_of_an_unknown_variant_names_the_nearest(setting, run) -> None:
    setting.profile()

    status, _, error = run("report", "-n", "m_confg_0")

    assert status == 2
    assert "did you mean 'm_config_0'?" in error


def test_a_report_without_a_checkpoint_says_what_to_do(run) -> None:
    status, _, error = run("report", "-n", "m_config_0")

    assert status == 2
    assert "no checkpoint found" in error
    assert "model-analyzer profile" in error


def test_measurements_under_other_flags_are_not_mixed(setting, pretend) -> None:
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer({"throughput": 1000}))
    setting.profile(perf_analyzer_flags={"string-length": 10})
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer({"throughput": 5}))

    setting.succeeds(perf_analyzer_flags={"string-length": 9999})

    assert {row[7] for row in setting.rows} == {"5.0"}


def test_generated_input_of_another_kind_is_measured_again(setting, pretend) -> None:
    setting.profile(perf_analyzer_flags={"input-data": "zero"})
    before = len(pretend.launches)

    setting.profile(perf_analyzer_flags={"input-data": "random"})

    assert len(pretend.launches) == 2 * before


def test_what_was_measured_before_an_error_is_reported(setting, make_model, pretend) -> None:
    make_model("other")

    output = setting.fails(
        1,
        profile_models={
            "m": {"cpu_only": True},
            "other": {"triton_server_environment": {"PYTHONHOME": "/no/where"}},
        },
    )

    assert (setting.directory / "reports" / "summaries" / "m" / "result_summary.html").exists()
    assert {row[0] for row in setting.rows} == {"m"}
    assert "Traceback" not in output


def test_what_an_earlier_run_recommended_does_not_outlive_its_measurements(
    setting, make_model, pretend
) -> None:
    setting.profile()
    assert (setting.directory / "best" / "m" / "config.pbtxt").exists()
    (setting.directory / "models" / "m" / "1" / "model.py").write_text("# another\n")
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer({"status": 99}))

    setting.fails(1)

    assert not (setting.directory / "best" / "m" / "config.pbtxt").exists()
    assert not (setting.directory / "results" / "metrics-model-inference.csv").exists()


def test_charts_are_images_too(setting) -> None:
    setting.draws = True

    setting.profile(skip_detailed_reports=False)

    plots = setting.directory / "plots"
    assert (plots / "simple" / "m" / "throughput_v_latency.png").read_bytes()[1:4] == b"PNG"
    assert list(plots.glob("detailed/*/latency_breakdown.png"))


def test_analyze_ranks_again_without_measuring(setting, pretend, run) -> None:
    setting.profile()
    before = len(pretend.launches)

    status, output, error = run(
        "-m", "offline", "analyze", "-f", str(setting.directory / "config.yaml"),
        "--inference-output-fields", "model_name,perf_latency_avg", "-e", "elsewhere",
    )  # fmt: skip

    assert status == 0, output + error
    assert len(pretend.launches) == before
    lines = (setting.directory / "elsewhere/results/metrics-model-inference.csv").read_text()
    assert lines.splitlines()[0] == "Model,Avg Latency (ms)"
    assert (setting.directory / "elsewhere/reports/summaries/m/result_summary.html").exists()


def test_request_rates_are_searched_and_shown(setting, pretend) -> None:
    del setting.config["run_config_search_max_concurrency"]

    setting.succeeds("--request-rate", "10,20")

    text = (setting.directory / "results" / "metrics-model-inference.csv").read_text()
    assert text.splitlines()[0].split(",")[2] == "Request Rate"
    assert {row[2] for row in setting.rows} == {"10", "20"}
    assert all("--request-rate-range" in launch for launch in pretend.launches)


@pytest.mark.parametrize("names", [["m"], ["m", "other"]])
def test_the_best_of_all_models_are_shown_together(setting, make_model, names: list[str]) -> None:
    """Of one model, too: scripts look for the page whatever the number of models."""
    make_model("other")

    setting.succeeds(
        "--num-top-model-configs", "2", "--latency-budget", "1000",
        profile_models={name: {"cpu_only": True} for name in names},
    )  # fmt: skip

    summaries = setting.directory / "reports" / "summaries"
    directories = {path.name for path in summaries.iterdir()}
    assert directories == {*names, "Best Configs Across All Models"}


def test_verbose_shows_the_resolved_configuration_without_secrets(setting) -> None:
    _, output = setting.profile(
        "-v",
        triton_server_environment={"API_TOKEN": "S3CRET", "PLAIN": "seen", "OTHER": "unseen"},
        show_environment=["PLAIN"],
    )

    assert "search.max_instance_count: 2" in output
    assert "seen" in output
    assert "S3CRET" not in output
    assert "unseen" not in output


# -- configurations that a server completes --------------------------------------------------------

COMPLETED = {
    "name": "m",
    "backend": "python",
    "max_batch_size": 4,
    "input": [{"name": "IN", "data_type": "TYPE_FP32", "dims": [4]}],
    "output": [{"name": "OUT", "data_type": "TYPE_FP32", "dims": [4]}],
    "dynamic_batching": {"preferred_batch_size": [4]},
}


def test_a_model_without_a_configuration_is_completed_by_a_server_of_its_own(
    setting, pretend
) -> None:
    (setting.directory / "models" / "m" / "config.pbtxt").unlink()
    setting.config["triton_server_path"] = str(pretend.tritonserver(completes={"m": COMPLETED}))
    setting.environment["XDG_CACHE_HOME"] = str(setting.directory / "cache")

    setting.succeeds()

    assert steps(pretend)[:4] == [
        "start",
        "load m count=1 max_batch_size=4",
        "start",
        "load m count=1 max_batch_size=4",
    ]
    starts = [call for call in pretend.server_calls if call.startswith("start")]
    assert ["--disable-auto-complete-config" in call for call in starts] == [False, True]
    variants = setting.directory / "output_model_repository"
    text = (variants / "m_config_0" / "config.pbtxt").read_text()
    assert "preferred_batch_size" not in text
    assert "dims: 4" in text


def test_a_server_completes_a_model_once(setting, pretend) -> None:
    model = setting.directory / "models" / "m"
    (model / "config.pbtxt").unlink()
    setting.config["triton_server_path"] = str(pretend.tritonserver(completes={"m": COMPLETED}))
    setting.environment["XDG_CACHE_HOME"] = str(setting.directory / "cache")
    # and none that measures: that is how often it starts
    setting.config["profile_models"] = {"m": {"parameters": {"concurrency": [1]}, "cpu_only": True}}
    setting.config["run_config_search_disable"] = True

    def completions(output: str) -> tuple[int, int]:
        return output.count("Asking a server for the"), output.count("a server completed before")

    assert completions(setting.profile()[1]) == (1, 0)
    assert completions(setting.profile("--fresh")[1]) == (0, 1)
    variants = setting.directory / "output_model_repository"
    assert "dims: 4" in (variants / "m_config_default" / "config.pbtxt").read_text()
    (model / "1" / "model.py").write_text("# changed\n")
    assert completions(setting.profile()[1]) == (1, 0)
    setting.config["triton_server_flags"] = {"log-verbose": 1}
    assert completions(setting.profile()[1]) == (0, 1)
    setting.config["triton_server_flags"] = {"backend-config": "python,stub-timeout-seconds=9"}
    assert completions(setting.profile()[1]) == (1, 0)


def test_what_cannot_be_completed_ends_the_run_in_one_line(setting, pretend) -> None:
    (setting.directory / "models" / "m" / "config.pbtxt").unlink()
    bare = {"name": "m", "backend": "python", "output": COMPLETED["output"]}
    setting.environment["XDG_CACHE_HOME"] = str(setting.directory / "cache")
    setting.config["triton_server_path"] = str(pretend.tritonserver(completes={"m": bare}))

    output = setting.fails(2)

    assert output.splitlines()[-1].endswith(
        "m/config.pbtxt: the server could not complete the configuration: it has no input; add it"
        " to the file"
    )
    assert pretend.launches == []
    assert not (setting.directory / "output_model_repository").exists()


# -- the server inside perf_analyzer ---------------------------------------------------------------


def test_in_mode_c_api_no_server_is_started(setting, pretend) -> None:
    library = setting.directory / "triton" / "lib" / "libtritonserver.so"
    library.parent.mkdir(parents=True)
    library.touch()

    output = setting.succeeds(
        triton_launch_mode="c_api",
        triton_install_path="triton",
        triton_server_path="/nonexistent",
        triton_server_flags={"log-verbose": 1},
    )

    assert "triton_server_flags has no effect in launch mode c_api" in output
    assert pretend.server_calls == []
    places = set()
    for launch in pretend.launches:
        assert launch[launch.index("-m") + 1] == "m"
        assert launch[launch.index("--service-kind") + 1] == "triton_c_api"
        assert launch[launch.index("--triton-server-directory") + 1] == str(
            setting.directory / "triton"
        )
        assert not {"-u", "-i"} & set(launch)
        places.add(launch[launch.index("--model-repository") + 1])
    assert len(places) == 5  # one for each variant


# -- the transcript --------------------------------------------------------------------------------


def test_the_output_of_perf_analyzer_goes_where_the_user_wants_it(setting) -> None:
    few = {"run_config_search_disable": True, "concurrency": [1]}

    _, shown = setting.profile(perf_output=True, **few)
    _, kept = setting.profile("-s", "other", perf_output=True, perf_output_path="pa.txt", **few)

    assert "= Perf Analyzer Launched =" in shown
    assert "Perf Analyzer Launched" not in kept
    text = (setting.directory / "pa.txt").read_text()
    assert text.count("\nCommand: ") == 1
    assert "*** Measurement Settings ***" in text


def test_a_busy_machine_is_told_once_and_with_every_measurement(setting) -> None:
    setting.timings = Timings(busy_share=-1.0)

    output = setting.succeeds()

    assert output.count("of this machine's CPU time, so measurements are noisy") == 1
    kept = load(setting.directory / "checkpoints").records
    notices = [record.outcome.notices for record in kept if isinstance(record.outcome, Measurement)]
    assert len(notices) == len(kept)
    assert all(NoticeKind.BUSY_MACHINE in [notice.kind for notice in of_one] for of_one in notices)
    page = setting.directory / "reports" / "summaries" / "m" / "result_summary.html"
    assert "other programs used" in page.read_text()
