# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Model repositories: reads models, writes variants, and stages models for the server; and what a
server says about models: facts, if their files are not accessible; and complete configurations,
which are kept in the user's cache.

The user's repository is only read. The server gets a staged copy made of directories and symbolic
links, because the Python backend writes byte code beside a model.

Asking takes seconds, and the answer follows from the model's files and the server. Each answer is a
file whose name is the fingerprint of both; deleting files only costs these seconds.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import shlex
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.domain.models import (
    ModelConfig,
    ModelFacts,
    ModelVariant,
    fingerprint,
    is_openai,
    step_models,
)
from model_analyzer.domain.protobuf import from_json, to_json
from model_analyzer.domain.settings import ServerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.domain.words import closest, first_few
from model_analyzer.errors import OutputError, RepositoryError, ServerError
from model_analyzer.reading.untrusted import read_regular
from model_analyzer.runner.client.interface import (
    ServerCallError,
    ServerClient,
    is_served,
    known_models,
)
from model_analyzer.runner.ensembles import (
    Step,
    available_versions,
    own_mistakes,
    part_mistakes,
    steps_of,
    version_mistake,
    with_streams,
)
from model_analyzer.runner.file_trees import (
    CONFIG,
    copy_writable,
    files_under,
    fingerprint_files,
    link_tree,
    note_entry,
    words_of,
)
from model_analyzer.runner.model_config import completed, missing_parts, parse_text, to_text
from model_analyzer.runner.server.life import Launcher
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.writing import replace_file

# Completes the configuration of a model, from its name, the content of its file, and a fingerprint
# of the model's other files.
Complete = Callable[[str, ModelConfig, str], ModelConfig]

# The parser needs seconds for this size; usual files have some KiB.
_MOST_CONFIG_BYTES = 2**19
_TOO_LARGE = " (put long values of parameters into files)"


# What a model repository must look like, for messages.
LAYOUT = "a repository has a directory for each model: MODEL/config.pbtxt and MODEL/1/FILE"


