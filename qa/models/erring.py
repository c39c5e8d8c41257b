# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Answers each request after 20 ms, and every tenth one with an error."""

import time

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.count = 0

    def execute(self, requests):
        responses = []
        for request in requests:
            time.sleep(0.02)
            self.count += 1
            if self.count % 10:
                tensor = pb_utils.get_input_tensor_by_name(request, "INPUT").as_numpy()
                response = pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT", tensor)])
            else:
                response = pb_utils.InferenceResponse(error=pb_utils.TritonError("out of luck"))
            responses.append(response)
        return responses
