# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which models and servers lose something if they are killed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import psutil
import pytest

from model_analyzer.domain.trials import ServerSetup
from model_analyzer.runner.server.unloading import acts_at_end, acts_when_unloaded

PLAIN = "import numpy as np\n\n\nclass TritonPythonModel:\n    def execute(self, requests): ...\n"
PYTHON: Mapping[str, Any] = {"name": "m", "backend": "python"}


def model(directory: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory


def test_a_python_model_without_an_end_does_nothing(tmp_path: Path) -> None:
    directory = model(tmp_path, {"1/model.py": PLAIN, "2/model.py": PLAIN, "2/net.py": "x = 1"})

    assert not acts_when_unloaded(directory, PYTHON)


@pytest.mark.parametrize(
    "source",
    [
        PLAIN + "\n    def finalize(self):\n        self.file.close()\n",
        PLAIN + "\n    def __del__(self): ...\n",
        "import atexit\n" + PLAIN,
        PLAIN.replace("TritonPythonModel:", "TritonPythonModel(Base):"),
        "from mine import TritonPythonModel\n",
    ],
)
def test_a_python_model_with_an_end_may_act(tmp_path: Path, source: str) -> None:
    assert acts_when_unloaded(model(tmp_path, {"1/model.py": source}), PYTHON)


def test_a_module_of_the_model_may_act(tmp_path: Path) -> None:
    directory = model(tmp_path, {"1/model.py": PLAIN, "1/net.py": "import atexit\n"})

    assert acts_when_unloaded(directory, PYTHON)


def test_what_cannot_be_read_may_act(tmp_path: Path) -> None:
    assert acts_when_unloaded(tmp_path / "missing", PYTHON)
    assert acts_when_unloaded(model(tmp_path, {"1/model.pyc": ""}), PYTHON)
    other = {**PYTHON, "default_model_filename": "other.py"}
    assert acts_when_unloaded(model(tmp_path, {"1/model.py": PLAIN}), other)


def test_only_python_models_show_what_they_do(tmp_path: Path) -> None:
    assert acts_when_unloaded(tmp_path, {"backend": "onnxruntime"})
    assert not acts_when_unloaded(tmp_path, {"ensemble_scheduling": {"step": ()}})


class Named:
    """A process of which only name and number are known."""

    def __init__(self, pid: int, name: str) -> None:
        self.pid = pid
        self._name = name

    def name(self) -> str:
        return self._name


def tree(*names: str) -> list[psutil.Process]:
    return [cast(psutil.Process, Named(pid, name)) for pid, name in enumerate(names)]


STUB = "triton_python_backend_stub"[:15]


def test_a_server_alone_loses_nothing() -> None:
    assert not acts_at_end(tree("tritonserver", STUB, STUB), ServerSetup())


@pytest.mark.parametrize(
    ("names", "setup"),
    [
        (["nsys", "tritonserver"], ServerSetup()),
        (["python3"], ServerSetup()),
        ([], ServerSetup()),
        (["tritonserver"], ServerSetup(flags={"trace-config": "triton,file=/tmp/trace"})),
        (["tritonserver"], ServerSetup(environment={"LD_PRELOAD": "libprofiler.so"})),
    ],
)
def test_a_server_with_something_around_it_may_write(names: list[str], setup: ServerSetup) -> None:
    assert acts_at_end(tree(*names), setup)
