# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Model repositories: reading, staging, and writing variants; mistakes in ensembles are found in
their files: where the server refuses them, and only there.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.models import VariantNames, is_decoupled
from model_analyzer.errors import OutputError, RepositoryError
from model_analyzer.runner.ensembles import available_versions
from model_analyzer.runner.file_trees import copy_writable, create_output, fingerprint_files
from model_analyzer.runner.model_config import parse_text, to_json, to_text
from model_analyzer.runner.repository import ModelRepository, OutputRepository, check_apart, stage
from tests.ensemble_cases import ENSEMBLES, PARTS, Ensemble, step, write_repository
from tests.phrases import INCOMPLETE_CONFIGURATION, NO_MODEL_FILE


def add_ensemble(models: Path, name: str, *parts: str) -> None:
    """An ensemble of these models, one after the other."""
    tensors = ["IN", *(f"after_{number}" for number in range(1, len(parts))), "OUT"]
    steps = [
        step(part, inputs=f"IN:{tensors[place]}", outputs=f"OUT:{tensors[place + 1]}")
        for place, part in enumerate(parts)
    ]
    Ensemble(steps=steps, inputs=["IN FP32 4"], outputs=["OUT FP32 4"]).write(models / name)


# -- configurations --------------------------------------------------------------------------------


def test_a_configuration_survives_the_way_to_text_and_back(make_model) -> None:
    text = (make_model("m", extra="dynamic_batching { }") / "m" / "config.pbtxt").read_text()

    config = parse_text(text, "config.pbtxt")

    assert config["max_batch_size"] == 8
    assert config["input"][0]["dims"] == (4,)  # 64-bit integers stay integers
    assert config["dynamic_batching"] == {}
    assert parse_text(to_text(config), "again") == config
    assert '"dims": [4]' in to_json(config)


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ('name: "m"\nmax_batch_sise: 4\n', "c:2:1", "max_batch_sise"),
        ('name: "m"\ninput [ { name: "X" data_type: TYPE_FLOAT } ]\n', "c:2", "TYPE_FLOAT"),
        ('name: "m"\ninput [ {\n', "c:2", "Expected"),
        ("name: 5\n", "c:1", ""),
    ],
)
def test_a_configuration_that_does_not_parse_is_located(text: str, where: str, words: str) -> None:
    with pytest.raises(RepositoryError) as caught:
        parse_text(text, "c")

    assert str(caught.value).startswith(where)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (rb"a\377b", "ab"),
        (rb"a\xFFb\303\251", "abé"),
        (rb"\\377", "\\377"),
        ("grün".encode(), "grün"),
        ("grün".encode("latin-1"), "grn"),
    ],
)
def test_bytes_that_are_not_utf_8_are_left_out_as_by_triton(
    make_model, written: bytes, value: str
) -> None:
    models = make_model("m")
    with (models / "m" / "config.pbtxt").open("ab") as file:
        file.write("# für alle\n".encode("latin-1"))
        file.write(b'parameters { key: "x" value: { string_value: "%s" } }\n' % written)

    facts = ModelRepository(models).facts("m")

    assert facts.config["parameters"]["x"]["string_value"] == value


# -- reading ---------------------------------------------------------------------------------------


def test_facts_have_configuration_and_files(make_model) -> None:
    facts = ModelRepository(make_model("m")).facts("m")

    assert facts.name == "m"
    assert facts.supports_batching
    assert not facts.is_ensemble


def test_an_ensemble_knows_its_parts_in_order(make_model) -> None:
    make_model("a")
    models = make_model("b")
    add_ensemble(models, "whole", "b", "a", "b")

    facts = ModelRepository(models).facts("whole")

    assert facts.is_ensemble
    assert [part.name for part in facts.composing] == ["b", "a"]


def test_an_ensemble_in_a_circle_is_refused(make_model) -> None:
    models = make_model("m")
    add_ensemble(models, "one", "two")
    add_ensemble(models, "two", "one")

    with pytest.raises(RepositoryError, match="one > two > one"):
        ModelRepository(models).facts("one")


def break_config(models: Path) -> None:
    (models / "m" / "config.pbtxt").unlink()


