"""A model that streams the letters of a text in upper case, or calls another one twice at once.

As in model.py, any configuration but the default has the `fault` of its parameters.
"""

import json
import threading
import time

import numpy as np
import triton_python_backend_utils as pb


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        parameters = {k: v["string_value"] for k, v in config["parameters"].items()}
        instances = sum(int(group["count"]) for group in config["instance_group"])
        self.fault = parameters["fault"] if instances > 1 else ""
        self.kind = parameters["kind"]
        self.busy = 0
        self.last = ""

    def execute(self, requests):
        if self.kind == "calls":
            return [self.called(request) for request in requests]
        for request in requests:
            threading.Thread(target=self.answer, args=(request,)).start()
        return None

    def called(self, request):
        """Twice the answer of the part to the input, less that to the negative input."""
        time.sleep(0.002)
        given = pb.get_input_tensor_by_name(request, "INPUT").as_numpy()
        first, second = given, -given
        if self.fault == "parallel steps swapped":
            first, second = second, first
        answers = [
            pb.InferenceRequest(
                model_name="part", requested_output_names=["OUTPUT"],
                inputs=[pb.Tensor("INPUT", each)],
            ).exec()
            for each in (first, second)
        ]  # fmt: skip
        a, b = (pb.get_output_tensor_by_name(each, "OUTPUT").as_numpy() for each in answers)
        if self.fault == "step left out":
            b = np.zeros_like(a)
        return pb.InferenceResponse(output_tensors=[pb.Tensor("OUTPUT", 2 * a - b)])

    def answer(self, request):
        sender = request.get_response_sender()
        text = pb.get_input_tensor_by_name(request, "INPUT").as_numpy().reshape(-1)[0].decode()
        self.busy += 1
        words = [word + " " for word in text.upper().split()]
        if self.fault == "chunk lost" and len(words) > 1:
            words = words[:-1]
        if self.fault == "chunks turned":
            words = words[::-1]
        if self.fault == "chunk of another" and self.busy > 1:
            words = [self.last, *words[1:]]
        time.sleep(0.002)
        for word in words:
            self.last = word
            tensor = pb.Tensor("OUTPUT", np.array([word.encode()], dtype=np.object_))
            sender.send(pb.InferenceResponse(output_tensors=[tensor]))
        self.busy -= 1
        sender.send(flags=pb.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
