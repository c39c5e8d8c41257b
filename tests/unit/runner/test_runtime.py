# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Finding tritonserver and perf_analyzer, and telling why one does not start; lock files, and what
is said when pip refuses a file.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from model_analyzer.errors import ConfigError, RuntimeNotFound
from model_analyzer.runner.install import BUILD, MODELS, reason_in, server_lock
from model_analyzer.runner.runtime import (
    InstalledRuntime,
    check_models_python,
    describe_packages,
    find_genai_perf,
    find_perf_analyzer,
    find_server_library,
    find_tritonserver,
    with_runtime,
)
from model_analyzer.runner.versions import PYTHONS
from tests.unit.scripts import BROKEN, GOOD_PERF_ANALYZER, GOOD_SERVER, make_runtime, program


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.fixture
def runtime(environment: dict[str, str]) -> InstalledRuntime:
    """An installed runtime of scripts."""
    return make_runtime(environment)


def test_the_path_comes_before_the_installed_runtime(tmp_path, environment, runtime) -> None:
    server = program(tmp_path / "bin" / "tritonserver", GOOD_SERVER)
    load = program(tmp_path / "bin" / "perf_analyzer", GOOD_PERF_ANALYZER)

    assert find_tritonserver(None, environment).path == server
    assert find_perf_analyzer(None, environment).path == load


def test_a_program_that_does_not_start_is_skipped(tmp_path, environment, runtime) -> None:
    program(tmp_path / "bin" / "tritonserver", BROKEN)
    program(tmp_path / "bin" / "perf_analyzer", BROKEN)

    assert find_tritonserver(None, environment).path == runtime.server
    assert find_perf_analyzer(None, environment).path == runtime.perf_analyzer


def test_the_installed_server_finds_its_backends_and_the_python_of_the_models_first(
    environment, runtime
) -> None:
    tool = find_tritonserver(None, environment)

    assert tool.flags == {"backend-directory": str(runtime.backends)}
    assert tool.environment["PATH"].split(":")[0] == str(runtime.python.parent)
    assert tool.environment["LD_LIBRARY_PATH"] == str(runtime.libpython)


def test_the_installed_perf_analyzer_finds_its_libraries(environment, runtime) -> None:
    tool = find_perf_analyzer(None, {**environment, "LD_LIBRARY_PATH": "/mine"})

    assert tool.environment["LD_LIBRARY_PATH"] == f"{runtime.libraries}:/mine"
    assert tool.version == "2.51.0"


def test_a_chosen_runtime_comes_before_the_path(tmp_path, environment, runtime) -> None:
    program(tmp_path / "bin" / "tritonserver", GOOD_SERVER)
    program(tmp_path / "bin" / "perf_analyzer", GOOD_PERF_ANALYZER)
    chosen = with_runtime(environment, "2.36")
    with pytest.raises(RuntimeNotFound, match=r"no runtime of Triton 2.36.*install --triton 2.36`"):
        find_tritonserver(None, chosen)

    older = make_runtime(chosen)

    assert older.root != runtime.root
    assert find_tritonserver(None, chosen).path == older.server
    assert find_tritonserver(None, chosen).version == "2.36.0"
    assert find_perf_analyzer(None, chosen).path == older.perf_analyzer


def test_a_triton_that_cannot_be_installed_is_refused_with_those_that_can(environment) -> None:
    with pytest.raises(ConfigError, match=r"runtime 2.52: no such Triton.*2.28, .*, 2.51"):
        with_runtime(environment, "2.52")


def test_naming_the_installed_programs_is_the_same_as_finding_them(environment, runtime) -> None:
    server = find_tritonserver(str(runtime.server), environment)
    load = find_perf_analyzer(str(runtime.perf_analyzer), environment)

    assert server.environment == find_tritonserver(None, environment).environment
    assert load.environment == find_perf_analyzer(None, environment).environment


@pytest.mark.parametrize("find", [find_tritonserver, find_perf_analyzer])
def test_without_any_program_the_install_command_is_named(environment, find) -> None:
    with pytest.raises(RuntimeNotFound, match="run `model-analyzer runtime install`"):
        find(None, environment)


@pytest.mark.parametrize("find", [find_tritonserver, find_perf_analyzer])
def test_if_no_program_starts_the_reason_is_reported(tmp_path, environment, find) -> None:
    program(tmp_path / "bin" / "tritonserver", BROKEN)
    program(tmp_path / "bin" / "perf_analyzer", BROKEN)

    with pytest.raises(RuntimeNotFound, match="libb64.so.0d.*runtime install"):
        find(None, environment)


@pytest.mark.parametrize("find", [find_tritonserver, find_perf_analyzer])
@pytest.mark.parametrize(
    ("given", "words"),
    [("nonsense", "no 'nonsense' on the PATH"), ("/no/such", "does not exist"),
     ("/tmp", "is a directory"), ("/etc/passwd", "is not executable")],
)  # fmt: skip
def test_a_wrong_path_is_a_mistake_in_the_options(environment, find, given, words) -> None:
    with pytest.raises(ConfigError, match=words):
        find(given, environment)


