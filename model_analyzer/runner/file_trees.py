# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Copies, links and fingerprints directory trees; and the output directory of the variants: which
parts a run may replace, and which must stay.

A run writes a mark into it: a file with the names of all directories that the run created there.
The next run replaces these directories without asking, unless somebody has moved or copied the
output directory. It removes anything else only with `override`, and never files that the run itself
needs. Symbolic links are never followed.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.errors import OutputError, RepositoryError, RepositoryInUse
from model_analyzer.reading.untrusted import blocks_of, check_regular, open_regular, read_regular
from model_analyzer.writing import open_own

CONFIG = "config.pbtxt"
IGNORED = ("__pycache__", ".git")

# No model has more. Links to directories may multiply files, and some system files are endless.
_MOST_FILES = 1_000_000
_DEEPEST = 100
_LARGEST_BYTES = 16 * 2**40


def files_under(path: Path) -> Iterator[Path]:
    """Every file below `path`, relative to it, in a fixed order, without the directories `IGNORED`.
    Links are followed.

    Raises RepositoryError for anything that is not a file or directory (a FIFO would block), for
    link cycles, and for trees that are too large.
    """
    with _as_repository_error(path):
        for count, relative in enumerate(_walk(path, Path(), ()), start=1):
            if count > _MOST_FILES:
                raise OSError(errno.EFBIG, f"Has more than {_MOST_FILES} files", str(path))
            yield relative


def _walk(root: Path, inside: Path, above: tuple[os.stat_result, ...]) -> Iterator[Path]:
    """The files below `root / inside`; `above` are the parents of this directory."""
    directory = root / inside
    current = os.stat(directory)
    if any(os.path.samestat(current, parent) for parent in above):
        raise OSError(errno.ELOOP, "Is a link to its own parent directory", str(directory))
    if len(above) > _DEEPEST:
        raise OSError(errno.ELOOP, "Is nested too deeply", str(directory))
    directories = []
    for name in sorted(os.listdir(directory)):
        status = os.stat(directory / name)
        check_regular(status.st_mode, directory / name)
        if stat.S_ISREG(status.st_mode):
            if status.st_size > _LARGEST_BYTES:
                raise OSError(errno.EFBIG, "Is larger than 16 TiB", str(directory / name))
            yield inside / name
        elif name not in IGNORED:
            directories.append(inside / name)
    for below in directories:
        yield from _walk(root, below, (*above, current))


def why_unreadable(path: Path) -> str:
    """Why a file or the files of a directory cannot be read; "" if they can."""
    try:
        with _as_repository_error(path):
            if not path.is_dir():
                open_regular(path).close()
        for _ in files_under(path) if path.is_dir() else ():
            pass
    except RepositoryError as error:
        return str(error)
    return ""


def copy_writable(source: Path, target: Path) -> None:
    """Copies a directory, without the directories `IGNORED`. The copy is writable even if the
    source is read-only.
    """
    _mirror(source, target, _copy)


def link_tree(source: Path, target: Path) -> None:
    """Mirrors `source` in `target`: real directories with links to the files."""
    _mirror(source, target, _link)


def _mirror(source: Path, target: Path, put: Callable[[Path, Path], None]) -> None:
    """Creates the directories of `source` below `target`, and calls `put` for each file."""
    target.mkdir(parents=True, exist_ok=True)
    for entry in os.scandir(source):
        if entry.name in IGNORED:
            continue
        if entry.is_dir():
            _mirror(Path(entry.path), target / entry.name, put)
        else:
            put(Path(entry.path), target / entry.name)


def _copy(source: Path, target: Path) -> None:
    with open(target, "wb") as copy:
        copy.writelines(blocks_of(source))


def _link(source: Path, target: Path) -> None:
    target.symlink_to(os.path.realpath(source))


def fingerprint_files(path: Path) -> str:
    """A fingerprint (32 hex digits) of the names and contents of all files under `path`, except the
    top-level config.pbtxt. `path` may be a file. Raises RepositoryError.
    """
    digest = hashlib.sha256()
    with _as_repository_error(path):
        if not path.is_dir():
            _digest_file(path, digest)
        else:
            for relative in files_under(path):
                if str(relative) != CONFIG:
                    digest.update(os.fsencode(relative) + b"\0")
                    _digest_file(path / relative, digest)
    return digest.hexdigest()[:32]


