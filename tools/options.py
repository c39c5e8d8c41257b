# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the reference of all options from the option table.

python tools/options.py > docs/options.md
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from model_analyzer.config.kinds import Choice
from model_analyzer.config.model_options import MODEL_OPTIONS, PARAMETER_OPTIONS
from model_analyzer.config.options import options_of
from model_analyzer.config.table import PROFILE, REPORT, Option, plain

HEAD = """\
# Options

<!-- Made by tools/options.py from the option table: do not edit. -->

Every option of `profile` and `report`, as a key in the YAML file (`-f`) and as a flag. The command
line wins over environment variables, those over the file, the file over the default. One file may
serve all commands: each reads what concerns it. `analyze` and `doctor` take the options of `profile`.
[reference.md](reference.md) has the other commands.

A flag may be shortened as long as it stays unique, and `--flag value` and `--flag=value` are the
same. Of a flag that is repeated the last one counts. `-q`/`--quiet`, `-v`/`--verbose` and
`-h`/`--help` are flags of every command, and no keys; nor are `--dry-run` and `--json` of `profile`,
which tell what a run would do, and `--json` and `--no-models` of `doctor`.

**Paths.** A relative path, in the YAML file as on the command line, is meant from the current
directory, not from that of the file: as in Triton Model Analyzer. `config validate` and `config show`
print what each one is, and `~` is your home directory.

**Environment variables.** Each option has one: `MODEL_ANALYZER_` and its key in capitals.

    export MODEL_ANALYZER_CHECKPOINT_DIRECTORY=/data/checkpoints
    export MODEL_ANALYZER_OVERRIDE_OUTPUT_MODEL_REPOSITORY=true
    export MODEL_ANALYZER_CONSTRAINTS='{perf_latency_p99: {max: 50}}'

Its text is what would follow the flag, `true` or `false` for flags without a value, and YAML for
options that are YAML only. An empty one counts as not set. A text that cannot be read is an error
that names the variable; a variable that is nearly one of an option gets a warning. The variables of
`checkpoint_directory` and `checkpoint_prefix` also serve `checkpoint` and `compare`, and
`MODEL_ANALYZER_CONFIG_FILE` names the YAML file. `model-analyzer config show FILE` tells of each
option that is given what it is, where that was said, and instead of what.

`model-analyzer config validate FILE...` checks files, and `model-analyzer config schema` describes
them to an editor.

| Type | How it is written |
|---|---|
| INTEGER, NUMBER | `4`, `0.5`; in quotes, too |
| INTEGERS | `4`, `[1, 2, 4]`, `1,2,4`, `1:8:2` (start, last, step) or `{start: 1, stop: 8, step: 2}`; a range includes its last number |
| true or false | in YAML `true`, `false`, `yes`, `no`, `on`, `off`, in quotes, too; on the command line the flag alone |
| MODELS | `a`, `a,b`, `[a, b]`, `{a: {OPTIONS}, b: }`, `[a, {b: {OPTIONS}}]` |
| NAMES, METRICS, FIELDS, FORMATS, HOST:CONTAINER:MODE | one, a list, or text with commas |
| MAPPING | `{NAME: VALUE}` |

A key without a value (`null`) is not given; 0, false and empty lists count.
"""  # noqa: E501

OF_A_MODEL = """\
## For each model in `profile_models`

What is given here replaces the global value as a whole. Of `bls_composing_models` and
`ensemble_composing_models`, only `cpu_only` and `model_config_parameters` are used.
"""

SWEEPS = """\
### `model_config_parameters` of a model

The fields are those of Triton's ModelConfig. Where a field takes one value, a list is a choice:
`max_batch_size: [4, 8]`. Where it takes a list, a list of lists is: `preferred_batch_size: [4, 8]`
is one value, `[[4, 8], [16]]` are two. This holds inside of messages, too, and all choices
multiply. `null` leaves a field as it is in the model's own configuration.
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
    if isinstance(option.kind, Choice):
        return ", ".join(f"`{word}`" for word in option.kind.words)
    schema = option.kind.schema()
    form = schema.get("anyOf", [schema])[0]
    bounds = [
        f"{word} {form[name]}"
        for name, word in (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "to"))
        if name in form
    ]
    return " ".join([option.kind.metavar or "true or false", *bounds])


def default_of(option: Option) -> str:
    if option.default in (None, (), {}):
        return ""
    value = plain(option.default)
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"`{text.lower() if isinstance(value, bool) else text}`"


def scope_of(option: Option) -> str:
    if any(option.key == other.key for other in MODEL_OPTIONS):
        return "yes"
    is_parameter = any(option.key == other.key for other in PARAMETER_OPTIONS)
    return "in `parameters`" if is_parameter else ""


if __name__ == "__main__":
    main()