def test_a_given_perf_analyzer_must_start(tmp_path, environment, runtime) -> None:
    path = program(tmp_path / "mine", BROKEN)
    with pytest.raises(RuntimeNotFound, match="libb64.so.0d"):
        find_perf_analyzer(str(path), environment)


def test_another_program_with_a_version_is_not_perf_analyzer(tmp_path, environment) -> None:
    path = program(tmp_path / "mine", "echo 'ls 9.1, GNU GPL version 3'")
    with pytest.raises(RuntimeNotFound, match="is not perf_analyzer: --version gives 'ls 9.1"):
        find_perf_analyzer(str(path), environment)


# As perf_analyzer refuses an unknown flag: with the whole help.
REFUSING = """for flag; do case "$flag" in {flags}) echo "unrecognized option '$flag'" >&2
    echo 'Usage: --measurement-interval' >&2; exit 99;; esac; done; {good}"""


@pytest.mark.parametrize(
    ("unknown", "warms_up"), [("--none", True), ("--warmup-request-count=*", False)]
)
def test_an_older_perf_analyzer_is_used_without_what_it_does_not_know(
    tmp_path, environment, unknown, warms_up
) -> None:
    script = REFUSING.format(flags=unknown, good=GOOD_PERF_ANALYZER)

    found = find_perf_analyzer(str(program(tmp_path / "mine", script)), environment)

    assert (found.warms_up, found.version) == (warms_up, "2.51.0")


@pytest.mark.parametrize("unknown", ["--warm*|--profile*", "--warm*|--profile*|--version"])
def test_a_perf_analyzer_that_cannot_export_is_too_old(tmp_path, environment, unknown) -> None:
    path = program(tmp_path / "mine", REFUSING.format(flags=unknown, good=GOOD_PERF_ANALYZER))

    with pytest.raises(RuntimeNotFound, match="is too old: it does not know --profile-export-file"):
        find_perf_analyzer(str(path), environment)


def test_a_perf_analyzer_may_not_know_its_version(tmp_path, environment) -> None:
    path = program(tmp_path / "mine", "echo 'Perf Analyzer Version  (commit unknown)'")

    assert find_perf_analyzer(str(path), environment).version == "of unknown version"


def test_an_empty_placeholder_of_perf_analyzer_proves_nothing(tmp_path, environment) -> None:
    path = program(tmp_path / "mine", "exit 0")
    with pytest.raises(RuntimeNotFound, match="does not start"):
        find_perf_analyzer(str(path), environment)


def test_numpy_2_for_the_models_is_refused(environment, runtime) -> None:
    server = find_tritonserver(None, environment)
    check_models_python(server, environment)
    site = next((runtime.root / "python" / "lib").glob("python3*/site-packages"))

    (site / "numpy-1.26.4.dist-info").rename(site / "numpy-2.4.0.dist-info")
    with pytest.raises(RuntimeNotFound, match="numpy 2.4.0.*empty tensors"):
        check_models_python(server, environment)

    (site / "numpy-2.4.0.dist-info").rmdir()
    with pytest.raises(RuntimeNotFound, match="no numpy"):
        check_models_python(server, environment)


def test_another_server_may_have_any_numpy(tmp_path, environment) -> None:
    program(tmp_path / "bin" / "tritonserver", GOOD_SERVER)
    check_models_python(find_tritonserver(None, environment), environment)


def test_backends_beside_a_server_are_used(tmp_path, environment) -> None:
    server = program(tmp_path / "opt" / "bin" / "tritonserver", GOOD_SERVER)
    (tmp_path / "opt" / "backends").mkdir()

    tool = find_tritonserver(str(server), environment)

    assert tool.flags == {"backend-directory": str(tmp_path / "opt" / "backends")}


# -- the library -----------------------------------------------------------------------------------


def test_the_installed_library_is_laid_out_as_perf_analyzer_wants_it(
    tmp_path, environment, runtime
) -> None:
    runtime.libraries.mkdir()
    (runtime.libraries / "libtritonserver-717102f0.so").write_text("library")

    library = find_server_library(None, environment, tmp_path / "library")

    assert (library.path / "lib" / "libtritonserver.so").read_text() == "library"
    assert (library.path / "backends").resolve() == runtime.backends
    assert library.version == "2.51.0"
    # the models' python3 is found first, and perf_analyzer still finds its libraries
    assert library.environment["PATH"].split(":")[0] == str(runtime.python.parent)
    assert set(library.environment["LD_LIBRARY_PATH"].split(":")) == {
        str(runtime.libpython),
        str(runtime.libraries),
    }