@contextmanager
def _as_repository_error(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RepositoryError(
            f"{error.filename or path}: cannot be read: {error.strerror}"
        ) from error


def _digest_file(path: Path, digest: hashlib._Hash) -> None:
    for block in blocks_of(path):
        digest.update(block)


def words_of(error: OSError | shutil.Error) -> str:
    """The system's error message, without the error number."""
    return getattr(error, "strerror", None) or str(error)


# A file: Triton ignores files in a model repository.
MARK = ".model-analyzer"
_TITLE = "Made by model-analyzer: its next run replaces the directories that are named here."

# Enough for the names of 100,000 variants.
_MOST_MARK_BYTES = 16 * 2**20

# A path with its description.
Named = tuple[str, Path]

_ANOTHER = "choose another --output-model-repository-path"
_IN_USE = "in use by another run"
_WAIT = f"wait for it, or {_ANOTHER}"


def prepare_output(
    path: Path, *, override: bool, protected: Sequence[Named], spared: Sequence[Named] = ()
) -> None:
    """Checks that `path` can be created as an empty directory, and changes nothing yet.

    `protected` paths must not be inside it. `spared` directories may be inside it and stay. Without
    `override`, it may only contain directories that an earlier run created. Raises RepositoryError.
    """
    try:
        _check(path, override=override, protected=protected, spared=spared)
    except OSError as error:
        raise RepositoryError(
            f"output model repository {path}: {words_of(error)}", _ANOTHER
        ) from error


def _check(
    path: Path, *, override: bool, protected: Sequence[Named], spared: Sequence[Named]
) -> None:
    if not path.exists():
        obstacle = _obstacle(path)
        if obstacle is not None:
            raise RepositoryError(
                f"output model repository {path} cannot be created: {obstacle}", _ANOTHER
            )
        return
    if not path.is_dir():
        raise RepositoryError(f"output model repository {path} is a file")
    if path.is_symlink():
        raise RepositoryError(f"output model repository {path} is a symbolic link", _ANOTHER)
    real = Path(os.path.realpath(path))
    for name, inner in protected:
        if real == Path(os.path.realpath(inner)) or real in Path(os.path.realpath(inner)).parents:
            raise _not_deleted(path, name, inner)
    for name, inner in spared:
        if real == Path(os.path.realpath(inner)):
            raise _not_deleted(path, name, inner)
    if not override:
        _check_ours(path, _places(spared))
    if _is_held(path):
        raise RepositoryInUse(f"output model repository {path}: {_IN_USE}", _WAIT)


def _not_deleted(path: Path, name: str, inner: Path) -> RepositoryError:
    return RepositoryError(
        f"output model repository {path} contains {name} {inner}: it will not be deleted", _ANOTHER
    )


def _obstacle(path: Path) -> str | None:
    """Why `path` cannot be created in its nearest existing parent; None if it can."""
    # lexists: a dangling link exists, too
    parent = next(p for p in (path, *path.absolute().parents) if os.path.lexists(p))
    if not parent.is_dir():
        return f"{parent} is not a directory"
    return None if os.access(parent, os.W_OK | os.X_OK) else f"{parent} is not writable"


def _check_ours(path: Path, spared: Collection[Path]) -> None:
    """Refuses a directory that no run created, or that contains anything that no run created."""
    names = _marked(path)
    if names is None and all(
        entry.name == MARK and entry.is_file(follow_symlinks=False) for entry in _entries(path)
    ):
        return  # it is empty, or a run was killed before it wrote the mark
    if names is None:
        raise RepositoryError(
            f"output model repository {path} is not empty, and no run created it",
            f"give --override-output-model-repository to replace it, or {_ANOTHER}",
        )
    is_ours = _made_by_a_run(names)
    for entry in _entries(path):
        place = Path(os.path.realpath(path)) / entry.name
        if not (is_ours(entry) or place in spared or _is_above(place, spared)):
            raise RepositoryError(
                f"output model repository {path} contains {entry.name}, which no run created",
                "move it away, give --override-output-model-repository to replace it, or"
                f" {_ANOTHER}",
            )


def create_output(path: Path, *, override: bool, spared: Sequence[Named] = ()) -> None:
    """Creates the output repository with its mark, and removes the content that `prepare_output`
    allows to replace. Raises OutputError.
    """
    if path.is_symlink():  # since the check
        raise OutputError(f"output model repository {path} is a symbolic link: {_ANOTHER}")
    try:
        path.mkdir(parents=True, exist_ok=True)
        content = _everything if override else _made_by_a_run(_marked(path) or ())
        _clear(Path(os.path.realpath(path)), _without_mark(content), _places(spared))
        (path / MARK).unlink(missing_ok=True)  # last: after a kill, what is left has its names
        note_entry(path)
    except (OSError, shutil.Error) as error:
        raise OutputError(
            f"output model repository {path}: {words_of(error)}: {_ANOTHER}"
        ) from error


@contextmanager
def held(path: Path) -> Iterator[None]:
    """A block in which other runs cannot replace the content of an output repository. Raises
    OutputError if another run holds it.
    """
    try:
        mark = os.open(path / MARK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise OutputError(
            f"output model repository {path}: {words_of(error)}: {_ANOTHER}"
        ) from error
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(mark)
        raise OutputError(f"output model repository {path}: {_IN_USE}: {_WAIT}") from error
    except OSError:
        pass  # not every file system supports locks
    try:
        yield
    finally:
        os.close(mark)


def note_entry(path: Path, *names: str) -> None:
    """Adds directories to the mark of the output repository, before they are created."""
    mark = open_own(path / MARK, os.O_WRONLY | os.O_APPEND)
    try:
        if os.fstat(mark).st_size == 0:
            os.write(mark, f"{_TITLE}\n{json.dumps(os.path.realpath(path))}\n".encode())
        for name in names:
            os.write(mark, f"{json.dumps(name)}\n".encode())
    finally:
        os.close(mark)


def _marked(path: Path) -> Collection[str] | None:
    """The names in the mark of an output repository; None without a valid mark for this path."""
    mark = path / MARK
    if mark.is_symlink() or not mark.is_file():
        return None
    try:
        text = read_regular(mark, most_bytes=_MOST_MARK_BYTES).decode(errors="replace")
    except OSError as error:
        raise OSError(error.errno, f"{MARK}: {error.strerror}") from error
    title, *lines = text.splitlines() or [""]
    try:
        place, *names = map(parse_json, lines)
    except ValueError:
        return None  # incomplete, or written by another program
    is_ours = title == _TITLE and place == os.path.realpath(path)
    return {str(name) for name in names} if is_ours else None


def _is_held(path: Path) -> bool:
    """Whether a run is writing into this output repository."""
    if (path / MARK).is_symlink() or not (path / MARK).is_file():
        return False
    mark = os.open(path / MARK, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(mark, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass  # not every file system supports locks
    finally:
        os.close(mark)
    return False


IsRemoved = Callable[["os.DirEntry[str]"], bool]


def _everything(entry: os.DirEntry[str]) -> bool:
    return True


def _made_by_a_run(names: Collection[str]) -> IsRemoved:
    def is_ours(entry: os.DirEntry[str]) -> bool:
        return entry.name == MARK or (entry.name in names and entry.is_dir(follow_symlinks=False))

    return is_ours


def _without_mark(is_removed: IsRemoved) -> IsRemoved:
    def is_content(entry: os.DirEntry[str]) -> bool:
        is_mark = entry.name == MARK and not entry.is_dir(follow_symlinks=False)
        return is_removed(entry) and not is_mark

    return is_content


def _clear(directory: Path, is_removed: IsRemoved, spared: Collection[Path]) -> None:
    """Removes entries of a directory, but no spared directories, and nothing behind a link."""
    for entry in _entries(directory):
        place = directory / entry.name
        if place in spared or not is_removed(entry):
            continue
        if not entry.is_dir(follow_symlinks=False):
            place.unlink()
        elif _is_above(place, spared):
            _clear(place, _everything, spared)
        else:
            shutil.rmtree(place)


def _entries(directory: Path) -> Sequence[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _places(named: Sequence[Named]) -> Collection[Path]:
    """The real places of these paths: with only their parents resolved, and fully resolved."""
    paths = [path for _, path in named]
    return {
        *(Path(os.path.realpath(path.parent)) / path.name for path in paths),
        *(Path(os.path.realpath(p)) for p in paths),
    }


def _is_above(place: Path, inner: Collection[Path]) -> bool:
    return any(place in path.parents for path in inner)
