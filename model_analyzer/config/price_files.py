# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads prices of hardware from a YAML file. config/prices.yaml is an example without prices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from model_analyzer.config.kinds import Integer, Text
from model_analyzer.config.nodes import Entry, Node, Read, fields_of, read_mapping
from model_analyzer.config.sources import read_yaml
from model_analyzer.domain.costs import NodeType, Prices
from model_analyzer.errors import wrong

# What config/prices.yaml has in place of each price.
PLACEHOLDER = "FILL_IN"
_REPLACE = f"{PLACEHOLDER} is a placeholder: replace it"

_MOST = Decimal(10) ** 9

T = TypeVar("T")


def read_prices(path: Path) -> Prices:
    """The prices in a file. Raises ConfigError with all problems."""
    node = read_yaml(path)
    if node is None:
        raise wrong(str(path), "has no prices")
    return parse_prices(node)


def parse_prices(node: Node) -> Prices:
    """The prices of a YAML document. Raises ConfigError with all problems."""
    readers: Mapping[str, Read] = {
        "currency": _filled,
        "date": _filled,
        "gpus": lambda each: _by_name(each, _price),
        "cpu_core": _price,
        "memory_gb": _price,
        "nodes": _nodes,
    }
    prices = Prices(**fields_of(node, readers, required=("currency", "date")))
    if not (prices.gpus or prices.cpu_core or prices.memory_gb or prices.nodes):
        raise node.problem("has no prices: give gpus, cpu_core, memory_gb or nodes")
    return prices


def _nodes(node: Node) -> tuple[NodeType, ...]:
    readers: Mapping[str, Read] = {
        "price": _price,
        "gpus": lambda each: _by_name(each, Integer(1).parse),
        "cores": Integer(1).parse,
        "memory_gb": _quantity,
    }
    types = _by_name(node, lambda each: fields_of(each, readers, required=("price",)))
    return tuple(NodeType(name=name, **given) for name, given in types.items())


def _by_name(node: Node, read: Callable[[Node], T]) -> Mapping[str, T]:
    """The values of a mapping with any keys."""

    def value(entry: Entry) -> T:
        if PLACEHOLDER in entry.key:
            raise entry.problem(_REPLACE)
        return read(entry.node)

    return MappingProxyType(read_mapping(node, "", value))


def _filled(node: Node) -> str:
    """Text that is no placeholder."""
    text = Text().parse(node).strip()
    if not text:
        raise node.problem("must not be empty")
    if PLACEHOLDER in text:
        raise node.problem(_REPLACE)
    return text


def _price(node: Node) -> Decimal:
    """A price per hour, exact as it is written."""
    if node.is_scalar and PLACEHOLDER in node.text:
        raise node.problem(f"{_REPLACE}, or remove the line")
    price = _quantity(node)
    if price >= _MOST:
        raise node.problem(f"expected a price per hour, found {node.describe()}")
    return price


def _quantity(node: Node) -> Decimal:
    text = node.text.strip() if node.is_scalar else ""
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise node.problem(f"expected a number, found {node.describe()}") from error
    if not number.is_finite() or number <= 0:
        raise node.problem("must be above 0; remove the line if it is unknown")
    return number
