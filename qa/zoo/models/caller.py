# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A model that calls the models of its parameter `calls`: one after the other, or all at once if
the parameter `at_once` is set.
"""

import asyncio
import json

import triton_python_backend_utils as pb


def call(model, array):
    return pb.InferenceRequest(
        model_name=model,
        requested_output_names=["OUTPUT"],
        inputs=[pb.Tensor("INPUT", array)],
    )


class TritonPythonModel:
    def initialize(self, args):
        parameters = json.loads(args["model_config"])["parameters"]
        self.calls = parameters["calls"]["string_value"].split(",")
        self.at_once = "at_once" in parameters

    async def execute(self, requests):
        responses = []
        for request in requests:
            array = pb.get_input_tensor_by_name(request, "INPUT").as_numpy()
            calls = [call(model, array) for model in self.calls]
            if self.at_once:
                replies = await asyncio.gather(*(each.async_exec() for each in calls))
            else:
                replies = [await each.async_exec() for each in calls]
            for reply in replies:
                if reply.has_error():
                    raise pb.TritonModelException(reply.error().message())
            output = pb.get_output_tensor_by_name(replies[-1], "OUTPUT").as_numpy()
            responses.append(pb.InferenceResponse([pb.Tensor("OUTPUT", output)]))
        return responses
