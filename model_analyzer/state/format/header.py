# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The header of a file: which checkpoint it is, and where it was measured."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from model_analyzer import __version__
from model_analyzer.domain.hardware import Device
from model_analyzer.domain.models import empty
from model_analyzer.state.format.codec import FORMAT, HEADER, encode_device
from model_analyzer.state.format.fields import (
    device,
    integer,
    list_of,
    mapping_of,
    node,
    optional,
    or_null,
    record,
    text,
)
from model_analyzer.state.format.lines import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The identity of a checkpoint, and where it was measured.

    `parent` is the uuid of the checkpoint that it continues, `time` when it was written (ISO 8601,
    UTC). `host` describes machine, server and tools; `cores` is None if unknown. By cluster node:
    `nodes` has the number of outcomes in the checkpoint, `lost` the number of trials that were lost
    there.
    """

    uuid: str = ""
    parent: str = ""
    index: int | None = None
    time: str = ""
    tool: str = ""
    devices: tuple[Device, ...] = ()
    host: Mapping[str, str] = field(default_factory=empty)
    cores: int | None = None
    nodes: Mapping[str, int] = field(default_factory=empty)
    lost: Mapping[str, int] = field(default_factory=empty)

    @property
    def time_text(self) -> str:
        """The time in a readable form."""
        return self.time.replace("T", " ").replace("+00:00", "Z")

    @classmethod
    def next(cls, parent: Header, index: int) -> Header:
        """The header of a new checkpoint that continues `parent`."""
        return replace(parent, uuid=str(uuid.uuid4()), parent=parent.uuid, index=index).stamped()

    def stamped(self) -> Header:
        """A copy for a file that this program writes now."""
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        return replace(self, tool=__version__, time=now)


def header_entry(header: Header) -> Entry:
    identity: Entry = {}
    if header.uuid:
        identity = {"uuid": header.uuid, "parent": header.parent, "index": header.index}
        if header.nodes:
            identity = {**identity, "nodes": dict(header.nodes)}
    return {
        "entry": HEADER,
        "format": FORMAT,
        "tool": header.tool,
        "time": header.time,
        "devices": [encode_device(device) for device in header.devices],
        "host": dict(header.host),
        **({} if header.cores is None else {"cores": header.cores}),
        **identity,
        **({"lost": dict(header.lost)} if header.lost else {}),
    }


def _make_header(format: int, host: Mapping[str, str], cores: int | None, **fields: Any) -> Header:
    return Header(host=host, cores=_cores_in(host) if cores is None else cores, **fields)


def _cores_in(host: Mapping[str, str]) -> int | None:
    """The cores from the description of the processor, as older versions wrote them."""
    match = re.search(r", ([0-9]{1,9}) cores$", host.get("Processor", ""))
    return int(match[1]) if match else None


def _nodes(value: object) -> Mapping[str, int]:
    counts = mapping_of(integer())(value)
    for key in counts:
        node(key)
    return counts


_header = record(
    _make_header,
    format=optional(integer(1), FORMAT),
    uuid=optional(text, ""),
    parent=optional(text, ""),
    index=optional(or_null(integer()), None),
    time=optional(text, ""),
    tool=optional(text, ""),
    devices=optional(list_of(device), ()),
    host=optional(mapping_of(text), empty()),
    cores=optional(or_null(integer()), None),
    nodes=optional(_nodes, empty()),
    lost=optional(_nodes, empty()),
)


def decode_header(entry: Entry) -> Header:
    """The header of an entry. Raises ValueError if the entry is invalid."""
    return _header(entry)
