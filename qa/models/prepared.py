# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A model that answers with its input, and does what its parameters say meanwhile.

sleep_ms, spin_ms      waits, or computes in a loop of Python, so long for each execution
slots                  at most so many executions at the same time, of all instances (0: any)
slow_share, slow_ms    of this share of the executions, each waits so much longer
leak_kb                keeps so much memory after each execution
cold_s, cold_ms        for so many seconds after loading, each execution waits so much longer
slower_each_min        each execution waits longer by this share for each minute since loading
still_s, still_each_s  waits once for so long each time so many seconds have passed
"""

import fcntl
import json
import os
import random
import tempfile
import time

import triton_python_backend_utils as pb


class TritonPythonModel:
    def initialize(self, args):
        raw = json.loads(args["model_config"]).get("parameters", {})
        names = (
            "sleep_ms",
            "spin_ms",
            "slots",
            "slow_share",
            "slow_ms",
            "leak_kb",
            "cold_s",
            "cold_ms",
            "slower_each_min",
            "still_s",
            "still_each_s",
        )
        self.number = {n: float(raw.get(n, {}).get("string_value", 0)) for n in names}
        self.began = time.monotonic()
        self.still_at = self.began + self.number["still_each_s"]
        self.kept = []
        # the slots of a server and a model are bytes of one file
        name = f"slots-{os.getppid()}-{args['model_name']}"
        self.path = os.path.join(tempfile.gettempdir(), name)
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT)

    def execute(self, requests):
        slot = self.take_slot()
        time.sleep(self.waiting_ms() / 1000)
        self.spin(self.number["spin_ms"] / 1000)
        if self.number["leak_kb"]:
            self.kept.append(os.urandom(int(self.number["leak_kb"] * 1000)))
        if slot is not None:
            fcntl.lockf(self.file, fcntl.LOCK_UN, 1, slot)
        tensors = [pb.get_input_tensor_by_name(request, "INPUT") for request in requests]
        return [pb.InferenceResponse([pb.Tensor("OUTPUT", t.as_numpy())]) for t in tensors]

    def waiting_ms(self):
        number = self.number
        time_ms = number["sleep_ms"]
        if random.random() < number["slow_share"]:
            time_ms += number["slow_ms"]
        now = time.monotonic()
        if now - self.began < number["cold_s"]:
            time_ms += number["cold_ms"]
        time_ms *= 1 + number["slower_each_min"] * (now - self.began) / 60
        if number["still_each_s"] and now > self.still_at:
            self.still_at += number["still_each_s"]
            time_ms += 1000 * number["still_s"]
        return time_ms

    def spin(self, seconds):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass

    def take_slot(self):
        count = int(self.number["slots"])
        for slot in range(count):
            try:
                fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, slot)
                return slot
            except OSError:
                pass
        if count:
            slot = os.getpid() % count
            fcntl.lockf(self.file, fcntl.LOCK_EX, 1, slot)
            return slot
        return None

    def finalize(self):
        os.close(self.file)
        if os.path.exists(self.path):
            os.unlink(self.path)