def rename(models: Path) -> None:
    path = models / "m" / "config.pbtxt"
    path.write_text(path.read_text().replace('name: "m"', 'name: "other"', 1))


def drop_versions(models: Path) -> None:
    (models / "m" / "1" / "model.py").unlink()
    (models / "m" / "1").rmdir()


def drop_model_file(models: Path) -> None:
    (models / "m" / "1" / "model.py").unlink()


def not_text(models: Path) -> None:
    (models / "m" / "config.pbtxt").write_bytes(b"\xff\xfe\x00")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (break_config, f"config.pbtxt: {INCOMPLETE_CONFIGURATION}"),
        (rename, "names the model 'other'"),
        (drop_versions, "no version directory"),
        (drop_model_file, NO_MODEL_FILE),  # the server would hang on it
        (not_text, "not a model configuration"),
    ],
)
def test_a_model_that_could_not_be_served_is_refused(make_model, damage: Any, words: str) -> None:
    models = make_model("m")
    damage(models)

    with pytest.raises(RepositoryError, match=words):
        ModelRepository(models).facts("m")


@pytest.mark.parametrize(
    ("policy", "is_refused"), [("", True), ("version_policy { all { } }", False)]
)
def test_the_version_that_the_server_loads_needs_the_model_file(
    make_model, policy: str, is_refused: bool
) -> None:
    models = make_model("m", extra=policy)
    (models / "m" / "2").mkdir()

    with pytest.raises(RepositoryError, match="in version 2,") if is_refused else nullcontext():
        ModelRepository(models).facts("m")


@pytest.mark.parametrize(
    "name", ["x$(touch${IFS}it)", "z`id`", "it's", 'q"q', "a&b", "<b>", "a b", "é", "a;b", "a*"]
)
def test_names_that_a_shell_would_interpret_are_refused(make_model, name: str) -> None:
    models = make_model("m")
    config = models / "m" / "config.pbtxt"
    config.write_text(config.read_text().replace('name: "m"', "", 1))
    (models / "m").rename(models / name)

    with pytest.raises(RepositoryError, match="passes the name to a shell: rename it"):
        ModelRepository(models).facts(name)


def test_a_file_name_that_a_shell_would_interpret_is_refused(make_model) -> None:
    models = make_model("m")
    with open(models / "m" / "config.pbtxt", "a") as config:
        config.write('\ndefault_model_filename: "$(touch it).py"\n')

    with pytest.raises(RepositoryError, match="passes the name to a shell: rename it"):
        ModelRepository(models).facts("m")


@pytest.mark.parametrize(
    ("more", "file"),
    [
        (
            'model_warmup { name: "w" batch_size: 1 inputs { key: "X" value { dims: 1'
            ' data_type: TYPE_FP32 input_data_file: "raw" } } }',
            "warmup/raw",
        ),
        (
            'parameters { key: "EXECUTION_ENV_PATH"'
            ' value { string_value: "$$TRITON_MODEL_DIRECTORY/env.tar.gz" } }',
            "env.tar.gz",
        ),
        (
            'sequence_batching { state { input_name: "I" output_name: "O" data_type: TYPE_FP32'
            ' dims: 1 initial_state { name: "i" data_type: TYPE_FP32 dims: 1'
            ' data_file: "zero" } } }',
            "initial_state/zero",
        ),
    ],
)
def test_a_file_that_the_configuration_names_is_there(make_model, more: str, file: str) -> None:
    models = make_model("m", extra=more)
    with pytest.raises(RepositoryError, match=f"{Path(file).name}', which is not in"):
        ModelRepository(models).facts("m")

    path = models / "m" / file
    path.parent.mkdir(exist_ok=True)
    path.touch()
    assert ModelRepository(models).facts("m").name == "m"


def test_an_unknown_model_comes_with_the_nearest_name(make_model) -> None:
    with pytest.raises(RepositoryError, match="did you mean 'resnet50'"):
        ModelRepository(make_model("resnet50")).facts("resnet5O")
    with pytest.raises(RepositoryError, match="did you mean 'ResNet'"):
        ModelRepository(make_model("ResNet")).facts("resnet")


