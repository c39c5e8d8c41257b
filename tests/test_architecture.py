# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The dependency rule: which room may import which, and where effects have their address.

Written down for people in docs/architecture.md; kept here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

import model_analyzer
from tools.shape import shape

PACKAGE = Path(model_analyzer.__file__).parent

# room -> rooms it may import, besides itself; a file at the top of the package is its own room
MAY_IMPORT = {
    "domain": set(),
    "errors": set(),
    "extras": set(),
    "noise": {"domain"},
    "config": {"domain", "errors", "reading"},
    "search": {"domain", "noise", "errors", "extras"},
    "reading": {"domain"},
    "writing": set(),
    "urls": {"domain", "errors", "extras"},
    "runner": {"domain", "noise", "errors", "extras", "reading", "writing", "urls"},
    "state": {"domain", "noise", "errors", "reading", "writing", "urls"},
    "results": {"domain", "noise"},
    "reports": {"domain", "noise", "results", "errors", "extras", "writing"},
    "profiling": {"domain", "noise", "errors"},
    "forecast": {"domain", "noise", "search"},
    "app": {
        "domain", "noise", "errors", "extras", "writing", "config", "search", "forecast", "runner",
        "state", "results", "reports", "profiling",
    },
    "features": {
        "domain", "noise", "errors", "extras", "reading", "writing", "config", "search", "forecast",
        "runner", "state", "results", "reports", "profiling", "app", "cli",
    },
    "__init__": {"state"},  # at the moment of use: it is the Python API
    "__main__": {"cli"},
    "cli": {
        "domain",
        "noise",
        "errors",
        "reading",
        "writing",
        "config",
        "search",
        "runner",
        "state",
        "results",
        "reports",
        "profiling",
        "forecast",
        "app",
    },
}  # fmt: skip

STANDARD_LIBRARY_ONLY = {
    "domain",
    "noise",
    "errors",
    "reading",
    "writing",
    "results",
    "profiling",
    "search",
    "forecast",
}

# a use case each, and a package of them; the other files and packages of the room are for several
USE_CASES = {
    "checkpoints", "complete", "preview", "profile", "recommend", "runtime",
}  # fmt: skip

# feature -> features that it builds on
FEATURES = {
    "agents": {"monitoring"},
    "capacity": {"monitoring"},
    "cluster": {"doctor"},
    "compare": {"proof"},
    "doctor": set(),
    "explain": set(),
    "monitoring": set(),
    "prediction": set(),
    "proof": set(),
    "tracking": set(),
    "upstream": set(),
    "watch": {"capacity"},
}

# files of the core that name features: the list of commands, and what else imports one by its name
LISTS = {
    "cli/program.py",
    "app/run/measuring.py",  # slots on a cluster, and the proof of outputs
    "app/profile.py",  # the proof that it is true when deployed
    "cli/commands/best.py",  # the same, and what production is watched with
    "cli/commands/config.py",  # the schema of the answer of capacity
    "cli/progress/at_terminal.py",  # who else gets the figures of a run
    "state/contents.py",  # files of upstream, read
    "app/checkpoints/files.py",  # and written
}

