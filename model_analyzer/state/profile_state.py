# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The keeper of all outcomes: remembers, makes durable, writes numbered checkpoints."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from types import MappingProxyType, TracebackType

from model_analyzer import __version__
from model_analyzer.domain.measurements import Outcome, Values
from model_analyzer.domain.models import empty
from model_analyzer.domain.profiles import Device, Profile, TrialRecord
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.errors import CheckpointError
from model_analyzer.state.codec import (
    SERVER_ONLY,
    Decoder,
    Encoder,
    decode_device,
    decode_server_only,
    encode_device,
    encode_server_only,
)
from model_analyzer.state.journal import (
    FORMAT,
    Content,
    Journal,
    Lock,
    checkpoint_indices,
    checkpoint_path,
    read_checkpoint,
    read_journal,
    write_checkpoint,
)
from model_analyzer.state.lines import Entry

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a checkpoint directory holds. `damage` names each file that is not intact.

    Records are by trial key and variant names: one measurement may stand for several names.
    `saved_devices` are those of the newest numbered checkpoint, or None if there is none to
    read them from.
    """

    records: Mapping[tuple[str, str], TrialRecord]
    devices: tuple[Device, ...]
    saved_devices: tuple[Device, ...] | None
    host: Mapping[str, str]
    server_only: Mapping[str, Values]
    source: Path | None
    uuid: str
    damage: tuple[str, ...]

    @property
    def profile(self) -> Profile:
        return Profile(
            records=tuple(self.records.values()),
            devices=self.devices,
            host=self.host,
            server_only=self.server_only,
        )


def load(directory: Path) -> Loaded:
    """All outcomes in `directory`: the newest intact checkpoint, then the journal.

    Where newer checkpoints are damaged, their intact entries are used on top of it.
    """
    contents: list[tuple[Path, Content]] = []
    for index in reversed(checkpoint_indices(directory)):
        path = checkpoint_path(directory, index)
        contents.append((path, read_checkpoint(path)))
        if not contents[-1][1].damage:
            break
    contents.reverse()
    journal = directory / "journal"
    contents.append((journal, read_journal(journal)))

    records: dict[tuple[str, str], TrialRecord] = {}
    damage: list[str] = []
    header: Mapping[str, object] = {}
    saved: Mapping[str, object] = {}
    server_only: Mapping[str, Values] = empty()
    identity, source = "", None
    for path, content in contents:
        reason = content.damage
        decoder = Decoder()
        header = content.header or header
        saved = saved if path == journal else header
        identity = str(content.header.get("uuid", identity))
        for entry in content.entries:
            if entry["entry"] == "header":  # the journal goes on elsewhere
                header = entry
                continue
            try:
                if entry["entry"] == SERVER_ONLY:
                    server_only = decode_server_only(entry)
                    continue
                decoded = decoder.record(entry)
            except ValueError as error:
                reason = reason or str(error)
                continue
            if decoded is not None:
                key, record = decoded
                name = (key, record.trial.variants)
                records.pop(name, None)  # what was recorded again moves to the end
                records[name] = record
                source = source or path  # the lowest read: intact, if it is a checkpoint
        if reason:
            damage.append(f"{path} is damaged ({reason})")
    return Loaded(
        records=records,
        devices=_devices(header),
        saved_devices=_devices(saved) if saved else None,
        host=MappingProxyType({str(k): str(v) for k, v in _dict(header.get("host")).items()}),
        server_only=server_only,
        source=source,
        uuid=identity,
        damage=tuple(damage),
    )


def _devices(header: Mapping[str, object]) -> tuple[Device, ...]:
    return tuple(map(decode_device, _list(header.get("devices"))))


def _list(value: object) -> Sequence[Mapping[str, object]]:
    return value if isinstance(value, list) else []


def _dict(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def load_checkpoint(directory: Path) -> Loaded:
    """The same for commands that need one: raises CheckpointError where nothing was measured."""
    loaded = load(directory)
    if loaded.source is None:
        raise CheckpointError(
            f"{directory}: no checkpoint found: run `model-analyzer profile` first, or give"
            " --checkpoint-directory"
        )
    return loaded


class ProfileState:
    """Outcomes by trial key, durable one by one.

    `newest` is the newest checkpoint (or the journal), or None while there is none.

    A context manager: on leaving, files are closed and the directory is free for the next run.
    """

    def __init__(self, directory: Path, *, retry_failed: bool = False) -> None:
        """Opens `directory` for writing, creating it if needed, and loads what it holds."""
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(
                f"{directory}: cannot be created: {error.strerror};"
                " choose another --checkpoint-directory"
            ) from error
        self._directory = directory
        self._retry_failed = retry_failed
        self._lock = Lock(directory)
        try:
            loaded = load(directory)
            self._journal = Journal(directory / "journal")
        except BaseException:
            self._lock.release()
            raise
        self._records = dict(loaded.records)
        self._outcomes = {key: record.outcome for (key, _), record in loaded.records.items()}
        self._devices = loaded.devices
        self._saved_devices = loaded.saved_devices
        self._server_only = loaded.server_only
        self._host = loaded.host
        self._parent = loaded.uuid
        self.newest = loaded.source
        self._earlier = frozenset(self._outcomes)
        self._next = max(checkpoint_indices(directory), default=-1) + 1
        self._encoder = Encoder()
        self._header_is_due = True
        for sentence in loaded.damage:
            log.warning("%s: using what is intact", sentence)
        if loaded.source is None:
            log.info("No checkpoint file found, starting a fresh run.")
        else:
            log.info("Loaded checkpoint from file %s", loaded.source)

    def __enter__(self) -> ProfileState:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._journal.close()
        self._lock.release()

    @property
    def profile(self) -> Profile:
        """Everything known so far."""
        return Profile(
            records=tuple(self._records.values()),
            devices=self._devices,
            host=self._host,
            server_only=self._server_only,
        )

    def check_devices(self, devices: Sequence[Device]) -> None:
        """Raises CheckpointError if the newest numbered checkpoint was measured on other GPUs."""
        if self._saved_devices is None:
            return
        then = {device.uuid for device in self._saved_devices}
        now = {device.uuid for device in devices}
        if then != now:
            raise CheckpointError(
                f"GPU devices do not match checkpoint: {self._directory} was measured on"
                f" {', '.join(sorted(then)) or 'no GPU'}, and this run uses"
                f" {', '.join(sorted(now)) or 'none'}; choose another --checkpoint-directory, or"
                " the same GPUs with --gpus"
            )
        log.info("GPU devices match checkpoint")

    def describe(self, *, devices: Sequence[Device], host: Mapping[str, str]) -> None:
        """Says where the coming outcomes are measured."""
        self._devices = tuple(devices)
        self._host = MappingProxyType(dict(host))
        self._header_is_due = True

    def outcome_of(self, trial: Trial) -> Outcome | None:
        """The outcome recorded for this trial; a failure of an earlier run may be retried."""
        outcome = self._outcomes.get(trial.key)
        is_retried = (
            self._retry_failed and isinstance(outcome, Failure) and trial.key in self._earlier
        )
        return None if is_retried else outcome

    def record_server_only(self, gpus: Mapping[str, Values]) -> None:
        """Keeps the values of the GPUs under a server without models, in place of older ones."""
        self._append([encode_server_only(gpus)])
        self._server_only = MappingProxyType(dict(gpus))

    def record(self, trial: Trial, outcome: Outcome) -> None:
        """Keeps the outcome: it is on disk when this returns.

        Recording again what is known changes nothing, unless the variant has another name now.
        """
        name = (trial.key, trial.variants)
        known = self._records.get(name)
        if known is not None and known.outcome == outcome:
            return
        record = TrialRecord(trial=trial, outcome=outcome)
        self._append(self._encoder.record(trial.key, record))
        self._earlier -= {trial.key}
        self._outcomes[trial.key] = outcome
        self._records.pop(name, None)
        self._records[name] = record

    def save(self) -> Path | None:
        """Folds the journal into the next numbered checkpoint, if it holds anything."""
        if self._journal.is_empty:
            log.info("No changes made to analyzer data, no checkpoint saved.")
            return None
        path = checkpoint_path(self._directory, self._next)
        identity = str(uuid.uuid4())
        header = {**self._header(), "uuid": identity, "parent": self._parent, "index": self._next}
        write_checkpoint(path, header, self._entries())
        self._journal.clear()
        self._encoder = Encoder()
        self._header_is_due = True
        self._parent = identity
        self._next += 1
        self.newest = path
        log.info("Saved checkpoint to %s", path)
        return path

    def _append(self, entries: Iterable[Entry]) -> None:
        try:
            header = [self._header()] if self._header_is_due else []
            self._journal.append([*header, *entries])
        except BaseException:
            self._encoder = Encoder()  # nothing is known to have been written
            raise
        self._header_is_due = False

    def _header(self) -> Entry:
        return {
            "entry": "header",
            "format": FORMAT,
            "tool": __version__,
            "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "devices": [encode_device(device) for device in self._devices],
            "host": dict(self._host),
        }

    def _entries(self) -> Iterator[Entry]:
        encoder = Encoder()
        if self._server_only:
            yield encode_server_only(self._server_only)
        for (key, _), record in self._records.items():
            yield from encoder.record(key, record)