def test_the_directory_of_a_version_is_no_model(make_model) -> None:
    models = make_model("zebra")
    (models / "zebra" / "1").mkdir(exist_ok=True)
    with pytest.raises(RepositoryError, match=r"no model '1' in .* \(available: zebra\)"):
        ModelRepository(models).facts("1")


def test_of_many_models_the_first_are_named_and_the_others_counted(make_model) -> None:
    for number in range(19):
        models = make_model(f"m{number:02}")
    with pytest.raises(RepositoryError, match=r"\(available: m00, .*, m11 and 7 more\)"):
        ModelRepository(models).facts("zebra")


def test_an_empty_repository_says_what_one_looks_like(tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match=r"\(it has no models: .*MODEL/config\.pbtxt and"):
        ModelRepository(tmp_path).facts("m")


def test_the_directory_above_or_below_is_named(make_model) -> None:
    models = make_model("m")
    with pytest.raises(RepositoryError, match=rf"did you mean --model-repository {models}\?"):
        ModelRepository(models.parent).facts("m")
    with pytest.raises(RepositoryError, match=rf"a model: give --model-repository {models}\)"):
        ModelRepository(models / "m").facts("m")


def test_a_missing_repository_is_distinguished_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RepositoryError, match="does not exist"):
        ModelRepository(tmp_path / "nowhere")
    with pytest.raises(RepositoryError, match="is not a directory"):
        ModelRepository(tmp_path / "file")


# -- fingerprints ----------------------------------------------------------------------------------


def test_the_fingerprint_is_of_contents_and_names_but_not_of_places_and_times(
    make_model, tmp_path
) -> None:
    model = make_model("m") / "m"
    before = fingerprint_files(model)

    os.utime(model / "1" / "model.py", (1, 1))
    (model / "1" / "__pycache__").mkdir()
    (model / "1" / "__pycache__" / "model.pyc").touch()
    (model / "config.pbtxt").write_text("# changed")
    assert fingerprint_files(model.rename(tmp_path / "elsewhere")) == before


@pytest.mark.parametrize("change", ["edit", "add", "rename"])
def test_a_changed_file_changes_the_fingerprint(make_model, change: str) -> None:
    model = make_model("m") / "m"
    before = fingerprint_files(model)
    match change:
        case "edit":
            (model / "1" / "model.py").write_text("# other\n")
        case "add":
            (model / "1" / "weights").touch()
        case "rename":
            (model / "1").rename(model / "2")

    assert fingerprint_files(model) != before


# -- staging ---------------------------------------------------------------------------------------


def test_the_server_sees_the_repository_but_cannot_write_into_it(
    make_model, tmp_path: Path
) -> None:
    models = make_model("served")
    make_model("other")
    (models / "shared.bin").write_text("weights")
    repository = ModelRepository(models)

    staged = stage(repository, [repository.facts("served")], tmp_path / "staged")
    (staged / "served" / "1" / "__pycache__").mkdir()

    assert (staged / "served" / "1" / "model.py").read_text() == "# never run\n"
    assert (staged / "served" / ".." / "shared.bin").read_text() == "weights"
    assert (staged / "other" / "config.pbtxt").exists()
    assert not (models / "served" / "1" / "__pycache__").exists()


# -- variants --------------------------------------------------------------------------------------


def written(models: Path, output: Path) -> tuple[OutputRepository, Any, VariantNames]:
    repository = ModelRepository(models)
    create_output(output, override=False)
    return OutputRepository(output, repository), repository.facts("m"), VariantNames()


def test_the_first_variant_is_a_copy_and_later_ones_link_to_it(make_model, tmp_path: Path) -> None:
    output, facts, names = written(make_model("m"), tmp_path / "out")

    output.write(names.default(facts))
    output.write(names.variant(facts, {"max_batch_size": 2}))

    first, second = tmp_path / "out" / "m_config_default", tmp_path / "out" / "m_config_0"
    assert not (first / "1").is_symlink()
    assert (second / "1").readlink() == Path("../m_config_default/1")
    assert (second / "1" / "model.py").exists()
    assert "max_batch_size: 8" in (first / "config.pbtxt").read_text()
    assert "max_batch_size: 2" in (second / "config.pbtxt").read_text()


