# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Streams words like a language model: sleeps before the first and between the others.

Parameters: `first_ms`, `next_ms`, `words` (how many), `closing` (1: an empty last response behind
the words), `tokens` (how many each response is said to hold, if the request wants to know).
"""

import json
import threading
import time

import numpy as np
import triton_python_backend_utils as pb


class TritonPythonModel:
    def initialize(self, args):
        parameters = json.loads(args["model_config"]).get("parameters", {})
        self.parameters = {key: int(value["string_value"]) for key, value in parameters.items()}

    def execute(self, requests):
        for request in requests:
            threading.Thread(target=self.stream, args=(request,)).start()

    def stream(self, request):
        sender = request.get_response_sender()
        asked = pb.get_input_tensor_by_name(request, "return_num_output_tokens")
        is_told = asked is not None and asked.as_numpy().flat[0]
        words, closing, tokens = (self.parameters[key] for key in ("words", "closing", "tokens"))
        for number in range(words):
            time.sleep(self.parameters["next_ms" if number else "first_ms"] / 1000)
            tensors = [pb.Tensor("TEXT", np.array([b"word "], dtype=np.object_))]
            if is_told:
                tensors.append(pb.Tensor("num_output_tokens", np.array([tokens], dtype=np.uint32)))
            is_last = number == words - 1 and not closing
            sender.send(
                pb.InferenceResponse(output_tensors=tensors),
                flags=pb.TRITONSERVER_RESPONSE_COMPLETE_FINAL if is_last else 0,
            )
        if closing:
            sender.send(flags=pb.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
