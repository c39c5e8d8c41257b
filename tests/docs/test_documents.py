# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What README.md and docs/ say is so: flags exist, commands are accepted, YAML is valid, messages
are those of the program, links lead somewhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from model_analyzer.cli.program import program
from model_analyzer.config.resolve import check_file
from model_analyzer.config.sources import parse_yaml
from tests.docs.documents import DOCS, DOCUMENTS, ROOT, Block, blocks, parts_of

# Flags of other programs that the documents speak of.
OF_OTHERS = {
    "perf_analyzer": {
        "--collect-metrics",
        "--concurrency-range",
        "--profile-export-file",
        "--request-count",
        "--warmup-request-count",
    },
    "tritonserver": {
        "--allow-client-shm",
        "--backend-directory",
        "--cache-config",
        "--cache-directory",
        "--disable-auto-complete-config",
        "--enable-peer-access",
        "--grpc-port",
        "--http-port",
        "--http-restricted-api",
        "--metrics-address",
        "--metrics-config",
        "--metrics-port",
        "--model-control-mode",
        "--model-load-retry-count",
        "--model-repository",
        "--rate-limit",
        "--rate-limit-resource",
        "--response-cache-byte-size",
    },
    "docker": {"--gpus", "--read-only", "--rm", "--shm-size", "--tmpfs", "--user"},
    "qa/versions": {"--write"},
    "soak": {"--minutes", "--rounds", "--seed", "--only-round"},
    "fuzz": {"--kind", "--examples", "--seed"},
    "ray": {
        "--address",
        "--head",
        "--port",
        "--resources",
        "--min-nodes",
        "--working-dir",
        "--node-ip-address",
        "--generate",
    },
    "srun": {"--nodes", "--ntasks-per-node"},
    "any": {"--flag"},
    "gh": {"--body-file", "--repo"},
    "pip": {"--generate-hashes", "--hash", "--isolated", "--require-hashes"},
}
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9_-]*[a-z0-9]")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


documents = pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)


def commands(group: click.Group) -> Iterator[click.Command]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield command
        if isinstance(command, click.Group):
            yield from commands(command)


@pytest.fixture(scope="module")
def flags() -> set[str]:
    """Every long flag of every command."""
    names = {"--help", "--version"}
    for command in (program, *commands(program)):
        for parameter in command.params:
            names.update(name.replace("_", "-") for name in parameter.opts)
    return names


@documents
def test_every_flag_exists(document: Path, flags: set[str]) -> None:
    named = {flag.replace("_", "-") for flag in _FLAG.findall(document.read_text("utf-8"))}

    assert named <= flags | set().union(*OF_OTHERS.values())


@documents
def test_every_command_is_accepted(document: Path) -> None:
    """By the parser of the program, which knows commands, arguments, flags and choices."""
    for block in blocks(document):
        for line in block.commands:
            for words in parts_of(line):
                is_outline = words[-1].isupper() or any(word[0] == "[" for word in words)
                if words[0] != "model-analyzer" or is_outline:
                    continue
                try:
                    accept(program, "model-analyzer", list(words[1:]))
                except click.exceptions.Exit:
                    pass  # --help and --version say what they have to say
                except click.ClickException as error:
                    pytest.fail(f"{line}: {error.format_message()}")


def accept(command: click.Command, name: str, words: list[str]) -> None:
    """Parses the words of a command and of the commands below it, and runs none."""
    context = command.make_context(name, words)
    first = "_protected_args" if hasattr(context, "_protected_args") else "protected_args"
    rest = [*getattr(context, first), *context.args]  # click 8.2 gave it the underscore
    if isinstance(command, click.Group) and rest:
        below_name, below, below_words = command.resolve_command(context, rest)
        assert below is not None
        accept(below, below_name or "", below_words)


@documents
def test_every_configuration_is_valid(document: Path) -> None:
    for block in blocks(document):
        if block.language != "yaml":
            continue
        content = yaml.safe_load(block.text)
        if "jobs" in content:  # a workflow
            assert all(job["steps"] for job in content["jobs"].values())
            continue
        check_file(parse_yaml(block.text, name_of(document)), ROOT)


