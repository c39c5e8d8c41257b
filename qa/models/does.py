# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A model that answers with its input, and does what its parameters say meanwhile.

sleep_ms, item_ms      waits so long for each execution, and for each inference of a batch
random                 the waiting time is exponential (1) or uniform (2) around that, or log-normal
                       with that as its median and a p99 of 1.8 times as much (3)
spin_ms                computes in a loop of Python
slots, slot_ms         waits so long while holding one of so many slots of all instances
weak_ms                the first instance waits so much longer than the others
crowd                  waits so many times as long for each other instance that executes
every, every_ms        each such execution of an instance waits so much longer
pause_s, pause_ms      all instances stand still so long, in each period of so many seconds
first, first_ms        the first executions of an instance wait so much longer
grow_ms                each execution waits so much longer than the last one
cliff, cliff_ms        a batch of more inferences than that waits so much longer
leak_kb, keep_mb       keeps so much memory after each execution, or once
floats                 answers with so many numbers instead of its input
answers, gap_ms        a decoupled model sends so many answers, so long apart
"""

import collections
import fcntl
import json
import mmap
import os
import random
import tempfile
import time

import numpy as np
import triton_python_backend_utils as pb

PLACES = 64


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        raw = config["parameters"]
        values = {name: float(each["string_value"]) for name, each in raw.items()}
        self.has_batches = config["max_batch_size"] > 0
        self.does = collections.defaultdict(float, values)
        self.count, self.kept = 0, []
        # what all instances of a server and a model share
        path = os.path.join(tempfile.gettempdir(), f"kind-{os.getppid()}-{args['model_name']}")
        self.file = os.open(path, os.O_RDWR | os.O_CREAT)
        os.ftruncate(self.file, 2 * PLACES)
        self.shared = mmap.mmap(self.file, 2 * PLACES)
        self.place = PLACES + int(args["model_instance_name"].rsplit("_", 1)[1])
        self.shared[self.place] = 0
        self.is_weak = self.place == PLACES
        if self.does["keep_mb"]:
            self.wanted = int(self.does["keep_mb"] * 1e6)

    def execute(self, requests):
        self.count += 1
        self.shared[self.place] = 1
        self.stand_still()
        time.sleep(self.waiting_ms(self.inferences(requests)) / 1000)
        self.hold_slot()
        self.spin()
        self.keep()
        self.shared[self.place] = 0
        if self.does["answers"]:
            return self.send(requests)
        return [pb.InferenceResponse([self.output(request)]) for request in requests]

    def inferences(self, requests):
        if not self.has_batches:
            return len(requests)
        inputs = (pb.get_input_tensor_by_name(request, "INPUT") for request in requests)
        return sum(each.shape()[0] for each in inputs)

    def waiting_ms(self, batch):
        does = self.does
        time_ms = does["sleep_ms"] + batch * does["item_ms"]
        if does["random"] == 1:
            time_ms = random.expovariate(1 / time_ms)
        elif does["random"] == 2:
            time_ms = random.uniform(0.5, 1.5) * time_ms
        elif does["random"] == 3:
            time_ms *= random.lognormvariate(0, 0.25)
        others = sum(self.shared[PLACES : 2 * PLACES]) - 1
        time_ms *= 1 + does["crowd"] * others
        if does["every"] and self.count % does["every"] == 0:
            time_ms += does["every_ms"]
        if self.is_weak:
            time_ms += does["weak_ms"]
        if self.count <= does["first"]:
            time_ms += does["first_ms"]
        if does["cliff"] and batch > does["cliff"]:
            time_ms += does["cliff_ms"]
        return time_ms + self.count * does["grow_ms"]

    def stand_still(self):
        if self.does["pause_s"]:
            left = self.does["pause_ms"] / 1000 - time.time() % self.does["pause_s"]
            time.sleep(max(left, 0))

    def hold_slot(self):
        count = int(self.does["slots"])
        if not count:
            return
        slot = self.free_slot(count)
        time.sleep(self.does["slot_ms"] / 1000)
        fcntl.lockf(self.file, fcntl.LOCK_UN, 1, slot)

    def free_slot(self, count):
        for slot in range(count):
            try:
                fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, slot)
            except OSError:
                continue
            return slot
        slot = os.getpid() % count
        fcntl.lockf(self.file, fcntl.LOCK_EX, 1, slot)
        return slot

    def spin(self):
        end = time.thread_time() + self.does["spin_ms"] / 1000
        while time.thread_time() < end:
            pass

    def keep(self):
        if self.does["leak_kb"]:
            self.kept.append(os.urandom(int(self.does["leak_kb"] * 1000)))
        if self.does["keep_mb"] and self.count == 10:
            self.kept.append(b"x" * self.wanted)

    def output(self, request):
        array = pb.get_input_tensor_by_name(request, "INPUT").as_numpy()
        if self.does["floats"]:
            array = np.zeros([*array.shape[:-1], int(self.does["floats"])], np.float32)
        return pb.Tensor("OUTPUT", array)

    def send(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            for _ in range(int(self.does["answers"])):
                time.sleep(self.does["gap_ms"] / 1000)
                sender.send(pb.InferenceResponse([self.output(request)]))
            sender.send(flags=pb.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        return None

    def finalize(self):
        os.close(self.file)