def test_only_configurations_of_remote_models_are_written(make_model, tmp_path: Path) -> None:
    models = make_model("part")
    add_ensemble(models, "m", "part")
    facts = ModelRepository(models).facts("m")
    create_output(tmp_path / "out", override=False)

    OutputRepository(tmp_path / "out", None).write(VariantNames().default(facts))

    files = {
        str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.pbtxt")
    }
    assert files == {
        "m_config_default/config.pbtxt",
        "part_config_default/config.pbtxt",
        "part/config.pbtxt",
    }


def test_an_ensemble_is_written_with_its_parts_under_both_names(make_model, tmp_path: Path) -> None:
    models = make_model("part")
    add_ensemble(models, "m", "part")
    output, facts, names = written(models, tmp_path / "out")

    output.write(names.default(facts))

    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()} == {
        "m_config_default",
        "part_config_default",
        "part",
    }


def test_writing_again_changes_nothing(make_model, tmp_path: Path) -> None:
    output, facts, names = written(make_model("m"), tmp_path / "out")
    output.write(names.default(facts))
    (tmp_path / "out" / "m_config_default" / "note").touch()

    output.write(names.default(facts))

    assert (tmp_path / "out" / "m_config_default" / "note").exists()


def test_a_variant_that_cannot_be_written_is_one_line(make_model, tmp_path: Path) -> None:
    output, facts, names = written(make_model("m"), tmp_path / "out")
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "out").touch()

    with pytest.raises(OutputError) as caught:
        output.write(names.default(facts))

    assert "\n" not in str(caught.value)
    assert "--output-model-repository-path" in str(caught.value)


@pytest.mark.parametrize("output", ["models/m", "models/m/1", "models/m/out"])
def test_variants_are_not_written_into_a_model(make_model, tmp_path: Path, output: str) -> None:
    repository = make_model("m")

    with pytest.raises(RepositoryError, match="overlaps with the model m"):
        check_apart(tmp_path / output, repository)


def test_a_model_that_is_a_link_into_the_old_variants_is_not_deleted(
    make_model, tmp_path: Path
) -> None:
    repository = make_model("m")
    (tmp_path / "variants").mkdir()
    (repository / "m").rename(tmp_path / "variants" / "m_config_0")
    (repository / "m").symlink_to(tmp_path / "variants" / "m_config_0")

    with pytest.raises(RepositoryError, match="overlaps with the model m"):
        check_apart(tmp_path / "variants", repository)


def test_another_directory_of_the_repository_may_hold_the_variants(
    make_model, tmp_path: Path
) -> None:
    check_apart(tmp_path / "models" / "variants", make_model("m"))


def test_copies_of_read_only_models_can_be_changed(make_model, tmp_path: Path) -> None:
    model = make_model("m") / "m"
    (model / "config.pbtxt").chmod(0o444)
    model.chmod(0o555)

    copy_writable(model, tmp_path / "copy")
    model.chmod(0o755)

    assert (tmp_path / "copy").stat().st_mode & 0o200
    assert (tmp_path / "copy" / "config.pbtxt").stat().st_mode & 0o200


# -- what nobody can read --------------------------------------------------------------------------


def _fifo(model: Path) -> Path:
    os.mkfifo(model / "1" / "weights")
    return model / "1" / "weights"


def _fifo_as_configuration(model: Path) -> Path:
    (model / "config.pbtxt").unlink()
    os.mkfifo(model / "config.pbtxt")
    return model / "config.pbtxt"


def _link_to_zeros(model: Path) -> Path:
    (model / "1" / "weights").symlink_to("/dev/zero")
    return model / "1" / "weights"


def _zeros_as_configuration(model: Path) -> Path:
    (model / "config.pbtxt").unlink()
    (model / "config.pbtxt").symlink_to("/dev/zero")
    return model / "config.pbtxt"


def _link_to_itself(model: Path) -> Path:
    (model / "1" / "weights").symlink_to("weights")
    return model / "1" / "weights"


