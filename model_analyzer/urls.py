# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Opens what fsspec reaches by a URL: object stores and other file systems.

fsspec and the package of a scheme are optional. Each package raises exceptions of its own, with
credentials in their texts: here, they become one line without secrets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, Queue
from threading import Thread
from threading import enumerate as running_threads
from typing import Any, TypeVar

from model_analyzer.domain.secrets import masked_url, without_secrets_of
from model_analyzer.errors import ConfigError, ModelAnalyzerError, wrong
from model_analyzer.extras import check_extra, install_command

_STORE_THREAD = "store"

_Listing = TypeVar("_Listing", bound=Collection[Any])


def open_url(url: str, contents: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it. `contents` (a plural) is what is there.

    Raises ConfigError if the URL cannot be used, or if a package is missing.
    """
    try:
        check_extra("remote")
        from fsspec import url_to_fs  # imported when used: optional
    except ImportError as error:
        raise _unusable(
            url, f"{contents} there need fsspec: {error}", install_command("remote")
        ) from error
    try:
        files, path = url_to_fs(url)
    except ImportError as error:
        raise _unusable(url, reason_of(error, url), "install it beside model-analyzer") from error
    except Exception as error:  # each library raises its own
        raise _unusable(url, reason_of(error, url), "check the URL and what it needs") from error
    return files, path


def can_rename(files: Any) -> bool:
    """Whether a file system can rename files. Object stores copy and delete instead."""
    from fsspec import AbstractFileSystem

    return type(files).mv is not AbstractFileSystem.mv


@dataclass(frozen=True, slots=True)
class ListingLimits:
    """How many objects a listing may have, and how many seconds it may take."""

    objects: int = 200_000
    seconds: float = 300.0


LIMITS = ListingLimits()


def find_all(
    files: Any, path: str, limits: ListingLimits = LIMITS
) -> Mapping[str, Mapping[str, Any]]:
    """What a file system tells of all files and directories below a path, by their own paths.
    Raises ValueError beyond the limits, and may raise FileNotFoundError if there is no such path.
    """
    from fsspec import AbstractFileSystem

    # this one leaves out directories that it cannot list; others raise, and do not know the word
    is_lenient = getattr(files.find, "__func__", None) is AbstractFileSystem.find
    words = {"on_error": "raise"} if is_lenient else {}
    files.invalidate_cache()
    return _limited(lambda: files.find(path, withdirs=True, detail=True, **words), limits)


def names_in(files: Any, folder: str, limits: ListingLimits = LIMITS) -> Sequence[str]:
    """What is in a folder. Raises FileNotFoundError, and ValueError beyond the limits."""
    files.invalidate_cache()
    return _limited(lambda: files.ls(folder, detail=False), limits)


def _limited(list_all: Callable[[], _Listing], limits: ListingLimits) -> _Listing:
    """A listing of a file system, which asks for one page after the other: it does not end before
    the last one, and can only be left behind.
    """
    answers: Queue[_Listing | Exception] = Queue()

    def answer() -> None:
        try:
            answers.put(list_all())
        except Exception as error:  # noqa: BLE001 (raised in the other thread)
            answers.put(error)

    store_thread(answer).start()
    try:
        listing = answers.get(timeout=limits.seconds)
    except Empty:
        raise ValueError(f"the listing takes more than {limits.seconds:g} s") from None
    if isinstance(listing, Exception):
        raise listing
    if len(listing) > limits.objects:
        raise ValueError(f"there are more than {limits.objects:,} objects")
    return listing


def store_thread(work: Callable[[], None]) -> Thread:
    """A thread for work that may hang in a store; it can be left behind (`is_any_left_behind`)."""
    return Thread(target=work, name=_STORE_THREAD, daemon=True)


def is_any_left_behind() -> bool:
    """Whether work in a store hangs. Python does not wait for its thread at the end of the program,
    but for all threads that the library of the store has started for it.
    """
    return any(thread.name == _STORE_THREAD for thread in running_threads())


@contextmanager
def reporting(url: str, problem: str, kind: Callable[[str], ModelAnalyzerError]) -> Iterator[None]:
    """Turns any exception of a library into an error of this kind: one line, without secrets."""
    try:
        yield
    except ModelAnalyzerError:
        raise
    except Exception as error:  # each library raises its own
        raise kind(f"{masked_url(url)}: {problem}: {reason_of(error, url)}") from error


def reason_of(error: Exception, url: str) -> str:
    """The first line of an exception about a URL, without secrets."""
    text = str(error).strip() or type(error).__name__
    return without_secrets_of(url, text.splitlines()[0])


def _unusable(url: str, message: str, hint: str) -> ConfigError:
    return wrong(masked_url(url), message, hint)
