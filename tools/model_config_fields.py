# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of model configuration fields from the protobuf in tritonclient.

python tools/model_config_fields.py > model_analyzer/domain/model_config_fields.py
"""

from __future__ import annotations

from collections.abc import Iterable, MutableSequence
from textwrap import fill

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from tritonclient.grpc import model_config_pb2

HEAD = '''\
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The fields of Triton's ModelConfig, made by tools/model_config_fields.py: do not edit.

A line is a message with its fields, or an enum with its values; its further lines are indented.
A field is `NAME:TYPE`, `NAME:[TYPE]` where it repeats, or `NAME:{TYPE}` where it maps names to
values. TYPE is `int32`, `int64`, `uint32`, `uint64`, `float`, `bool`, `str`, an enum or a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
'''

TAIL = """

def _lines(table: str) -> Iterator[tuple[str, list[str]]]:
    for line in re.sub(r"\\n +", " ", table).splitlines():
        name, *entries = line.split()
        yield name, entries


MESSAGES: dict[str, dict[str, str]] = {
    name: dict(field.split(":") for field in fields) for name, fields in _lines(_MESSAGES)
}
ENUMS: dict[str, tuple[str, ...]] = {name: tuple(values) for name, values in _lines(_ENUMS)}"""

SCALARS = {
    FieldDescriptor.CPPTYPE_INT32: "int32",
    FieldDescriptor.CPPTYPE_INT64: "int64",
    FieldDescriptor.CPPTYPE_UINT32: "uint32",
    FieldDescriptor.CPPTYPE_UINT64: "uint64",
    FieldDescriptor.CPPTYPE_FLOAT: "float",
    FieldDescriptor.CPPTYPE_DOUBLE: "float",
    FieldDescriptor.CPPTYPE_BOOL: "bool",
    FieldDescriptor.CPPTYPE_STRING: "str",
}

messages: dict[str, dict[str, str]] = {}
enums: dict[str, list[str]] = {}


def name_of(descriptor: Descriptor | EnumDescriptor) -> str:
    return descriptor.full_name.removeprefix("inference.")


def type_of(field: FieldDescriptor) -> str:
    if field.message_type is not None:
        if field.message_type.GetOptions().map_entry:
            return "{" + type_of(field.message_type.fields_by_name["value"]) + "}"
        visit(field.message_type)
        name = name_of(field.message_type)
    elif field.enum_type is not None:
        name = name_of(field.enum_type)
        enums[name] = [value.name for value in field.enum_type.values]
    else:
        name = SCALARS[field.cpp_type]
    return f"[{name}]" if is_repeated(field) else name


def is_repeated(field: FieldDescriptor) -> bool:
    """Whether messages have a list there: each version of protobuf has its own way to say it."""
    descriptor = field.containing_type
    assert descriptor is not None, "a field of a message"
    return isinstance(getattr(GetMessageClass(descriptor)(), field.name), MutableSequence)


def visit(descriptor: Descriptor) -> None:
    name = name_of(descriptor)
    if name not in messages:
        messages[name] = {}
        messages[name] = {field.name: type_of(field) for field in descriptor.fields}


def show(name: str, lines: Iterable[tuple[str, Iterable[str]]]) -> None:
    print(f'{name} = """\\')
    for key, entries in sorted(lines):
        print(
            fill(
                f"{key} {' '.join(entries)}", 100, subsequent_indent="    ", break_on_hyphens=False
            )
        )
    print('"""')


def main() -> None:
    visit(model_config_pb2.ModelConfig.DESCRIPTOR)
    print(HEAD)
    show("_MESSAGES", ((key, map(":".join, of.items())) for key, of in messages.items()))
    show("_ENUMS", enums.items())
    print(TAIL)


if __name__ == "__main__":
    main()
