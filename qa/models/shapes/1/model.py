# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Inputs that nobody can make up: a free number of rows, another one of columns, and text."""

import triton_python_backend_utils as pb


class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        rows = pb.get_input_tensor_by_name(request, "ROWS").as_numpy()
        return pb.InferenceResponse(output_tensors=[pb.Tensor("SUMS", rows.sum(axis=-1))])
