"""A pretend language model, made of sleeping: streams one token after another.

It answers up to `slots` requests at a time; the others wait. The first token
of an answer takes `first_ms`, each further one `next_ms`, and `share_ms` more
for every other answer that is being made meanwhile. So more slots give more
tokens per second, and each user slower ones; fewer slots make users wait for
their first token.

`words` is how many responses an answer has. Some real models end a stream
with an empty response (`closing` is 1), or put several tokens into a response
and say how many, if the request wants to know (`tokens`).
"""

import json
import threading
import time

import numpy as np
import triton_python_backend_utils as pb


class TritonPythonModel:
    def initialize(self, args):
        raw = json.loads(args["model_config"])["parameters"]
        self.parameters = {key: float(value["string_value"]) for key, value in raw.items()}
        self.slots = threading.Semaphore(int(self.parameters["slots"]))
        self.answering = 0

    def execute(self, requests):
        for request in requests:
            threading.Thread(target=self._answer, args=(request,)).start()

    def _answer(self, request):
        sender = request.get_response_sender()
        asked = pb.get_input_tensor_by_name(request, "return_num_output_tokens")
        is_told = asked is not None and asked.as_numpy().flat[0]
        with self.slots:
            self.answering += 1
            self._stream(sender, is_told)
            self.answering -= 1

    def _stream(self, sender, is_told):
        words, closing, tokens = (
            int(self.parameters[key]) for key in ("words", "closing", "tokens")
        )
        for number in range(words):
            self._think(is_first=number == 0)
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

    def _think(self, is_first):
        share = self.parameters["share_ms"] * (self.answering - 1)
        time.sleep((self.parameters["first_ms" if is_first else "next_ms"] + share) / 1000)