def _links_that_multiply(model: Path) -> Path:
    for name in "ab":
        (model / "1" / name).symlink_to("..")
    return model / "1" / "a"


def _link_to_nothing(model: Path) -> Path:
    (model / "1" / "weights").symlink_to("gone")
    return model / "1" / "weights"


def _deep(model: Path) -> Path:
    directory = model.joinpath(*["1"] * 101)
    directory.mkdir(parents=True)
    return directory


BROKEN = [
    _fifo, _fifo_as_configuration, _link_to_zeros, _zeros_as_configuration, _link_to_itself,
    _links_that_multiply, _link_to_nothing, _deep,
]  # fmt: skip


@pytest.mark.parametrize("break_model", BROKEN)
def test_an_unreadable_model_is_refused_with_its_path(make_model, break_model) -> None:
    models = make_model("m")
    path = break_model(models / "m")

    # whether files are hashed or not, as in a dry run
    for repository in (ModelRepository(models), ModelRepository(models, fingerprint=lambda _: "")):
        with pytest.raises(RepositoryError, match=f"^{re.escape(str(path))}: cannot be read: "):
            repository.facts("m")


@pytest.mark.parametrize("break_model", BROKEN)
def test_another_unreadable_model_does_not_matter(make_model, tmp_path: Path, break_model) -> None:
    make_model("m")
    models = make_model("other")
    break_model(models / "other")
    os.mkfifo(models / "pipe")
    (models / "round").symlink_to("round")
    source = ModelRepository(models)
    facts = source.facts("m")

    staged = stage(source, [facts], tmp_path / "staged")
    output = tmp_path / "output"
    create_output(output, override=False)
    check_apart(output, models)
    OutputRepository(output, source).write(VariantNames().default(facts))

    assert (staged / "m" / "config.pbtxt").exists()
    assert (output / "m_config_default" / "config.pbtxt").exists()


@pytest.mark.parametrize("break_tree", [_fifo, _link_to_zeros, _links_that_multiply])
def test_files_that_have_no_end_are_not_hashed(tmp_path: Path, break_tree) -> None:
    (tmp_path / "data" / "1").mkdir(parents=True)
    path = break_tree(tmp_path / "data")

    with pytest.raises(RepositoryError, match=f"^{re.escape(str(path))}: "):
        fingerprint_files(tmp_path / "data")
    if not path.is_dir():
        with pytest.raises(RepositoryError, match=f"^{re.escape(str(path))}: "):
            fingerprint_files(path)


