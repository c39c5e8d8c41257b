"""Models whose altered configuration answers otherwise, in a known way.

The default configuration (one instance, batches of one) is right. Any other one has the `fault` of
its parameters; "" is none. The default is slow, so that the altered one is recommended.
"""

import json
import os
import tempfile
import time

import numpy as np
import triton_python_backend_utils as pb

WEIGHTS = np.arange(1, 9, dtype=np.float64) / 4


def text_of(tensor):
    return [element.decode() for element in tensor.reshape(-1)]


class TritonPythonModel:
    def initialize(self, args):
        config = json.loads(args["model_config"])
        parameters = {k: v["string_value"] for k, v in config["parameters"].items()}
        self.kind, fault = parameters["kind"], parameters["fault"]
        instances = sum(int(group["count"]) for group in config["instance_group"])
        is_altered = instances > 1 or int(config["max_batch_size"]) > 1
        self.fault = fault if is_altered else ""
        # what is no fault, whatever the configuration
        self.habit = parameters["habit"]
        self.sleep_s = 0.001 if is_altered else 0.012
        self.instance = int(args["model_instance_name"].rsplit("_", 1)[-1])
        self.random = np.random.default_rng()
        self.count, self.previous, self.cache, self.states = 0, None, {}, {}
        self.loaded = time.time()
        self.scratch = os.path.join(tempfile.gettempdir(), f"scratch-{config['name']}")
        self.datatype = {o["name"]: o["data_type"] for o in config["output"]}["OUTPUT"]

    def execute(self, requests):
        time.sleep(self.sleep_s)
        inputs = [pb.get_input_tensor_by_name(each, "INPUT").as_numpy() for each in requests]
        make = {
            "text": self.texts, "free": self.free, "sum": self.sums, "flag": self.flags,
        }.get(self.kind, self.numbers)  # fmt: skip
        answers = make(inputs, requests)
        if self.fault == "requests swapped" and len(answers) > 1:
            answers = self.swapped(answers)
        return [self.response(answer) for answer in answers]

    def swapped(self, answers):
        """Answers of equal shapes, each with that of the request before."""
        turned = [*answers[-1:], *answers[:-1]]
        alike = len({each.shape for each in answers}) == 1
        return turned if alike else answers

    def response(self, answer):
        types = {"TYPE_FP16": np.float16, "TYPE_FP32": np.float32, "TYPE_FP64": np.float64,
                 "TYPE_INT32": np.int32, "TYPE_BOOL": np.bool_}  # fmt: skip
        output = answer if self.kind == "text" else answer.astype(types[self.datatype])
        tensors = [pb.Tensor("OUTPUT", output)]
        shape = answer.shape[:1] + (1,) if answer.ndim else (1,)
        self.count += 1
        beside = {
            "random": self.random.random(shape),
            "time": np.full(shape, time.time()),
            "count": np.full(shape, float(self.count)),
            "process": np.full(shape, float(os.getpid())),
            "loaded": np.full(shape, self.loaded),
        }.get(self.habit, np.zeros(shape))
        tensors.append(pb.Tensor("BESIDE", beside.astype(np.float64)))
        return pb.InferenceResponse(output_tensors=tensors)

    # -- floats, rows of eight -----------------------------------------------------------------

    def numbers(self, inputs, requests):
        rows = np.concatenate(inputs).astype(np.float64)
        answers = self.transformed(rows)
        answers = self.mistaken_rows(rows, answers)
        if self.habit == "rounding":
            answers = answers * (1 + self.random.uniform(-1e-5, 1e-5, answers.shape))
        if self.habit == "half rounding":
            answers = answers * (1 + self.random.uniform(-2e-3, 2e-3, answers.shape))
        if self.habit == "all random":
            answers = self.random.random(answers.shape)
        ends = np.cumsum([len(each) for each in inputs])[:-1]
        parts = np.split(answers, ends)
        return [self.mistaken(given, part) for given, part in zip(inputs, parts)]

    def transformed(self, rows):
        scale = {"other version": 3.02, "other order": 3.0}.get(self.fault, 3.0)
        if self.fault == "other order":
            return (rows + 1) * scale + rows.sum(axis=1, keepdims=True)
        answers = rows * scale + 1 + rows.sum(axis=1, keepdims=True)
        if self.datatype == "TYPE_INT32":
            answers = self.whole(answers)
        return answers

    def whole(self, answers):
        if self.fault == "eight bits":
            return answers.astype(np.int64).astype(np.int8)
        if self.fault == "clipped":
            return np.minimum(answers, 127)
        return answers + (1 if self.fault == "off by one" else 0)

    def mistaken_rows(self, rows, answers):
        """Faults among the rows of an execution."""
        count = len(rows)
        match self.fault:
            case "rows reversed":
                return answers[::-1]
            case "rows rotated":
                return np.roll(answers, 1, axis=0)
            case "first row for all":
                return np.repeat(answers[:1], count, axis=0)
            case "last row twice" if count > 1:
                return np.concatenate([answers[:-1], answers[-2:-1]])
            case "batch mean":
                return answers - rows.mean() + rows.mean(axis=1, keepdims=True)
            case "batch maximum":
                return answers * np.abs(rows).max(axis=1, keepdims=True) / np.abs(rows).max()
            case "rows past four zero":
                return np.where(np.arange(count)[:, None] < 4, answers, 0)
            case "NaN in a batch":
                return np.where(np.arange(count)[:, None] % 2 == 1, np.nan, answers)
            case "rows sorted":
                return answers[np.argsort(rows[:, 0])]
            case "columns turned":
                return answers[:, ::-1] if count > 1 else answers
            case "quantized":
                return np.round(answers, 1)
            case "two decimals":
                return np.round(answers / 8, 2) * 8
            case "eight bits of mantissa":
                mantissa, exponent = np.frexp(answers)
                return np.ldexp(np.round(mantissa * 128) / 128, exponent)
            case "half precision":
                return answers.astype(np.float16).astype(np.float64)
            case "three percent":
                return answers * 1.03
            case "other instance" if self.instance == 1:
                return answers * 1.1
            case "slow start" if self.count < 3 and self.instance == 1:
                return np.zeros_like(answers)
        return answers

    def mistaken(self, given, answers):
        """Faults of what is kept between requests."""
        before, self.previous = self.previous, answers
        match self.fault:
            case "previous answer" if before is not None and before.shape == answers.shape:
                return answers + before
            case "previous row" if before is not None:
                return answers + 0.1 * before[:1]
            case "every seventh zero" if self.count % 7 == 6:
                return np.zeros_like(answers)
            case "cache by first element":
                return self.cache.setdefault((given.shape, float(given.flat[0])), answers)
            case "cache by rounded input":
                return self.cache.setdefault((given.shape, int(np.abs(given).sum() / 4)), answers)
            case "cache by shape" if self.count > 2:
                return self.cache.setdefault(given.shape, answers)
            case "shared scratch":
                np.save(self.scratch + ".npy", answers)
                time.sleep(0.001)
                try:
                    read = np.load(self.scratch + ".npy")
                except (OSError, ValueError, EOFError):
                    return answers
                return read if read.shape == answers.shape else answers
        return answers

    # -- rows of any length --------------------------------------------------------------------

    def free(self, inputs, requests):
        longest = max(each.shape[-1] for each in inputs)
        return [self.free_one(each.astype(np.float64), longest) for each in inputs]

    def free_one(self, given, longest):
        size = given.shape[-1]
        if self.fault == "padding to eight":
            longest = -(-size // 8) * 8
        missing = longest - size
        if self.fault and missing:
            wide = np.pad(given, [(0, 0)] * (given.ndim - 1) + [(0, missing)])
            if self.fault in ("padding kept", "padding to eight"):
                return wide - wide.mean(axis=-1, keepdims=True)
            if self.fault == "padding in the mean":
                return given - wide.mean(axis=-1, keepdims=True)
        if self.fault == "last element lost" and size > 1:
            return given[..., :-1] - given.mean(axis=-1, keepdims=True)
        return given - given.mean(axis=-1, keepdims=True)

    # -- flags, texts, sequences ---------------------------------------------------------------

    def flags(self, inputs, requests):
        answers = []
        for given in inputs:
            answer = given.astype(np.float64).sum(axis=-1, keepdims=True) > 0
            if self.fault == "flags of later rows inverted":
                answer[1:] = ~answer[1:]
            if self.fault == "borderline flags":
                answer = given.astype(np.float64).sum(axis=-1, keepdims=True) > 0.7
            answers.append(answer)
        return answers

    def texts(self, inputs, requests):
        answers = []
        for given in inputs:
            answer = [self.text(each) for each in text_of(given)]
            answers.append(
                np.array([each.encode() for each in answer], dtype=np.object_).reshape(given.shape)
            )
        return answers

    def text(self, given):
        answer = given.upper()
        if self.habit == "time":
            pass
        match self.fault:
            case "truncated at 64":
                return answer[:64]
            case "truncated at 16":
                return answer[:16]
            case "blank at the end":
                return answer + " "
            case "lower case":
                return given.lower()
            case "letter lost":
                return answer.replace("E", "", 1)
            case "cache by length":
                return self.cache.setdefault(len(given), answer)
            case "cache by prefix":
                return self.cache.setdefault(given[:8], answer)
        return answer

    def sums(self, inputs, requests):
        answers = []
        for given, request in zip(inputs, requests):
            start, identity = (
                pb.get_input_tensor_by_name(request, name).as_numpy().flat[0]
                for name in ("START", "CORRID")
            )
            key = 0 if self.fault == "one state for all" else int(identity)
            if start and self.fault != "state not reset":
                self.states[key] = 0.0
            if self.fault == "state not reset":
                key = 1
            if self.fault == "step forgotten" and self.count % 4 == 3:
                answers.append(np.full(given.shape, self.states.get(key, 0.0)))
                continue
            self.states[key] = self.states.get(key, 0.0) + float(given.sum())
            answers.append(np.full(given.shape, self.states[key]))
        return answers
