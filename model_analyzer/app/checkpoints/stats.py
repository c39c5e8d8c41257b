# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the size of a checkpoint, its loading time and the share of each node."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from model_analyzer.reports.tables import Table, pairs_table
from model_analyzer.state.find import find
from model_analyzer.state.records import Share

_NO_NODE = "this machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Sizes in bytes, times in seconds. The node "" is the machine of the run itself."""

    path: Path | None
    damage: Sequence[str]
    size: int
    entries: int
    outcomes: int
    load_s: float
    serialise_s: float
    nodes: Mapping[str, Share]

    @property
    def dominant(self) -> str | None:
        """The node that wrote more than half, if there are several."""
        half = sum(share.bytes for share in self.nodes.values()) / 2
        largest = (name for name, share in self.nodes.items() if share.bytes > half)
        return next(largest, None) if len(self.nodes) > 1 else None

    @property
    def remark(self) -> str:
        """Which node dominates, or ""."""
        if self.dominant is None:
            return ""
        return f"Most of the time was measured on {self.dominant or _NO_NODE}."

    def document(self) -> Mapping[str, Any]:
        """Everything, for programs."""
        return {
            "path": str(self.path),
            "bytes": self.size,
            "entries": self.entries,
            "bytes_per_entry": self.size / self.entries,
            "outcomes": self.outcomes,
            "load_s": self.load_s,
            "serialise_s": self.serialise_s,
            "nodes": {name: asdict(share) for name, share in self.nodes.items()},
            "dominant_node": self.dominant,
        }

    def tables(self) -> Iterator[tuple[str, Table]]:
        """Everything, for people."""
        seconds = sum(share.seconds for share in self.nodes.values())
        pairs = {
            "Bytes": f"{self.size:,}",
            "Entries": f"{self.entries:,}",
            "Bytes per entry": f"{self.size / self.entries:.0f}",
            "Outcomes": f"{self.outcomes:,}",
            "Time measured": f"{seconds:,.1f} s",
            "Time to load": f"{self.load_s * 1000:.1f} ms",
            "Time to serialise": f"{self.serialise_s * 1000:.1f} ms",
        }
        yield str(self.path), pairs_table(pairs)
        if set(self.nodes) != {""}:  # there is a cluster
            yield "Nodes", self._node_table()

    def _node_table(self) -> Table:
        total = sum(share.bytes for share in self.nodes.values())
        rows = tuple(
            (
                name or _NO_NODE,
                share.outcomes,
                round(share.seconds, 1),
                share.bytes,
                share.bytes / total * 100,
            )
            for name, share in self.nodes.items()
        )
        headers = ("Node", "Outcomes", "Measured (s)", "Bytes", "Share (%)")
        return Table(headers=headers, rows=rows)


def measure(
    which: str, directory: Path, prefix: str = "", clock: Callable[[], float] = time.perf_counter
) -> Statistics:
    """Loads a checkpoint and serialises it again. Raises CheckpointError as `find` does."""
    begin = clock()
    checkpoint = find(which, directory, prefix)
    loaded = clock()
    lines = [len(line) for line in checkpoint.lines()]
    serialised = clock()
    return Statistics(
        path=checkpoint.path,
        damage=checkpoint.damage,
        size=sum(lines),
        entries=len(lines),
        outcomes=len(checkpoint.records),
        load_s=loaded - begin,
        serialise_s=serialised - loaded,
        nodes=checkpoint.records.shares(),
    )
