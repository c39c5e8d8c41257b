# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Model repositories: reads models, writes variants, and stages what the server is given.

The user's repository is only read. The server gets a staged copy of it, made of directories
and symbolic links, because the Python backend writes byte code next to a model.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from model_analyzer.domain.models import ModelConfig, ModelFacts, ModelVariant
from model_analyzer.errors import OutputError, RepositoryError
from model_analyzer.runner.model_config import is_complete, parse_text, to_text

CONFIG = "config.pbtxt"
_IGNORED = ("__pycache__", ".git")

# Gives the whole configuration of a model that leaves some of it to the server: its name and what
# its file says.
Complete = Callable[[str, ModelConfig], ModelConfig]


class ModelRepository:
    """The user's repository."""

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            reason = "is not a directory" if path.exists() else "does not exist"
            raise RepositoryError(f"model repository {path} {reason}: check --model-repository")
        self.path = path

    def facts(
        self, name: str, *, complete: Complete | None = None, calls: Sequence[str] = ()
    ) -> ModelFacts:
        """What the model is. `calls` names models that a BLS model calls.

        Raises RepositoryError where the model is missing or could not be served.
        """
        return self._facts(name, complete, calls, above=())

    def _facts(
        self, name: str, complete: Complete | None, calls: Sequence[str], above: Sequence[str]
    ) -> ModelFacts:
        if name in above:
            raise RepositoryError(f"ensemble {name} contains itself: {' > '.join((*above, name))}")
        directory = self._model(name)
        config = self._config(name)
        steps = [
            step["model_name"] for step in config.get("ensemble_scheduling", {}).get("step", ())
        ]
        if not steps:
            self._check_files(directory, config)
        if not is_complete(config):
            if complete is None:
                raise RepositoryError(
                    f"{directory / CONFIG}: does not say backend, inputs and outputs"
                )
            config = complete(name, config)
        parts = [
            self._facts(part, complete, (), (*above, name))
            for part in dict.fromkeys((*steps, *calls))
        ]
        return ModelFacts(
            name=name, config=config, files=fingerprint_files(directory), composing=tuple(parts)
        )

    def _model(self, name: str) -> Path:
        directory = self.path / name
        if not directory.is_dir():
            models = sorted(path.name for path in self.path.iterdir() if path.is_dir())
            near = get_close_matches(name, models, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it holds: {', '.join(models[:12])}"
            raise RepositoryError(f"no model {name!r} in {self.path} ({hint})")
        return directory

    def _config(self, name: str) -> ModelConfig:
        """What the file says, which may be nothing."""
        path = self.path / name / CONFIG
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            text = ""
        except (OSError, UnicodeDecodeError) as error:
            raise RepositoryError(f"{path}: cannot be read: {error}") from error
        config = parse_text(text, str(path))
        if config.get("name", name) != name:
            raise RepositoryError(
                f"{path}: names the model {config['name']!r}, but its directory is {name!r}:"
                " the server wants them equal"
            )
        return {"name": name, **config}

    @staticmethod
    def _check_files(directory: Path, config: ModelConfig) -> None:
        """Refuses what would make the server hang rather than fail."""
        versions = [path for path in directory.iterdir() if path.is_dir() and path.name.isdecimal()]
        if not versions:
            raise RepositoryError(
                f"{directory}: no version directory: put the model's files into {directory / '1'}"
            )
        if config.get("backend") == "python":
            file = config.get("default_model_filename") or "model.py"
            if not any((version / file).exists() for version in versions):
                raise RepositoryError(
                    f"{directory}: no version holds {file}, which the Python backend needs"
                )


class OutputRepository:
    """The directory that receives one sub-directory for each variant, ready to deploy."""

    def __init__(self, path: Path, source: ModelRepository) -> None:
        self.path = path
        self._source = source
        self._copied: dict[str, str] = {}
        self._written: set[str] = set()

    def write(self, variant: ModelVariant) -> None:
        """Writes the variant unless that was done: a full copy the first time a model is
        written, symbolic links to that copy afterwards, and its own config.pbtxt.
        """
        try:
            self._write(variant, variant.name)
            for part in variant.composing:
                self.write(part)
                self._write(part, part.model)
        except (OSError, shutil.Error) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise OutputError(
                f"{self.path}: cannot write {variant.name}: {reason};"
                " choose another --output-model-repository-path"
            ) from error

    def _write(self, variant: ModelVariant, name: str) -> None:
        if name in self._written:
            return
        target = self.path / name
        first = self._copied.get(variant.model)
        if first is None or name == variant.model:
            shutil.copytree(
                self._source.path / variant.model,
                target,
                ignore=shutil.ignore_patterns(*_IGNORED),
                dirs_exist_ok=True,
            )
            self._copied.setdefault(variant.model, name)
        else:
            target.mkdir()
            for entry in sorted(os.listdir(self.path / first)):
                if entry != CONFIG:
                    (target / entry).symlink_to(Path("..", first, entry))
        (target / CONFIG).write_text(to_text(variant.config), encoding="utf-8")
        self._written.add(name)


def prepare_output(path: Path, *, override: bool, kept: Iterable[tuple[str, Path]]) -> None:
    """Makes sure that `path` can be created as an empty directory, without touching it yet.

    `kept` are named paths that must not be deleted with it.
    """
    if not path.exists():
        if not path.parent.is_dir():
            raise RepositoryError(
                f"output model repository {path}: {path.parent} does not exist: create it, or"
                " choose another --output-model-repository-path"
            )
        return
    if not path.is_dir():
        raise RepositoryError(f"output model repository {path} is a file")
    if not override:
        raise RepositoryError(
            f"output model repository {path} exists: give --override-output-model-repository to"
            " replace it, or another --output-model-repository-path"
        )
    real = path.resolve()
    for name, other in kept:
        if real == other.resolve() or real in other.resolve().parents:
            raise RepositoryError(
                f"output model repository {path} holds {name} {other}: it will not be deleted;"
                " choose another --output-model-repository-path"
            )


def create_output(path: Path) -> None:
    """Creates the empty output repository, deleting what was there: see `prepare_output`."""
    try:
        if path.exists():
            shutil.rmtree(path)
        path.mkdir()
    except OSError as error:
        raise OutputError(f"output model repository {path}: {error.strerror}") from error


def stage(source: ModelRepository, models: Iterable[ModelFacts], target: Path) -> Path:
    """A repository in `target` through which the server sees `source` without writing to it.

    Models to be served become real directories with links to files; everything else in the
    repository is linked as a whole, for models that look beside themselves.
    """
    served = {part.name for model in models for part in _with_parts(model)}
    target.mkdir(parents=True, exist_ok=True)
    for entry in sorted(os.listdir(source.path)):
        if entry in served:
            link_tree(source.path / entry, target / entry)
        else:
            (target / entry).symlink_to(source.path / entry)
    return target


def link_tree(source: Path, target: Path) -> None:
    """Makes `target` look like `source`: real directories, with links to files."""
    target.mkdir(parents=True, exist_ok=True)
    for entry in os.scandir(source):
        if entry.name in _IGNORED:
            continue
        if entry.is_dir():
            link_tree(Path(entry.path), target / entry.name)
        else:
            (target / entry.name).symlink_to(Path(entry.path).resolve())


def _with_parts(model: ModelFacts) -> Iterator[ModelFacts]:
    yield model
    for part in model.composing:
        yield from _with_parts(part)


def fingerprint_files(path: Path) -> str:
    """32 hex digits over names and contents of all files under `path`, but for config.pbtxt
    at its top. `path` may be a single file.
    """
    digest = hashlib.sha256()
    try:
        if path.is_file():
            _digest_file(path, digest)
        else:
            for root, directories, files in os.walk(path, followlinks=True):
                directories[:] = sorted(name for name in directories if name not in _IGNORED)
                for name in sorted(files):
                    file = Path(root, name)
                    relative = file.relative_to(path)
                    if str(relative) != CONFIG:
                        digest.update(os.fsencode(relative) + b"\0")
                        _digest_file(file, digest)
    except OSError as error:
        raise RepositoryError(
            f"{error.filename or path}: cannot be read: {error.strerror}"
        ) from error
    return digest.hexdigest()[:32]


def _digest_file(path: Path, digest: hashlib._Hash) -> None:
    with open(path, "rb") as file:
        while block := file.read(2**20):
            digest.update(block)
