# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Values of many measurements in little memory: the names are shared, the numbers are packed."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, KeysView, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import TypeVar

D = TypeVar("D")


@lru_cache(maxsize=1024)
def _places(names: tuple[str, ...]) -> Mapping[str, int]:
    return {name: place for place, name in enumerate(names)}


class ValueRow(Mapping[str, float]):
    """Numbers by name, read-only, in a third of the memory of a dictionary."""

    __slots__ = ("_numbers", "_places")

    def __init__(self, names: tuple[str, ...], numbers: array[float]) -> None:
        """One of the `numbers` (of type "d") for each of the `names`."""
        self._places = _places(names)
        self._numbers = numbers

    def __getitem__(self, name: str) -> float:
        return self._numbers[self._places[name]]

    def get(self, name: str, default: D | None = None) -> float | D | None:  # type: ignore[override]
        place = self._places.get(name)
        return default if place is None else self._numbers[place]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._numbers)

    def keys(self) -> KeysView[str]:
        return self._places.keys()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)})"

    def __reduce__(self) -> tuple[type[ValueRow], tuple[tuple[str, ...], array[float]]]:
        return ValueRow, (tuple(self._places), self._numbers)


class DerivedValues(Mapping[str, float]):
    """`measured` values, and the one with this `name`, which `compute` gives when it is read first.
    It is none of those that are measured.
    """

    __slots__ = ("_derived", "compute", "measured", "name")

    def __init__(
        self, measured: Mapping[str, float], name: str, compute: Callable[[], float]
    ) -> None:
        self.measured = measured
        self.name = name
        self.compute = compute
        self._derived: float | None = None

    def __getitem__(self, name: str) -> float:
        if name != self.name:
            return self.measured[name]
        if self._derived is None:
            self._derived = self.compute()
        return self._derived

    def get(self, name: str, default: D | None = None) -> float | D | None:  # type: ignore[override]
        return self[name] if name == self.name else self.measured.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name == self.name or name in self.measured

    def __iter__(self) -> Iterator[str]:
        yield from self.measured
        yield self.name

    def __len__(self) -> int:
        return len(self.measured) + 1

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)})"


class ValueTable:
    """Rows that are read column by column."""

    def __init__(self, rows: Sequence[Mapping[str, float]]) -> None:
        rows = [row.measured if isinstance(row, DerivedValues) else row for row in rows]
        self._rows: Sequence[Mapping[str, float] | array[float]] = rows
        self._places: Mapping[str, int] | None = None
        places = {id(row._places): row._places for row in rows if isinstance(row, ValueRow)}
        if len(places) == 1 and all(isinstance(row, ValueRow) for row in rows):
            # nearly always, and much faster
            ((_, self._places),) = places.items()
            self._rows = [row._numbers for row in rows if isinstance(row, ValueRow)]

    def column(self, name: str) -> Sequence[float]:
        """The measured value of each row. Raises KeyError if a row has none."""
        step: str | int = name if self._places is None else self._places[name]
        return list(map(itemgetter(step), self._rows))