class ModelRepository:
    """The user's repository. `fingerprint` identifies the files of a model."""

    def __init__(
        self, path: Path, *, fingerprint: Callable[[Path], str] = fingerprint_files
    ) -> None:
        try:
            os.listdir(path)
        except OSError as error:
            reasons = {
                FileNotFoundError: "does not exist",
                NotADirectoryError: "is not a directory",
            }
            reason = reasons.get(type(error), f"cannot be read: {words_of(error)}")
            raise RepositoryError(
                f"model repository {path} {reason}: check --model-repository"
            ) from error
        self.path = path
        self._fingerprint = fingerprint

    def facts(
        self, name: str, *, complete: Complete | None = None, calls: Sequence[str] = ()
    ) -> ModelFacts:
        """The facts of a model. `calls` are the models that a BLS model calls.

        Raises RepositoryError if the model is missing or invalid.
        """
        return self._facts(name, complete, calls, above=())

    def versions(self, facts: ModelFacts) -> Sequence[str]:
        """The versions of a model that a server loads."""
        present = _versions(self.path / facts.name)
        return [*map(str, available_versions(facts.config, present))]

    def _facts(
        self, name: str, complete: Complete | None, calls: Sequence[str], above: Sequence[str]
    ) -> ModelFacts:
        if name in above:
            raise RepositoryError(f"{name} contains itself: {' > '.join((*above, name))}")
        directory = self._model(name, above)
        for _ in files_under(directory):
            pass  # raises for unreadable files
        config = self._config(name)
        above = (*above, name)
        _refuse(directory, [*own_mistakes(config), *self._wrong_steps(config, above)])
        self._check_files(directory, config)
        files = self._fingerprint(directory)
        if missing := missing_parts(config):
            if complete is None:
                raise RepositoryError(
                    f"{directory / CONFIG}: backend, inputs or outputs are missing: there is no"
                    f" {' and no '.join(missing)}: add it to the file"
                )
            config = complete(name, config, files)
        steps: dict[str, Step] = {}  # the first of each model
        for step in steps_of(config):
            steps.setdefault(step.model, step)
        parts = [self._part(step, complete, above) for step in steps.values()]
        others = [call for call in dict.fromkeys(calls) if call not in steps]
        parts += [self._facts(call, complete, (), above) for call in others]
        facts = ModelFacts(name=name, config=config, files=files, composing=tuple(parts))
        _refuse(directory, part_mistakes(facts))
        return replace(facts, config=with_streams(facts))

    def _part(self, step: Step, complete: Complete | None, above: Sequence[str]) -> ModelFacts:
        """The facts of the model of a step; an error also names the step."""
        try:
            return self._facts(step.model, complete, (), above)
        except RepositoryError as error:
            raise RepositoryError(f"{step}: {error.message}", error.hint) from error

    def _wrong_steps(self, config: ModelConfig, above: Sequence[str]) -> Iterator[str]:
        """Versions of models that steps name and the server does not load, and missing models."""
        missing = set[str]()
        for step in steps_of(config):
            if not step.model or step.model in above:
                continue
            directory = self.path / step.model
            exists = os.path.isdir(directory)
            present = _versions(directory) if exists else ()
            served = available_versions(self._config(step.model), present) if exists else ()
            if mistake := version_mistake(step, served):
                yield mistake
            if not exists and step.model not in missing:
                missing.add(step.model)
                yield f"{step}: {self._missing(step.model, above)}"

    def _model(self, name: str, above: Sequence[str]) -> Path:
        directory = self.path / name
        with _readable(directory):
            exists = os.path.isdir(directory)
        if not exists:
            raise RepositoryError(self._missing(name, above))
        return directory

    def _missing(self, name: str, above: Sequence[str]) -> str:
        others = [other for other in model_names(self.path) if other not in above]
        hint = self._whereabouts(name, others, is_called=bool(above))
        return f"no model {name!r} in {self.path} ({hint})"

    def _whereabouts(self, name: str, models: Sequence[str], *, is_called: bool) -> str:
        """Where the user may find a missing model."""
        if (self.path / CONFIG).is_file():
            return f"it is the directory of a model: give --model-repository {self.path.parent}"
        below = [model for model in models if (self.path / model / name).is_dir()]
        if below and not name.isdecimal():  # a version
            return f"did you mean --model-repository {self.path / below[0]}?"
        if match := closest(name, models):
            return f"did you mean {match!r}?"
        if is_called:
            return "add it, or correct its name"
        return f"available: {first_few(models)}" if models else f"it has no models: {LAYOUT}"

    def _config(self, name: str) -> ModelConfig:
        """The configuration in the file; only the name if there is no file."""
        path = self.path / name / CONFIG
        try:
            # Triton loads a file with other bytes, for example in a comment, and drops them
            text = read_regular(path, most_bytes=_MOST_CONFIG_BYTES).decode(errors="ignore")
        except FileNotFoundError:
            text = ""
        except OSError as error:
            hint = _TOO_LARGE if error.errno == errno.EFBIG else ""
            raise RepositoryError(f"{path}: cannot be read: {words_of(error)}{hint}") from error
        config = parse_text(text, str(path))
        if config.get("name", name) != name:
            raise RepositoryError(
                f"{path}: names the model {config['name']!r}, but its directory is {name!r}: they"
                " must be equal"
            )
        return {"name": name, **config}

    @staticmethod
    def _check_files(directory: Path, config: ModelConfig) -> None:
        """Refuses models that would make the server hang instead of fail."""
        file = str(config.get("default_model_filename") or "model.py")
        is_python = config.get("backend") == "python"
        for name in (directory.name, file) if is_python else ():
            if shlex.quote(name) != name:
                raise RepositoryError(
                    f"{directory}: the Python backend cannot start models from {name!r}, because it"
                    " passes the name to a shell: rename it, using only letters A to Z, digits and"
                    " _@%+=:,.-"
                )
        versions = _versions(directory)
        if not versions:
            own = directory / "1"
            raise RepositoryError(
                f"{directory}: no version directory: an ensemble needs one, too (git keeps no empty"
                f" directory): create {own}"
                if "ensemble_scheduling" in config
                else f"{directory}: no version directory: put the model's files into {own}"
            )
        served = available_versions(config, versions)
        if not served:
            present = ", ".join(map(str, versions))
            raise RepositoryError(
                f"{directory / CONFIG}: version_policy leaves none of the versions {present}:"
                " correct it"
            )
        if is_python and not any((directory / str(each) / file).exists() for each in served):
            raise RepositoryError(
                f"{directory}: no {file} in version {', '.join(map(str, served))}, which the server"
                " loads: the Python backend needs it"
            )
        for whose, field, name, folder in _named_files(config):
            if name and not (directory / folder / name).exists():
                raise RepositoryError(
                    f"{directory / CONFIG}: {whose} has {field} {name!r}, which is not in"
                    f" {directory / folder}: add the file, or remove {field}"
                )


