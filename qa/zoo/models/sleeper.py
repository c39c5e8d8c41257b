# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A model that answers after a known time, and does what the parameters of its config.pbtxt say.

ms                     so long takes an execution
ms_per_inference       and so much longer for each inference in it
us_per_element         and so much longer for each element of its inputs
responses, gap_ms      decoupled: so many answers to a request, so long apart
late_end               decoupled: the final flag comes alone, a gap after the last answer
error_every            each so manieth request is answered with an error
largest, above         an execution with more inferences raises, or: `exit`, `hang`
slow_every, slow_ms    each so manieth execution takes so much longer
first, first_ms        the first so many executions take so much longer
lock                   one execution at a time, of all instances
leak_kb                keeps so much memory after each execution
load_ms                so long takes loading
text, checked          answers with this text; raises unless each text input is made of it

Executions keep a beat: what starts less than 10 ms after the end of the last one is as if it had
started at that end. So the throughput of a busy instance follows from the parameters alone.
"""

import fcntl
import json
import os
import tempfile
import time

import numpy as np
import triton_python_backend_utils as pb

BEAT_S = 0.01
NAMES = (
    "ms", "ms_per_inference", "us_per_element", "responses", "gap_ms", "late_end", "error_every",
    "largest", "slow_every", "slow_ms", "first", "first_ms", "lock", "leak_kb", "load_ms",
)  # fmt: skip


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        """Fills in what the file leaves out: four numbers in, four out, batches of 4."""
        if not config.as_dict()["input"]:
            config.set_max_batch_size(4)
            config.add_input({"name": "INPUT", "data_type": "TYPE_FP32", "dims": [4]})
            config.add_output({"name": "OUTPUT", "data_type": "TYPE_FP32", "dims": [4]})
            config.set_dynamic_batching()
        return config

    def initialize(self, args):
        self.config = json.loads(args["model_config"])
        given = {k: v["string_value"] for k, v in self.config.get("parameters", {}).items()}
        self.does = {name: float(given.get(name, 0)) for name in NAMES}
        if "ms" not in given:
            self.does["ms"] = 20.0
        self.above = given.get("above", "raise")
        self.text = given.get("text", "word").encode()
        self.checked = "checked" in given
        self.batched = self.config["max_batch_size"] > 0
        policy = self.config.get("model_transaction_policy", {})
        self.decoupled = policy.get("decoupled", False)
        self.executions = self.requests = 0
        self.end = 0.0
        self.kept = []
        name = f"zoo-{os.getppid()}-{args['model_name']}"
        self.path = os.path.join(tempfile.gettempdir(), name)
        self.lock = os.open(self.path, os.O_RDWR | os.O_CREAT) if self.does["lock"] else None
        time.sleep(self.does["load_ms"] / 1000)

    def execute(self, requests):
        inferences = sum(self.size(request) for request in requests)
        if self.does["largest"] and inferences > self.does["largest"]:
            self.fail(inferences)
        if self.checked:
            self.check(requests)
        if self.lock is not None:
            fcntl.lockf(self.lock, fcntl.LOCK_EX)
        self.wait(self.milliseconds(requests, inferences) / 1000)
        if self.lock is not None:
            fcntl.lockf(self.lock, fcntl.LOCK_UN)
        if self.does["leak_kb"]:
            self.kept.append(os.urandom(int(self.does["leak_kb"] * 1000)))
        if self.decoupled:
            return self.stream(requests)
        return [self.answer(request) for request in requests]

    def fail(self, inferences):
        if self.above == "exit":
            os._exit(1)
        if self.above == "hang":
            time.sleep(3600)
        raise RuntimeError(f"out of memory: a batch of {inferences}")

    def milliseconds(self, requests, inferences):
        does = self.does
        self.executions += 1
        total = does["ms"] + does["ms_per_inference"] * inferences
        if does["us_per_element"]:
            elements = sum(int(np.prod(t.shape())) for r in requests for t in r.inputs())
            total += does["us_per_element"] * elements / 1000
        if does["slow_every"] and self.executions % does["slow_every"] == 0:
            total += does["slow_ms"]
        if self.executions <= does["first"]:
            total += does["first_ms"]
        return total

    def wait(self, seconds):
        now = time.monotonic()
        start = self.end if now - self.end < BEAT_S and self.lock is None else now
        self.end = start + seconds
        time.sleep(max(0.0, self.end - time.monotonic()))

    def size(self, request):
        tensors = request.inputs()
        return int(tensors[0].shape()[0]) if self.batched and tensors else 1

    def check(self, requests):
        for request in requests:
            for tensor in request.inputs():
                values = tensor.as_numpy()
                if values.dtype == np.object_ and not all(self.text in v for v in values.flat):
                    raise ValueError(f"{tensor.name()} is {values.flat[0]!r}, not {self.text!r}")

    def stream(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            for number in range(int(self.does["responses"])):
                if number:
                    self.wait(self.does["gap_ms"] / 1000)
                sender.send(self.answer(request))
            if self.does["late_end"]:
                self.wait(self.does["gap_ms"] / 1000)
            sender.send(flags=pb.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

    def answer(self, request):
        self.requests += 1
        if self.does["error_every"] and self.requests % self.does["error_every"] == 0:
            return pb.InferenceResponse(error=pb.TritonError("no answer to this one"))
        wanted = set(request.requested_output_names())
        outputs = [o for o in self.config["output"] if o["name"] in wanted]
        return pb.InferenceResponse([self.output(o, self.size(request)) for o in outputs])

    def output(self, output, rows):
        reshape = output.get("reshape", {}).get("shape")
        dims = output["dims"] if reshape is None else reshape
        shape = [max(1, int(size)) for size in dims]
        if self.batched:
            shape = [rows, *shape]
        kind = pb.triton_string_to_numpy(output["data_type"])
        if kind == np.object_:
            return pb.Tensor(output["name"], np.full(shape, self.text, dtype=kind))
        return pb.Tensor(output["name"], np.zeros(shape, dtype=kind))

    def finalize(self):
        if self.lock is not None:
            os.close(self.lock)
            if os.path.exists(self.path):
                os.unlink(self.path)