# imports that touch the world -> where they may occur
ADDRESSES = {
    # pictures are drawn by engines that may end their process, after everything has run
    "subprocess": {"runner/process.py", "reports/renderer.py"},
    "threading": {
        "runner/monitors/usage.py",
        "runner/server/triton.py",
        "features/cluster/slot_worker.py",
        "runner/executors/several_slots.py",
        "state/lock.py",
        "state/node.py",
        "state/stores.py",
        "urls.py",
    },
    "multiprocessing": set(),
    "asyncio": set(),
    "signal": {
        "cli/signals.py",
        "cli/uninterrupted.py",
        "runner/process.py",
        "runner/guard.py",
        "features/agents/agent_server.py",
        "features/cluster/ray_slots.py",
        "runner/server/container.py",
        "reports/renderer.py",
        "reports/engines.py",
    },
    "docker": {"runner/server/docker.py", "runner/server/container.py"},
    "socket": {
        "runner/client/http.py",
        "runner/server/endpoints.py",
        "runner/host.py",
        "features/cluster/ray_slots.py",
        "features/tracking/trackers.py",
        "state/lock.py",
    },
    "fcntl": {
        "state/lock.py", "state/node.py", "runner/install.py",
        "runner/file_trees.py", "runner/repository_copy.py", "runner/workspace.py",
        "features/cluster/slot_worker.py",
    },
    "yaml": {"config/sources.py", "reports/templating.py"},
    "http": {"runner/client/http.py"},
    "urllib": {
        "runner/client/http.py", "runner/gpus.py",
        "features/watch/server_readings.py",
    },
    "ssl": {"runner/client/http.py", "runner/client/connect.py"},
    "tritonclient": {
        "domain/protobuf.py",
        "runner/client/grpc.py",
        "runner/client/http.py",
        "runner/client/interface.py",
        "features/proof/asking.py",
        "features/proof/soak.py",
    },
    "google": {"domain/protobuf.py", "runner/model_config.py"},
    "pynvml": {"runner/gpus.py", "features/doctor/machine_checks.py"},
    "vl_convert": {"reports/engines.py"},
    "orjson": {
        "domain/foreign_json.py",
        "runner/load/logged_requests.py",
    },
    "jinja2": {"reports/templating.py"},
    "msgspec": {
        "state/format/schema.py",
        "state/format/decoder.py",
    },
    "optuna": {"search/modes/optuna.py"},
    "ray": {"features/cluster/ray_slots.py"},
    **{name: {"features/agents/agent_server.py"} for name in ("anyio", "jsonschema")},
    "mcp": {"features/agents/agent_server.py", "features/agents/command.py"},
    "opentelemetry": {"features/monitoring/open_telemetry.py"},
    "fsspec": {"urls.py"},
    "pandas": {"state/api.py"},
    "numpy": {
        "runner/load/logged_requests.py",
        "search/adaptive/assessment.py",
        "search/adaptive/bottleneck.py",
        "search/adaptive/candidates.py",
        "search/adaptive/donors.py",
        "search/adaptive/encoding.py",
        "search/adaptive/knowledge.py",
        "search/adaptive/surrogate.py",
        "search/adaptive/queueing_model.py",
        "search/adaptive/outcomes.py",
        "search/adaptive/regression.py",
        "results/explain/finding.py",
        "runner/load/sampling.py",
        "runner/client/grpc.py",
        "runner/client/http.py",
        "runner/load/generators.py",
        "runner/load/profile_export.py",
        "runner/load/schedule.py",
        "features/prediction/predicted.py",
        "features/proof/answers.py",
        "features/proof/asking.py",
        "features/proof/facts/endurance.py",
        "features/proof/outputs.py",
    },
    "click": {"cli"},
    "rich": {"cli"},
    "pickle": set(),
    "random": {"search/modes/random.py"},
}  # fmt: skip

# calls that touch the world -> rooms (or files) where they may occur
CALLS = {
    "open": {"reading", "runner", "state", "writing", "features/agents/agent_server.py"},
    "click.echo": {"cli/echo.py", "cli/program.py"},  # where escapes are taken out
    "print": {"runner/guard.py", "runner/server/container.py"},
    "time.time": {
        "runner", "state/lock.py", "features/cluster/ray_slots.py", "features/proof/outputs.py",
        "features/proof/soak.py", "features/watch/server_readings.py", "features/watch/command.py",
    },
    "time.monotonic": {
        "runner",
        "state/stores.py",
        "features/cluster/slot_worker.py",
        "features/agents/agent_server.py",
        "features/cluster/ray_slots.py",
        "features/compare/live.py",
        "features/proof/outputs.py",
        "features/proof/soak.py",
        "features/proof/verification.py",
        "features/watch/server_readings.py",
    },
    "time.sleep": set(),
    "sys.exit": {"cli/main.py", "runner/server/container.py"},
    # JSON may be deep or large: domain/foreign_json.py has limits, and so has what reads in parts
    "json.loads": {"domain/foreign_json.py", "runner/server/container.py"},
    "json.load": set(),
    "json.JSONDecoder": {"reading/json_stream.py"},
    "orjson.loads": {"domain/foreign_json.py"},
    "eval": set(),
    "exec": set(),
    "os.execve": {"runner/process.py"},
    "os.execvpe": {"runner/guard.py"},
}  # fmt: skip


def homes(path: Path) -> set[str]:
    """Where a file is, for the tables: the command of a feature belongs to the command line."""
    place, room = path.relative_to(PACKAGE).as_posix(), room_of(path)
    is_terminal = room == "features" and path.stem == "command"
    return {place, room, *(["cli"] if is_terminal else [])}