def _named_files(config: ModelConfig) -> Iterator[tuple[str, str, str, str]]:
    """The files that a configuration names: what names it, in which field, its name, and the folder
    in the model's directory where Triton looks for it. The name may be "".
    """
    for output in config.get("output", ()):
        yield f"output {output['name']}", "label_filename", output.get("label_filename", ""), ""
    for sample in config.get("model_warmup", ()):
        for name, tensor in sample.get("inputs", {}).items():
            file = tensor.get("input_data_file", "")
            yield f"input {name} of model_warmup", "input_data_file", file, "warmup"
    for state in config.get("sequence_batching", {}).get("state", ()):
        for initial in state.get("initial_state", ()):
            of = f"state {state.get('input_name')}"
            yield of, "data_file", initial.get("data_file", ""), "initial_state"
    environment = config.get("parameters", {}).get("EXECUTION_ENV_PATH", {})
    within = re.fullmatch(r"\$\$TRITON_MODEL_DIRECTORY/(.+)", environment.get("string_value", ""))
    if within:
        yield "parameters", "EXECUTION_ENV_PATH", within[1], ""


def _versions(directory: Path) -> Sequence[int]:
    """The versions that have a directory."""
    return sorted(
        int(path.name) for path in directory.iterdir() if path.name.isdecimal() and path.is_dir()
    )


def _refuse(directory: Path, mistakes: Iterable[str]) -> None:
    """Raises RepositoryError with the mistakes in a configuration, if there are any."""
    texts = [*mistakes]
    if texts:
        raise RepositoryError(f"{directory / CONFIG}: {'; '.join(texts)}")


def model_names(path: Path) -> Sequence[str]:
    """The directories of a repository; empty if it cannot be read."""
    try:
        with os.scandir(path) as entries:
            return sorted(e.name for e in entries if e.is_dir() and e.name[0] != ".")
    except OSError:
        return ()


class OutputRepository:
    """The output directory, with a subdirectory for each variant, ready to deploy.

    For a remote server (`source` is None), only configurations are written.
    """

    def __init__(self, path: Path, source: ModelRepository | None) -> None:
        self.path = path
        self._source = source
        self._copied: dict[str, str] = {}
        self._written: set[str] = set()

    def write(self, variant: ModelVariant) -> None:
        """Writes the variant, unless it exists: its config.pbtxt, and the files of the model. The
        first variant of a model gets a copy of the files, later ones get links to that copy.
        """
        try:
            self._write(variant, variant.name)
            for part in variant.composing:
                self.write(part)
                self._write(part, part.model)
        except (OSError, shutil.Error) as error:
            raise OutputError(
                f"{self.path}: cannot write {variant.name}: {words_of(error)};"
                " choose another --output-model-repository-path"
            ) from error

    def _write(self, variant: ModelVariant, name: str) -> None:
        if name in self._written:
            return
        target = self.path / name
        note_entry(self.path, name)
        first = self._copied.get(variant.model)
        if self._source is None:
            target.mkdir()
        elif first is None or name == variant.model:
            copy_writable(self._source.path / variant.model, target)
            self._copied.setdefault(variant.model, name)
        else:
            target.mkdir()
            for entry in sorted(os.listdir(self.path / first)):
                if entry != CONFIG:
                    (target / entry).symlink_to(Path("..", first, entry))
        (target / CONFIG).unlink(missing_ok=True)
        (target / CONFIG).write_text(to_text(variant.config), encoding="utf-8")
        self._written.add(name)


def check_apart(output: Path, repository: Path) -> None:
    """Refuses an output repository that is a model, is inside one, or contains one (to which the
    repository only links): old variants are deleted, and the model with them.
    """
    # Path.resolve raises RuntimeError for cyclic links
    real = Path(os.path.realpath(output))
    for entry in repository.iterdir():
        model = Path(os.path.realpath(entry))
        is_inside = _is_model(model) and (real == model or model in real.parents)
        holds = entry.is_symlink() and real in (model, *model.parents)
        if is_inside or holds:
            raise RepositoryError(
                f"output model repository {output} overlaps with the model {entry.name} of"
                f" {repository}: choose another --output-model-repository-path"
            )


