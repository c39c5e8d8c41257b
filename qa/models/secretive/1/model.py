# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Has no config.pbtxt, and does not say what it takes and gives."""


class TritonPythonModel:
    def execute(self, requests):
        raise NotImplementedError