def test_a_file_that_grows_is_copied_as_long_as_it_was(tmp_path: Path) -> None:
    """Some files of the system say that they are empty, and never end."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "endless").symlink_to("/proc/self/pagemap")

    copy_writable(tmp_path / "m", tmp_path / "copy")

    assert (tmp_path / "copy" / "endless").read_bytes() == b""


def test_a_configuration_that_takes_too_long_to_parse_is_refused(make_model) -> None:
    models = make_model("m")
    with (models / "m" / "config.pbtxt").open("a") as file:
        file.write('parameters { key: "k" value { string_value: "v" } }\n' * 300_000)

    with pytest.raises(RepositoryError, match=r"config.pbtxt: cannot be read: Larger than 512 KiB"):
        ModelRepository(models).facts("m")


@pytest.mark.parametrize("nested", ["[", "{", 'parameters { key: "k" value {'])
def test_an_error_in_a_long_line_is_shortened(make_model, nested: str) -> None:
    models = make_model("m")
    with (models / "m" / "config.pbtxt").open("a") as file:
        file.write("output " + nested * (400_000 // len(nested)))

    with pytest.raises(RepositoryError, match="not a model configuration") as raised:
        ModelRepository(models).facts("m")
    assert len(str(raised.value)) < 1000


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> ModelRepository:
    path = tmp_path_factory.mktemp("models")
    write_repository(path)
    return ModelRepository(path)


@pytest.mark.parametrize("name", [name for name, case in ENSEMBLES.items() if not case.words])
def test_what_the_server_accepts_is_accepted(repository: ModelRepository, name: str) -> None:
    assert repository.facts(name).is_ensemble


@pytest.mark.parametrize("name", [name for name, case in ENSEMBLES.items() if case.words])
def test_what_the_server_refuses_is_refused_with_ensemble_and_step(
    repository: ModelRepository, name: str
) -> None:
    with pytest.raises(RepositoryError) as refused:
        repository.facts(name)

    assert ENSEMBLES[name].words in str(refused.value)
    assert name in str(refused.value)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    PARTS["a"].write(tmp_path / "a", "")
    steps = [step("a", version=None, outputs="o:t"), step("a", version=None, inputs="x:t")]
    Ensemble(steps=steps).write(tmp_path / "chain")

    with pytest.raises(RepositoryError) as refused:
        ModelRepository(tmp_path).facts("chain")

    assert str(refused.value).endswith(
        "step 1 (a) of chain has no model_version: write -1;"
        " step 2 (a) of chain has no model_version: write -1"
    )


def test_a_missing_model_is_told_with_the_other_mistakes(tmp_path: Path) -> None:
    PARTS["a"].write(tmp_path / "a", "")
    steps = [
        step("a", version=None, outputs="o:t"),
        step("qqqq", version=None, inputs="x:t", outputs="o:u"),
        step("qqqq", version=7, inputs="x:u"),
    ]
    Ensemble(steps=steps, more="optimization {}").write(tmp_path / "chain")

    with pytest.raises(RepositoryError) as refused:
        ModelRepository(tmp_path).facts("chain")

    assert str(refused.value) == (
        f"{tmp_path}/chain/config.pbtxt:"
        " chain is an ensemble and has optimization: move it to the models of its steps;"
        " step 1 (a) of chain has no model_version: write -1;"
        " step 2 (qqqq) of chain has no model_version: write -1;"
        f" step 2 (qqqq) of chain: no model 'qqqq' in {tmp_path} (add it, or correct its name)"
    )


def test_a_missing_model_of_a_step_is_not_the_ensemble_itself(tmp_path: Path) -> None:
    for name in ("resnet_chain", "resnet_chains"):
        Ensemble(steps=[step("resnet_chai")]).write(tmp_path / name)

    with pytest.raises(RepositoryError, match="did you mean 'resnet_chains'"):
        ModelRepository(tmp_path).facts("resnet_chain")
    (tmp_path / "resnet_chains").rename(tmp_path / "other")
    with pytest.raises(RepositoryError, match=r"\(add it, or correct its name\)"):
        ModelRepository(tmp_path).facts("resnet_chain")


@pytest.mark.parametrize(
    ("name", "streams"), [("two_streams", True), ("right", False), ("nested", False)]
)
def test_an_ensemble_with_a_decoupled_model_is_decoupled(
    repository: ModelRepository, name: str, streams: bool
) -> None:
    assert is_decoupled(repository.facts(name).config) is streams


def test_an_ensemble_needs_its_steps(tmp_path: Path) -> None:
    Ensemble(steps=[step("a")]).write(tmp_path / "chain")
    path = tmp_path / "chain" / "config.pbtxt"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "ensemble_scheduling" not in line))

    with pytest.raises(RepositoryError, match="platform ensemble and no ensemble_scheduling"):
        ModelRepository(tmp_path).facts("chain")


@pytest.mark.parametrize(
    ("policy", "versions"),
    [
        ({}, [5]),
        ({"latest": {}}, [5]),
        ({"latest": {"num_versions": 2}}, [3, 5]),
        ({"all": {}}, [1, 3, 5]),
        ({"specific": {"versions": (1, 4)}}, [1]),
    ],
)
def test_a_policy_chooses_versions(policy: dict[str, object], versions: list[int]) -> None:
    assert available_versions({"version_policy": policy}, [3, 1, 5]) == versions


def test_a_policy_without_a_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    PARTS["specific"].write(path, "")
    (path / "1" / "model.py").unlink()
    (path / "1").rmdir()

    with pytest.raises(RepositoryError, match="version_policy leaves none of the versions 2"):
        ModelRepository(tmp_path).facts("a")