def sources() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "starter" not in path.parts)


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


@cache
def nodes(path: Path) -> Sequence[ast.AST]:
    """All nodes of a file, which is parsed once for all tests."""
    return [*ast.walk(ast.parse(path.read_text()))]


def imports(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield str(node.module)


def calls(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def test_a_room_imports_only_what_it_may() -> None:
    for path in sources():
        ours = (name for name in imports(path) if name.startswith("model_analyzer."))
        rooms = {name.split(".")[1] for name in ours} - {room_of(path)}
        assert rooms <= MAY_IMPORT[room_of(path)], path


def test_the_core_knows_features_by_its_lists_only() -> None:
    core = [path for path in sources() if room_of(path) != "features"]
    named = {path for path in core if "model_analyzer.features" in path.read_text()}
    assert {path.relative_to(PACKAGE).as_posix() for path in named} == LISTS


@pytest.mark.parametrize("feature", FEATURES)
def test_a_feature_imports_only_those_it_builds_on(feature: str) -> None:
    for path in (PACKAGE / "features" / feature).rglob("*.py"):
        names = [name for name in imports(path) if name.startswith("model_analyzer.")]
        others = {name.split(".")[2] for name in names if ".features." in name} - {feature}
        assert others <= FEATURES[feature], path
        is_terminal = "cli" in homes(path)
        assert is_terminal or not [name for name in names if name.split(".")[1] == "cli"], path


def test_facts_of_features_are_pure() -> None:
    for path in (PACKAGE / "features").glob("*/facts/*.py"):
        place = ".".join(path.relative_to(PACKAGE.parent).parts[:4])
        names = [name for name in imports(path) if name.startswith("model_analyzer.")]
        others = {name.split(".")[1] for name in names if not name.startswith(place)}
        assert others <= {"domain", "noise", "results"}, path


def test_every_feature_is_in_the_table_and_has_its_own_tests() -> None:
    tests = Path(__file__).parent / "features"
    for directory in (PACKAGE / "features", tests):
        assert {path.name for path in directory.glob("[a-z]*") if path.is_dir()} == set(FEATURES)


def test_effects_happen_at_their_address() -> None:
    for path in sources():
        place = path.relative_to(PACKAGE).as_posix()
        for name in imports(path):
            allowed = ADDRESSES.get(name.split(".")[0])
            is_allowed = allowed is None or homes(path) & allowed
            assert is_allowed, f"{place} imports {name}"
        for call in calls(path):
            allowed = CALLS.get(call)
            assert allowed is None or homes(path) & allowed, f"{place} calls {call}()"


def test_a_use_case_is_imported_by_the_command_line_only() -> None:
    for path in sources():
        ours = (name for name in imports(path) if name.startswith("model_analyzer.app."))
        assert homes(path) & {"cli"} or not {name.split(".")[2] for name in ours} & USE_CASES, path


# what a function may import of ours when it is called, since it is slow to import
HEAVY = (
    "model_analyzer.app.bench.remote_slots",
    "model_analyzer.app.conceal",
    "model_analyzer.app.run.beginning",
    "model_analyzer.app.run.ending",
    "model_analyzer.app.run.measuring",
    "model_analyzer.domain.protobuf",
    "model_analyzer.runner.client.grpc",
    "model_analyzer.runner.client.http",
)


def test_no_function_imports_what_its_file_could() -> None:
    """Such an import hides a circle. Commands import what they need when they run."""
    for path in sources():
        if homes(path) & {"cli", "__init__", "__main__"}:
            continue
        for function in nodes(path):
            if isinstance(function, ast.FunctionDef):
                inner = [node for node in ast.walk(function) if isinstance(node, ast.ImportFrom)]
                names = {str(node.module) for node in inner}
                ours = {name for name in names if name.startswith("model_analyzer.")}
                assert ours <= {*HEAVY}, f"{path}: {function.name}"


def test_only_searches_know_which_mode_it_is() -> None:
    """Others ask its facts: a mode is a row of the enumeration and a file of `search/modes`."""
    by_name = re.compile(r"\bSearchMode\.[A-Z]")
    files = [path for path in sources() if by_name.search(path.read_text())]
    rooms = {room_of(path) for path in files if path != PACKAGE / "domain" / "settings.py"}
    assert rooms == {"search"}
    assert len(files) <= 3


# package of `state` -> packages and files of `state` that it may import, besides itself
STATE_LAYERS = {
    "format": {"own_key"},
}


@pytest.mark.parametrize("layer", STATE_LAYERS)
def test_a_layer_of_the_state_knows_only_those_below(layer: str) -> None:
    for path in sorted((PACKAGE / "state" / layer).glob("*.py")):
        names = [name for name in imports(path) if name.startswith("model_analyzer.state.")]
        assert {name.split(".")[2] for name in names} - {layer} <= STATE_LAYERS[layer], path.name


def test_no_exception_is_frozen() -> None:
    """A context manager sets the traceback of an exception that passes it."""
    frozen = [
        f"{path.name}: {node.name}"
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).endswith(("Exception", "Error")) for base in node.bases)
        and any("frozen=True" in ast.unparse(each) for each in node.decorator_list)
    ]
    assert frozen == []


