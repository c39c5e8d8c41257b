# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Converts model configurations between text, JSON and our mappings, and checks that they are
complete.

The only parser is the protobuf of tritonclient.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from google.protobuf import text_format

from model_analyzer.domain.models import ModelConfig, freeze, max_batch_size, thaw
from model_analyzer.domain.protobuf import from_message, new_message, to_message
from model_analyzer.errors import RepositoryError

# an escaped backslash; or escaped bytes that are no ASCII characters
_ESCAPES = re.compile(r"\\\\|((?:\\[23][0-7]{2}|\\[xX][89a-fA-F][0-9a-fA-F])+)")

# protobuf may quote a whole line of the file
_LONGEST_REASON = 300


def parse_text(text: str, name: str) -> ModelConfig:
    """The configuration in protobuf `text` of the file `name`. Escaped bytes that are not UTF-8 are
    left out of texts, as Triton does. Raises RepositoryError.
    """
    try:
        config = from_message(text_format.Parse(_ESCAPES.sub(_in_utf8, text), new_message()))
    except (text_format.ParseError, ValueError) as error:
        # protobuf says "LINE:COLUMN : reason" if it knows the place; a ValueError is a number that
        # no enumeration has
        match = re.match(r"(\d+:\d+) : (.*)", str(error), re.DOTALL)
        where, reason = match.groups() if match else ("", str(error))
        where = f"{name}:{where}" if where else name
        reason = (
            reason.strip()
            .splitlines()[0][:_LONGEST_REASON]
            .replace('"inference.ModelConfig"', "ModelConfig")
        )
        raise RepositoryError(f"{where}: not a model configuration: {reason}") from error
    _check_tensors(config, name)
    try:
        to_json(config)
    except ValueError as error:
        raise RepositoryError(
            f"{name}: has an infinite number or NaN, which Triton cannot load: change it"
        ) from error
    return config


def _in_utf8(match: re.Match[str]) -> str:
    digits = (match[1] or "").split("\\")[1:]
    codes = (int(each[1:], 16) if each[0] in "xX" else int(each, 8) for each in digits)
    return bytes(codes).decode(errors="ignore") if match[1] else match[0]


def is_complete(config: ModelConfig) -> bool:
    """Whether a server can serve the model without completing the configuration itself."""
    return not missing_parts(config)


def completed(answer: ModelConfig, own: ModelConfig, where: str) -> ModelConfig:
    """The configuration `own` as a server has completed it, ready for a search; `where` is its
    file in messages. Raises RepositoryError if it is still incomplete.

    It leaves out a preferred batch size that the server has chosen, which would forbid a smaller
    max_batch_size: the server chooses max_batch_size itself, any other size is the user's.
    """
    _check_tensors(answer, where)
    if not is_complete(answer):
        missing = " and no ".join(missing_parts(answer))
        raise RepositoryError(
            f"{where}: the server could not complete the configuration: it has no {missing}; add"
            " it to the file"
        )
    batching = answer.get("dynamic_batching")
    if batching is None or "preferred_batch_size" in own.get("dynamic_batching", {}):
        return answer
    if [*batching.get("preferred_batch_size", ())] != [max_batch_size(answer)]:
        return answer
    batching = {key: value for key, value in batching.items() if key != "preferred_batch_size"}
    config: ModelConfig = freeze({**answer, "dynamic_batching": batching})
    return config


def _check_tensors(config: ModelConfig, where: str) -> None:
    """Refuses an input or output without a name; `where` is the file in messages."""
    for side in ("input", "output"):
        if not all(tensor.get("name") for tensor in config.get(side, ())):
            raise RepositoryError(f"{where}: an {side} has no name")


def missing_parts(config: ModelConfig) -> Sequence[str]:
    """What a server has to complete before it can serve the model."""
    if "ensemble_scheduling" in config:
        return ()
    parts = {
        "backend": config.get("backend") or config.get("platform"),
        "input": config.get("input"),
        "output": config.get("output"),
    }
    missing = [name for name, value in parts.items() if not value]
    for side in ("input", "output"):
        for tensor in config.get(side, ()):
            missing += [
                f"{field} of {tensor['name']}"
                for field in ("data_type", "dims")
                if not tensor.get(field)
            ]
    return missing


def to_text(config: ModelConfig) -> str:
    """The configuration as `config.pbtxt`."""
    try:
        text: str = text_format.MessageToString(to_message(config))
    except ValueError as error:
        raise RepositoryError(f"{config.get('name')}: {error}") from error
    return text


def to_json(config: ModelConfig) -> str:
    """The configuration in the form of a load request.

    Raises ValueError for numbers that JSON cannot represent.
    """
    return json.dumps(thaw(config), allow_nan=False)
