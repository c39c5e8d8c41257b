# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A text classifier: any number of tokens. The first answer of an instance takes long."""

import time

import numpy as np
import triton_python_backend_utils as pb


class TritonPythonModel:
    def initialize(self, args):
        self.is_cold = True

    def execute(self, requests):
        rows = [pb.get_input_tensor_by_name(each, "input_ids").as_numpy() for each in requests]
        time.sleep(1.0 if self.is_cold else 0.002 + 0.0002 * sum(map(len, rows)))
        self.is_cold = False
        return [self.answer(len(each)) for each in rows]

    def answer(self, count):
        logits = np.zeros((count, 2), np.float32)
        return pb.InferenceResponse(output_tensors=[pb.Tensor("logits", logits)])