def _is_model(path: Path) -> bool:
    if not os.path.isdir(path):
        return False
    return any(name == CONFIG or name.isdecimal() for name in os.listdir(path))


def stage(source: ModelRepository, models: Iterable[ModelFacts], target: Path) -> Path:
    """Creates a repository in `target` through which the server reads `source` and cannot write.

    The `models` become real directories with links to files. All other entries become links, for
    models that read files outside their directory.
    """
    served = {part.name for model in models for part in model.with_parts()}
    target.mkdir(parents=True, exist_ok=True)
    for entry in sorted(os.listdir(source.path)):
        if entry in served:
            link_tree(source.path / entry, target / entry)
        else:
            (target / entry).symlink_to(source.path / entry)
    return target


def links_outside(path: Path) -> dict[Path, Path]:
    """The targets of symbolic links below `path` that are outside of it: each place as the link
    names it, with the real file or directory.

    A container that mounts the repository at the same path must mount these, too.
    """
    outside: dict[Path, Path] = {}
    pending = [(path, path)]
    while pending:
        place, real = pending.pop()
        for root, directories, files in os.walk(real):
            for entry in (Path(root, name) for name in (*directories, *files)):
                if not entry.is_symlink():
                    continue
                beside = place / entry.relative_to(real).parent
                target = Path(os.path.normpath(beside / os.readlink(entry)))
                is_covered = any(target.is_relative_to(covered) for covered in (path, *outside))
                if entry.exists() and not is_covered:
                    outside[target] = Path(os.path.realpath(entry))
                    pending.append((target, outside[target]))
    return outside


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turns an OSError about `path` into a RepositoryError with one line."""
    try:
        yield
    except OSError as error:
        raise RepositoryError(
            f"{error.filename or path}: {words_of(error)}: check --model-repository"
        ) from error


log = logging.getLogger(__name__)


def served_facts(client: ServerClient, name: str, *, timeout_s: float) -> ModelFacts:
    """The facts of a model, from the server, which loads it if necessary.

    The numbers of the loaded versions are its fingerprint, since its files are unknown. Raises
    RepositoryError if the server does not have the model, ServerError if it does not load.
    """
    return _facts(client, name, timeout_s, above=())


def _facts(client: ServerClient, name: str, timeout_s: float, above: Sequence[str]) -> ModelFacts:
    if name in above:
        raise RepositoryError(f"{name} contains itself: {' > '.join((*above, name))}")
    config = served_config(client, name, timeout_s=timeout_s)
    steps = step_models(config)
    if "" in steps:
        raise RepositoryError(f"ensemble {name} of the server has a step without a model name")
    return ModelFacts(
        name=name,
        config=config,
        files=fingerprint(["versions", sorted(known_models(client).get(name, ()))]),
        composing=tuple(
            _facts(client, part, timeout_s, (*above, name)) for part in dict.fromkeys(steps)
        ),
    )


def served_config(client: ServerClient, name: str, *, timeout_s: float) -> ModelConfig:
    """The model's configuration as the server has completed it. The model stays loaded."""
    try:
        if not is_served(client, name):
            models = client.models()
            if name not in models:
                raise RepositoryError(f"the server has no model {name!r} ({_hint(name, models)})")
            client.load(name, None, timeout_s)
        answer = client.model_config(name)
    except ServerCallError as error:
        if error.denied:
            raise
        raise ServerError(f"the server could not load {name}: {error}") from error
    if is_openai(answer):
        return answer
    # the content of its file is unknown
    return completed(answer, {}, f"{name}/{CONFIG}")


def other_models(client: ServerClient, profiled: Iterable[ModelFacts]) -> Sequence[str]:
    """Loaded models of the server that are not profiled."""
    names = {part.name for model in profiled for part in model.with_parts()}
    return sorted(
        name for name, versions in known_models(client).items() if versions and name not in names
    )


def _hint(name: str, models: Iterable[str]) -> str:
    if match := closest(name, models):
        return f"did you mean {match!r}?"
    available = first_few(sorted(models))
    return f"available: {available}" if available else "it has no models: check its repository"


