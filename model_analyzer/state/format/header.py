# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The header of a file: which checkpoint it is, and where it was measured."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from types import MappingProxyType

from model_analyzer import __version__
from model_analyzer.domain.hardware import Device
from model_analyzer.domain.models import empty
from model_analyzer.state.format import schema
from model_analyzer.state.format.codec import FORMAT, HEADER, Entry
from model_analyzer.state.format.decoder import devices_of
from model_analyzer.state.format.schema import checked


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
        "devices": [asdict(device) for device in header.devices],
        "host": dict(header.host),
        **({} if header.cores is None else {"cores": header.cores}),
        **identity,
        **({"lost": dict(header.lost)} if header.lost else {}),
    }


def _cores_in(host: Mapping[str, str]) -> int | None:
    """The cores from the description of the processor, as older versions wrote them."""
    match = re.search(r", ([0-9]{1,9}) cores$", host.get("Processor", ""))
    return int(match[1]) if match else None


def decode_header(entry: Entry) -> Header:
    """The header of an entry. Raises ValueError if the entry is invalid."""
    header = checked(schema.StoredHeader, entry)
    return Header(
        uuid=header.uuid,
        parent=header.parent,
        index=header.index,
        time=header.time,
        tool=header.tool,
        devices=devices_of(header.devices),
        host=MappingProxyType(header.host),
        cores=_cores_in(header.host) if header.cores is None else header.cores,
        nodes=MappingProxyType(header.nodes),
        lost=MappingProxyType(header.lost),
    )
