# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The sum of two short vectors."""

import triton_python_backend_utils as pb


class TritonPythonModel:
    def execute(self, requests):
        replies = []
        for request in requests:
            a = pb.get_input_tensor_by_name(request, "INPUT0").as_numpy()
            b = pb.get_input_tensor_by_name(request, "INPUT1").as_numpy()
            replies.append(pb.InferenceResponse(output_tensors=[pb.Tensor("OUTPUT", a + b)]))
        return replies
