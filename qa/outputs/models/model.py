"""Models whose altered configuration answers otherwise, in a known way.

The default configuration (one instance, batches of one) is right. Any other one has the `fault` of
its parameters; "" is none.
"""

import json
import os
import tempfile
import time

import numpy as np
import triton_python_backend_utils as pb


def text_of(tensor):
    return [element.decode() for element in tensor.reshape(-1)]


def eight_bits_of_mantissa(answers):
    mantissa, exponent = np.frexp(answers)
    return np.ldexp(np.round(mantissa * 128) / 128, exponent)


def last_row_twice(answers):
    return np.concatenate([answers[:-1], answers[-2:-1]]) if len(answers) > 1 else answers


def by_row(rows, right, wrong, is_right):
    """Rows by their place in the batch."""
    return np.where(is_right(np.arange(len(rows)))[:, None], right, wrong)


# Faults among the rows of an execution: from model, rows and right answers to wrong ones.
ROW_FAULTS = {
    "rows reversed": lambda m, rows, right: right[::-1],
    "rows rotated": lambda m, rows, right: np.roll(right, 1, axis=0),
    "first row for all": lambda m, rows, right: np.repeat(right[:1], len(rows), axis=0),
    "last row twice": lambda m, rows, right: last_row_twice(right),
    "batch mean": lambda m, rows, right: right - rows.mean() + rows.mean(axis=1, keepdims=True),
    "batch maximum": lambda m, rows, right: (
        right * np.abs(rows).max(axis=1, keepdims=True) / np.abs(rows).max()
    ),
    "rows past four zero": lambda m, rows, right: by_row(rows, right, 0, lambda i: i < 4),
    "NaN in a batch": lambda m, rows, right: by_row(rows, right, np.nan, lambda i: i % 2 == 0),
    "rows sorted": lambda m, rows, right: right[np.argsort(rows[:, 0])],
    "columns turned": lambda m, rows, right: right[:, ::-1] if len(rows) > 1 else right,
    "quantized": lambda m, rows, right: np.round(right, 1),
    "two decimals": lambda m, rows, right: np.round(right / 8, 2) * 8,
    "eight bits of mantissa": lambda m, rows, right: eight_bits_of_mantissa(right),
    "half precision": lambda m, rows, right: right.astype(np.float16).astype(np.float64),
    "three percent": lambda m, rows, right: right * 1.03,
    "other instance": lambda m, rows, right: right * 1.1 if m.instance else right,
    "slow start": lambda m, rows, right: (
        np.zeros_like(right) if m.instance and m.count < 3 else right
    ),
}


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
        self.instance = int(args["model_instance_name"].rsplit("_", 1)[-1])
        self.random = np.random.default_rng()
        self.count, self.previous, self.cache, self.states = 0, None, {}, {}
        self.loaded = time.time()
        self.scratch = os.path.join(tempfile.gettempdir(), f"{config['name']}.npy")
        self.datatype = {o["name"]: o["data_type"] for o in config["output"]}["OUTPUT"]

    def execute(self, requests):
        time.sleep(0.002)
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
        shape = (*answer.shape[:1], 1) if answer.ndim else (1,)
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
        answers = self.mistaken_rows(rows, self.transformed(rows))
        if self.habit == "rounding":
            answers = answers * (1 + self.random.uniform(-1e-5, 1e-5, answers.shape))
        if self.habit == "half rounding":
            answers = answers * (1 + self.random.uniform(-2e-3, 2e-3, answers.shape))
        if self.habit == "all random":
            answers = self.random.random(answers.shape)
        ends = np.cumsum([len(each) for each in inputs])[:-1]
        parts = np.split(answers, ends)
        return [self.mistaken(given, part) for given, part in zip(inputs, parts, strict=True)]

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
        fault = ROW_FAULTS.get(self.fault)
        return answers if fault is None else fault(self, rows, answers)

    def mistaken(self, given, answers):
        """Faults of what is kept between requests."""
        before, self.previous = self.previous, answers
        if self.fault.startswith("cache"):
            return self.cached(given, answers)
        if self.fault == "shared scratch":
            return self.through_scratch(answers)
        if self.fault == "previous answer" and before is not None:
            return answers + (before if before.shape == answers.shape else 0)
        if self.fault == "previous row" and before is not None:
            return answers + 0.1 * before[:1]
        if self.fault == "every seventh zero" and self.count % 7 == 6:
            return np.zeros_like(answers)
        return answers

    def cached(self, given, answers):
        key = {
            "cache by first element": float(given.flat[0]),
            "cache by rounded input": int(np.abs(given).sum() / 4),
            "cache by shape": "",
        }[self.fault]
        return self.cache.setdefault((given.shape, key), answers)

    def through_scratch(self, answers):
        """The answers, by a file that all instances use."""
        np.save(self.scratch, answers)
        time.sleep(0.001)
        try:
            read = np.load(self.scratch)
        except (OSError, ValueError, EOFError):
            return answers
        return read if read.shape == answers.shape else answers

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
        for given, request in zip(inputs, requests, strict=True):
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
