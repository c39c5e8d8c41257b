# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Has no config.pbtxt: says itself what it takes and gives."""

import triton_python_backend_utils as pb


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "IN", "data_type": "TYPE_FP32", "dims": [4]})
        config.add_output({"name": "OUT", "data_type": "TYPE_FP32", "dims": [4]})
        config.set_max_batch_size(8)
        config.set_dynamic_batching()
        return config

    def execute(self, requests):
        return [
            pb.InferenceResponse(
                output_tensors=[
                    pb.Tensor("OUT", pb.get_input_tensor_by_name(request, "IN").as_numpy())
                ]
            )
            for request in requests
        ]