def test_a_given_library_is_used_as_it_is(tmp_path, environment) -> None:
    given = tmp_path / "triton"
    program(given / "lib" / "libtritonserver.so", "")
    (given / "TRITON_VERSION").write_text("2.60.0\n")

    library = find_server_library(given, environment, tmp_path / "library")

    assert (library.path, library.version) == (given, "2.60.0")
    assert library.environment == environment


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: path.touch(), "is not a directory"),
        (lambda path: path.mkdir(), "does not contain lib/libtritonserver.so"),
    ],
)
def test_a_given_place_without_the_library_is_a_configuration_error(
    tmp_path, environment, runtime, make, words
) -> None:
    make(tmp_path / "triton")

    with pytest.raises(ConfigError, match=f"triton_install_path: .*triton {words}"):
        find_server_library(tmp_path / "triton", environment, tmp_path / "library")


def test_without_a_library_the_install_command_is_named(tmp_path, environment) -> None:
    with pytest.raises(RuntimeNotFound, match="model-analyzer runtime install"):
        find_server_library(None, environment, tmp_path / "library")


# -- genai-perf ------------------------------------------------------------------------------------


def test_genai_perf_finds_the_perf_analyzer_that_is_used(tmp_path, environment, runtime) -> None:
    perf_analyzer = find_perf_analyzer(None, environment)
    assert find_genai_perf(perf_analyzer) is None

    genai = program(tmp_path / "bin" / "genai-perf", "exit 0")

    tool = find_genai_perf(perf_analyzer)
    assert tool is not None
    assert tool.path == genai
    assert tool.environment["PATH"].split(":")[0] == str(runtime.perf_analyzer.parent)
    assert tool.environment["LD_LIBRARY_PATH"] == str(runtime.libraries)


def test_packages_without_a_record_are_named(runtime) -> None:
    site = runtime.root / "python" / "lib" / "python3.11" / "site-packages"
    assert runtime.python_version == "3.11"
    assert describe_packages(runtime) == "not verified by hashes: numpy-1.26.4"

    runtime.record_verified(["numpy-1.26.4"])
    assert describe_packages(runtime) == "all verified by hashes"

    (site / "six-1.17.0.dist-info").mkdir()
    assert describe_packages(runtime) == "not verified by hashes: six-1.17.0"


def test_a_package_that_was_replaced_is_verified_no_longer(runtime) -> None:
    site = runtime.root / "python" / "lib" / "python3.11" / "site-packages"
    runtime.record_verified(["numpy-1.26.4"])

    (site / "numpy-1.26.4.dist-info").rename(site / "numpy-1.25.0.dist-info")
    runtime.record_verified([])
    (site / "numpy-1.25.0.dist-info").rename(site / "numpy-1.26.4.dist-info")

    assert runtime.unverified == ["numpy-1.26.4"]


ENTRY = re.compile(r"[\w.-]+==[\w.]+( ; python_version [<>=]+ \"3\.\d+\")?( --hash=sha256:\w{64})+")

REFUSED = """\
WARNING: Location '/opt/none' is ignored: it is neither a file nor a directory.
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the \
package versions, please update the hashes. Otherwise, examine the package contents carefully; \
someone may have tampered with them.
    torch==2.1.0 from https://me:****@mirror.example/a/torch-2.1.0-py3-none-any.whl#sha256=12 \
(from -r models.txt (line 5)):
        Expected sha256 aaaa
        Expected     or bbbb
             Got        cccc
"""
CONFLICT = """\
ERROR: Cannot install numpy==1.26.4 and numpy==2.1.0 because of conflicting dependencies.
ERROR: ResolutionImpossible: for help visit the manual
"""
ABSENT = """\
ERROR: Could not find a version that satisfies the requirement numpy==1.26.4
ERROR: No matching distribution found for numpy==1.26.4
"""


SERVERS = [server_lock(version) for version in PYTHONS]


@pytest.mark.parametrize("lock", [*SERVERS, MODELS, BUILD], ids=lambda path: path.name)
def test_everything_in_a_lock_file_is_pinned_and_hashed(lock: Path) -> None:
    lines = lock.read_text().replace(" \\\n   ", "").splitlines()
    entries = [line for line in lines if not line.startswith("#")]

    assert entries
    assert [line for line in entries if not ENTRY.fullmatch(line)] == []


def test_a_file_with_another_hash_is_named_in_one_line_without_its_address() -> None:
    reason = reason_in(REFUSED)

    assert reason.startswith("torch-2.1.0-py3-none-any.whl has sha256 cccc, which is not in")
    assert "\n" not in reason
    assert "mirror" not in reason


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (CONFLICT, CONFLICT.splitlines()[0]),
        (ABSENT, ABSENT.splitlines()[1]),
        ("Reading lists\nE: Unable to locate package x\n\n", "E: Unable to locate package x"),
        ("it says something\n", "it says something"),
        ("\n", ""),
    ],
)
def test_other_failures_are_reported_with_their_most_important_line(
    output: str, reason: str
) -> None:
    assert reason_in(output) == reason
