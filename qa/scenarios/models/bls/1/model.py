# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Passes two vectors on to the model that a third input names, and gives back what it says."""

import triton_python_backend_utils as pb


class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        (name,) = pb.get_input_tensor_by_name(request, "MODEL_NAME").as_numpy()
        vectors = [pb.get_input_tensor_by_name(request, key) for key in ("INPUT0", "INPUT1")]
        called = pb.InferenceRequest(
            model_name=name.decode(), inputs=vectors, requested_output_names=["OUTPUT"]
        ).exec()
        if called.has_error():
            raise pb.TritonModelException(called.error().message())
        return pb.InferenceResponse(output_tensors=[pb.get_output_tensor_by_name(called, "OUTPUT")])
