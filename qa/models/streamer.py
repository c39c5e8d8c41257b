# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Streams `responses` answers, each after `ms`, and ends the stream with a flag alone or, with
`ends` = last, with the last answer.
"""

import json
import time

import numpy as np
import triton_python_backend_utils as pb_utils

FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        given = {name: value["string_value"] for name, value in config["parameters"].items()}
        self.responses, self.seconds = int(given["responses"]), float(given["ms"]) / 1000
        self.ends = given["ends"]
        self.outputs = {output["name"]: output["data_type"] for output in config["output"]}

    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            for number in range(1, self.responses + 1):
                time.sleep(self.seconds)
                is_last = number == self.responses and self.ends == "last"
                sender.send(self.response(number), **({"flags": FINAL} if is_last else {}))
            if self.ends != "last" or not self.responses:
                sender.send(flags=FINAL)

    def response(self, number):
        tensors = []
        for name, kind in self.outputs.items():
            is_text = kind == "TYPE_STRING"
            value = np.array([b"word"], object) if is_text else np.array([number], np.float32)
            tensors.append(pb_utils.Tensor(name, value))
        return pb_utils.InferenceResponse(tensors)
