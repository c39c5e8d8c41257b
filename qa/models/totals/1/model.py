# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Adds up the values of each sequence: what it answers depends on what came before."""

import numpy as np
import triton_python_backend_utils as pb


class TritonPythonModel:
    def initialize(self, args):
        self.totals = {}

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        value, start, end, sequence = (
            pb.get_input_tensor_by_name(request, name).as_numpy()
            for name in ("VALUE", "START", "END", "SEQUENCE")
        )
        key = int(sequence.flat[0])
        before = 0 if start.flat[0] else self.totals.get(key, 0)
        total = (value + before).astype(np.int32)
        if end.flat[0]:
            self.totals.pop(key, None)
        else:
            self.totals[key] = int(total.flat[0])
        return pb.InferenceResponse(output_tensors=[pb.Tensor("TOTAL", total)])