_FORMAT = 1
_MOST_FILES = 256
_MOST_BYTES = 2**20


class Completion:
    """Completes configurations with a separate server, or with a remote one.

    The server for measurements does not complete configurations, which would take a second for
    every load. `launcher` starts a server for a model repository; `work` is a directory for such
    repositories. A server is asked once: `remembered` has the answers of earlier runs.
    """

    def __init__(
        self,
        repository: ModelRepository,
        launcher: Callable[[Path], Launcher],
        settings: ServerSettings,
        server_log: ServerLog,
        work: Path,
        remembered: RememberedConfigs,
    ) -> None:
        self._repository = repository
        self._launcher = launcher
        self._settings = settings
        self._server_log = server_log
        self._work = work
        self._remembered = remembered
        self._completed: dict[str, ModelConfig] = {}

    def complete(self, name: str, own: ModelConfig, files: str, setup: ServerSetup) -> ModelConfig:
        """The complete configuration of the model `name`; `own` is the content of its file, and
        `files` a fingerprint of its other files.

        Raises RepositoryError if the server cannot complete it.
        """
        if name not in self._completed:
            self._completed[name] = self._complete(name, own, files, setup)
        return self._completed[name]

    def _complete(self, name: str, own: ModelConfig, files: str, setup: ServerSetup) -> ModelConfig:
        staged = self._work / name
        where = str(self._repository.path / name / CONFIG)
        completing = replace(setup, flags={**setup.flags, "disable-auto-complete-config": "false"})
        launcher = self._launcher(staged)
        server = launcher.program_identity(completing)
        question = (to_text(own), files, server, completing.identity)
        if server and (answer := self._remembered.find(*question)) is not None:
            log.info("Using the configuration of %s that a server completed before", name)
            return completed(answer, own, where)
        log.info("Asking a server for the configuration of %s", name)
        link_tree(self._repository.path / name, staged / name)
        answer = self._ask(launcher, name, completing)
        config = completed(answer, own, where)
        if server:
            self._remembered.add(answer, *question)
        return config

    def _ask(self, launcher: Launcher, name: str, setup: ServerSetup) -> ModelConfig:
        with TritonServer(launcher, self._settings, self._server_log, settles=False) as server:
            server.version(setup)  # raises if the server itself does not work
            try:
                return server.configuration(name, setup)
            except ServerError as error:
                where = self._repository.path / name / CONFIG
                raise RepositoryError(
                    f"{where}: backend, inputs or outputs are missing, and the server could not"
                    f" add them: {error}"
                ) from error


class RememberedConfigs:
    """The answers in a directory, which is created when the first one is added.

    A file is used only if it belongs to this user, nobody else can write it, and it holds the
    answer to the same question. Problems are no errors: then a server is asked.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def find(self, *question: str) -> ModelConfig | None:
        """The answer to a question (texts that identify model and server); None if unknown."""
        path = self._path(question)
        try:
            status = os.lstat(path)
            if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise ValueError("others could have written it")
            content = parse_json(read_regular(path, most_bytes=_MOST_BYTES))
            if content["format"] != _FORMAT or content["question"] != fingerprint(question):
                raise ValueError("it answers another question")
            if content["checksum"] != fingerprint(content["config"]):
                raise ValueError("it is damaged")
            return from_json(content["config"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, LookupError) as error:
            log.debug("%s is not used: %s", path, error)
            return None

    def add(self, config: ModelConfig, *question: str) -> None:
        """Remembers the answer to a question, and forgets the oldest ones."""
        path = self._path(question)
        try:
            answer = to_json(config, proto_names=True)
            content = {
                "format": _FORMAT,
                "question": fingerprint(question),
                "config": answer,
                "checksum": fingerprint(answer),
            }
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(path, [json.dumps(content).encode()])
            path.chmod(0o600)  # parameters may be secrets
            for old in self._oldest_first()[:-_MOST_FILES]:
                old.unlink(missing_ok=True)
        except (OSError, ValueError) as error:
            log.debug("%s is not written: %s", path, error)

    def _path(self, question: tuple[str, ...]) -> Path:
        return self._directory / f"{fingerprint(question)}.json"

    def _oldest_first(self) -> list[Path]:
        return sorted(self._directory.glob("*.json"), key=lambda path: os.lstat(path).st_mtime_ns)
