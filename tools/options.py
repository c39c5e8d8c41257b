# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the reference of all options from the option table.

python tools/options.py > docs/options.md
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from model_analyzer.config.kinds import OneOf
from model_analyzer.config.model_options import MODEL_OPTIONS, PARAMETER_OPTIONS
from model_analyzer.config.options import options_of
from model_analyzer.config.table import PROFILE, REPORT, Option, plain
from model_analyzer.domain.words import MOST_COUNT, MOST_NUMBER

HEAD = """\
# Options

<!-- Made by tools/options.py from the option table: do not edit. -->

All options of `profile` and `report`, with their key in the YAML file (`-f`) and their flag. The
command line overrides environment variables, variables override the file, and the file overrides the
default. One file can serve all commands: each command reads its own options. `analyze` and `doctor`
take the options of `profile`. [reference.md](reference.md) has the other commands.

You can shorten a flag as long as it is unique. `--flag value` and `--flag=value` mean the same. If a
flag is repeated, the last one counts. Some flags are not keys: `-q`/`--quiet`, `-v`/`--verbose` and
`-h`/`--help` of every command, `--dry-run` and `--json` of `profile` (they show what a run would do),
and `--json` and `--no-models` of `doctor`.

**Numbers.** Without another limit, a number has at most 15 digits before its point, and a whole number
is less than 2³¹: what an option accepts is what a checkpoint stores.

**Paths.** A relative path starts at the current directory, also in the YAML file, as in Triton Model
Analyzer. `config validate` and `config show` print the absolute paths. `~` is your home directory.

**Environment variables.** Each option has a variable: `MODEL_ANALYZER_` and its key in upper case.

    export MODEL_ANALYZER_CHECKPOINT_DIRECTORY=/data/checkpoints
    export MODEL_ANALYZER_OVERRIDE_OUTPUT_MODEL_REPOSITORY=true
    export MODEL_ANALYZER_CONSTRAINTS='{perf_latency_p99: {max: 50}}'

Its value is the value of the flag, `true` or `false` for flags without a value, or YAML for options
without a flag. An empty variable counts as not set. An invalid value is an error that names the
variable; a variable with a misspelled name gets a warning. `checkpoint` and `compare` also use the
variables of `checkpoint_directory` and `checkpoint_prefix`. `MODEL_ANALYZER_CONFIG_FILE` names the
YAML file. `model-analyzer config show FILE` shows the value of each given option, the place where it
is set, and the places that it overrides.

`model-analyzer config validate FILE...` checks files, and `model-analyzer config schema` prints a
JSON Schema for editors.

| Type | Syntax |
|---|---|
| INTEGER, NUMBER | `4`, `0.5`; also in quotes; `[INTEGER\\|auto]` is a whole number or the word |
| INTEGERS | `4`, `[1, 2, 4]`, `1,2,4`, `1:8:2` (start, last, step) or `{start: 1, stop: 8, step: 2}`; a range includes its last number |
| true or false | in YAML `true`, `false`, `yes`, `no`, `on`, `off`, also in quotes; on the command line only the flag |
| MODELS | `a`, `a,b`, `[a, b]`, `{a: {OPTIONS}, b: }`, `[a, {b: {OPTIONS}}]` |
| NAMES, METRICS, FIELDS, FORMATS, LABELS, HOST:CONTAINER:MODE | a single value, a list, or text with commas |
| MAPPING | `{NAME: VALUE}` |

A key without a value (`null`) counts as not given; 0, false and empty lists count as given.
"""  # noqa: E501

OF_A_MODEL = """\
## For each model in `profile_models`

A value given here replaces the whole global value. Models in `bls_composing_models` and
`ensemble_composing_models` only use `cpu_only` and `model_config_parameters`.
"""

SWEEPS = """\
### `model_config_parameters` of a model

The fields are the fields of Triton's ModelConfig. If a field has a single value, a list contains
the values to try: `max_batch_size: [4, 8]`. If a field has a list, a list of lists contains the
values to try: `preferred_batch_size: [4, 8]` is one value, and `[[4, 8], [16]]` are two. The same
applies to fields inside messages. All combinations are tried. `null` means the value in the model's
configuration.
"""


def main() -> None:
    print(HEAD)
    for command in (PROFILE, REPORT):
        print(f"## {command}\n")
        for group, options in groupby(options_of(command), lambda option: option.group):
            print(f"### {command}: {group}\n")
            table(
                {
                    "key": f"`{option.key}`",
                    "flag": ", ".join(f"`{flag}`" for flag in option.flags) or "YAML only",
                    "type": type_of(option),
                    "default": default_of(option),
                    "per model": scope_of(option),
                    "meaning": option.help,
                }
                for option in options
            )
    print(OF_A_MODEL)
    table(map(row_of_model, MODEL_OPTIONS))
    print("### `parameters` of a model\n")
    table(map(row_of_model, PARAMETER_OPTIONS))
    print(SWEEPS, end="")


def row_of_model(option: Option) -> Mapping[str, str]:
    return {
        "key": f"`{option.key}`",
        "type": type_of(option),
        "default": default_of(option),
        "meaning": option.help,
    }


def table(rows: Iterable[Mapping[str, str]]) -> None:
    for index, row in enumerate(rows):
        if index == 0:
            print("| " + " | ".join(row) + " |")
            print("|---" * len(row) + "|")
        print("| " + " | ".join(row.values()) + " |")
    print()


def type_of(option: Option) -> str:
    if isinstance(option.kind, OneOf):
        return ", ".join(f"`{word}`" for word in option.kind.words)
    schema = option.kind.schema()
    form = schema.get("anyOf", [schema])[0]
    bounds = [
        f"{word} {form[name]}"
        for name, word in (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "to"))
        if name in form and abs(form[name]) not in (MOST_NUMBER, MOST_COUNT)
    ]
    name = (option.kind.metavar or "true or false").replace("|", "\\|")
    return " ".join([name, *bounds])


def default_of(option: Option) -> str:
    if option.default in (None, (), {}):
        return ""
    value = plain(option.default)
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"`{text.lower() if isinstance(value, bool) else text}`"


def scope_of(option: Option) -> str:
    if any(option.key == of_model.key for of_model in MODEL_OPTIONS):
        return "yes"
    is_parameter = any(option.key == parameter.key for parameter in PARAMETER_OPTIONS)
    return "in `parameters`" if is_parameter else ""


if __name__ == "__main__":
    main()