def test_no_test_patches_the_runner() -> None:
    """Waits and limits are passed in: see runner/timings.py."""
    patch = re.compile(r"""setattr\(\s*["']model_analyzer\.runner""")
    tests = Path(__file__).parent
    assert not [path for path in tests.rglob("*.py") if patch.search(path.read_text())]


def test_pure_rooms_need_no_library() -> None:
    import sys

    for path in sources():
        if room_of(path) in STANDARD_LIBRARY_ONLY or "facts" in path.parts:
            place = path.relative_to(PACKAGE).as_posix()
            addressed = {name for name, places in ADDRESSES.items() if place in places}
            foreign = {
                name.split(".")[0]
                for name in imports(path)
                if name.split(".")[0]
                not in {*sys.stdlib_module_names, "model_analyzer", *addressed}
            }
            assert not foreign, f"{path} imports {foreign}"


def test_every_room_is_in_the_table() -> None:
    assert {room_of(path) for path in sources()} == set(MAY_IMPORT)


# No number of tools/shape.py may grow beyond these. If a change needs more, it also takes something
# away, or says here why the number is worth it; if a number falls, so does its limit.
SHAPE = {
    # all proofs may take 2,500 lines: that of outputs has 1,200 (and 500 of tests), that of what is
    # deployed 590 (and 200 of tests); what production is watched with has 330 (and 200);
    # two servers are measured in turn: 1,120 (and 200 of tests); endurance: 760 (and 220)
    # tools of agents: 1,020 (and 410, and 150 of the action for CI)
    # advice for agents and short answers: 120; figures of a run for monitoring: 290 (and 140)
    # what trackers of experiments get: 340 (and 150); production beside the promise: 1,500 (and
    # 560); donors of a search, and predictions from them: 571 (and 226), 356 in the core
    # versions of optional packages: 75 (and 100); servers that restrict calls, and overtaken
    # sequences: 127 (and 160); expected measurements within a budget, words of agents: 12 (and 23)
    # the summary of a job without captions of charts: (and 4)
    # variants that a server would change, names in paths, types of parameters, tracing: 77 (and 72)
    "lines": 89_279,
    # proofs are stored, ranked and shown by the core, whichever feature makes them; facts of nine
    # servers by version; a search ends when it is sure; `--verify` is an option of two commands;
    # servers with OpenAI's API have 366: a client, a reader of their answers, what they cannot do
    # a class of 57 methods, what an adaptive search knows, became six files, each with its head
    # of many trials, some show the noise of all
    # flags at odds, and listed loads after a failure: 150
    # parts that answers configure differently, queues of ensembles, names with dots: 119
    # logs whose rows are no requests, sizes of windows that do not count, checked outputs: 90
    # a search ends at a standstill, and looks at lower loads in any case: 98 (and 72)
    "lines of the core, without features": 71_231,
    "files": 291,
    "files that one other imports": 39,
    "of these, files of up to 110 lines": 4,
    "files under 40 lines": 1,
    "imports, % of lines": 7.0,
    "names of classes used twice": 3,
    "names of files used twice": 8,
    "lines of domain": 6_854,  # since there are proofs, and settings of them; null alternatives
    "files with SearchMode.": 3,
    "files with OutputFormat.": 2,
    "classes with over 20 methods": 0,
    "lines of tests": 84_856,
}


def test_the_house_does_not_grow_unnoticed() -> None:
    found = shape()
    assert set(found) == set(SHAPE)
    assert {name: value for name, value in found.items() if value > SHAPE[name]} == {}
