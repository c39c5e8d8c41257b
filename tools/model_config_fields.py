# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of model configuration fields from the protobuf in tritonclient.

python tools/model_config_fields.py > model_analyzer/domain/model_config_fields.py
"""

from __future__ import annotations

from collections.abc import MutableSequence

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from tritonclient.grpc import model_config_pb2

HEAD = '''\
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The fields of Triton's ModelConfig, made by tools/model_config_fields.py: do not edit.

A field is written `TYPE`, `[TYPE]` where it repeats, or `{TYPE}` where it maps names to values.
TYPE is `int32`, `int64`, `uint32`, `uint64`, `float`, `bool`, `str`, an enum or a message.
"""

from __future__ import annotations
'''

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


def main() -> None:
    visit(model_config_pb2.ModelConfig.DESCRIPTOR)
    print(HEAD)
    print("MESSAGES: dict[str, dict[str, str]] = {")
    for name, fields in sorted(messages.items()):
        print(f'    "{name}": {{')
        for field, kind in fields.items():
            print(f'        "{field}": "{kind}",')
        print("    },")
    print("}\n")
    print("ENUMS: dict[str, tuple[str, ...]] = {")
    for name, values in sorted(enums.items()):
        print(f'    "{name}": (')
        for value in values:
            print(f'        "{value}",')
        print("    ),")
    print("}")


if __name__ == "__main__":
    main()