GUIDES = [path for path in sorted((DOCS / "guides").glob("*.md")) if path.name != "index.md"]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_a_guide_shows_a_configuration_that_runs(guide: Path) -> None:
    """A file of config/, which qa/test_config_examples.py runs as its first lines say."""
    shown = [block for block in blocks(guide) if block.language == "yaml"]

    assert shown
    for block in shown:
        text = (ROOT / title_of(block)).read_text("utf-8")
        head, _, body = text.partition("\n\n")
        assert block.text == body
        instructions = [line[6:] for line in head.splitlines() if line.startswith("#     ")]
        wanted = {command.strip() for line in instructions for command in line.split("&&")}
        assert wanted <= {line.strip() for part in blocks(guide) for line in part.commands}


def title_of(block: Block) -> str:
    match = re.fullmatch(r'title="([^"]+)"', block.title)
    assert match, block.title
    return match[1]


# -- messages --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def messages() -> str:
    """Every text in the program, with … for what is filled in."""
    texts = []
    for path in (ROOT / "model_analyzer").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [
                    str(part.value) if isinstance(part, ast.Constant) else "…"
                    for part in node.values
                ]
                texts.append("".join(parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(re.sub(r"%[-\d.]*[sd]", "…", node.value))
    return "\n".join(text.replace("`", "") for text in texts)


def listed_messages() -> list[str]:
    """The first column of the tables about messages."""
    text = (DOCS / "troubleshooting.md").read_text("utf-8")
    return re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)


@pytest.mark.parametrize("message", listed_messages())
def test_a_message_is_that_of_the_program(message: str, messages: str) -> None:
    assert message in messages


def test_there_are_messages() -> None:
    assert len(listed_messages()) > 50


# -- the README and SECURITY.md --------------------------------------------------------------------

README = ROOT / "README.md"
SECURITY = ROOT / "SECURITY.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
_TEST_FILE = re.compile(r"`((?:tests|qa)/[\w/]+\.py)`")


@pytest.mark.parametrize("document", [*DOCUMENTS, CONTRIBUTING, ROOT / "CHANGELOG.md"], ids=str)
def test_no_merge_left_its_marks(document: Path) -> None:
    marks = re.findall(r"^(?:<{7}|>{7}) .*", document.read_text("utf-8"), re.MULTILINE)

    assert not marks


def test_the_readme_is_short() -> None:
    assert len(README.read_text("utf-8").split()) <= 900


def test_the_readme_names_what_must_pass() -> None:
    checks = re.findall(r"^make \w+$", (ROOT / ".ci" / "run").read_text("utf-8"), re.MULTILINE)

    assert checks
    for check in checks:
        assert check in README.read_text("utf-8")


def promises() -> list[str]:
    """The rows of the tables of promises."""
    tables = SECURITY.read_text("utf-8").split("| Promise | Tests |\n|---|---|\n")[1:]
    return [row for table in tables for row in table.split("\n\n")[0].splitlines()]


@pytest.mark.parametrize("promise", promises(), ids=lambda promise: promise[2:40])
def test_a_promise_names_its_tests(promise: str) -> None:
    assert _TEST_FILE.search(promise)


def test_the_tests_that_security_names_exist() -> None:
    named = set(_TEST_FILE.findall(SECURITY.read_text("utf-8")))

    assert len(named) > 20
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


# -- links -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", [README, CONTRIBUTING, SECURITY], ids=name_of)
def test_a_link_from_outside_of_the_site_leads_somewhere(document: Path) -> None:
    """Those of the site are checked where it is built."""
    links = re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", document.read_text("utf-8"))
    targets = [(path, anchor) for path, anchor in links if "://" not in path]

    assert targets
    for path, anchor in targets:
        target = ROOT / path if path else document
        assert target.exists(), path
        assert not anchor or anchor in anchors_of(target), f"{path}#{anchor}"


def anchors_of(document: Path) -> set[str]:
    """The headings of a document, as links name them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", text).lower().replace(" ", "-") for text in headings}


def test_the_files_that_contributors_are_sent_to_exist() -> None:
    text = re.sub(r"(?ms)Write `[^`]+`|^ *```.*?```$", "", CONTRIBUTING.read_text("utf-8"))
    paths = re.findall(
        r"(?<![\w./])((?:model_analyzer|tests|docs|tools|benchmarks|qa)/[\w./-]*\w)", text
    )

    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
