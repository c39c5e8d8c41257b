# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A model that holds GPU memory and keeps a GPU busy, with nothing but the CUDA driver.

Each instance holds `hold_mb` MiB of its GPU, and for each item of a batch it fills and copies
`work_mb` MiB there. The answer is twice the question.
"""

import ctypes
import json

import triton_python_backend_utils as pb

_MIB = 1 << 20


class Cuda:
    """The few calls of the CUDA driver that this takes, on one device."""

    def __init__(self, device):
        self._library = ctypes.CDLL("libcuda.so.1")
        self._device = ctypes.c_int()
        self._context = ctypes.c_void_p()
        self._call("cuInit", ctypes.c_uint(0))
        self._call("cuDeviceGet", ctypes.byref(self._device), ctypes.c_int(device))
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), self._device)
        self.attach()

    def attach(self):
        """Makes the device that of the calling thread."""
        self._call("cuCtxSetCurrent", self._context)

    def allocate(self, size):
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address

    def free(self, address):
        self._call("cuMemFree_v2", address)

    def fill(self, address, value, size):
        self._call("cuMemsetD8_v2", address, ctypes.c_ubyte(value), ctypes.c_size_t(size))

    def copy(self, target, source, size):
        self._call("cuMemcpyDtoD_v2", target, source, ctypes.c_size_t(size))

    def wait(self):
        self._call("cuCtxSynchronize")

    def close(self):
        self._call("cuDevicePrimaryCtxRelease_v2", self._device)

    def _call(self, name, *arguments):
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            words = "out of memory" if status == 2 else "see CUresult in cuda.h"
            raise pb.TritonModelException(f"{name}: CUDA error {status}: {words}")


class TritonPythonModel:
    def initialize(self, args):
        parameters = json.loads(args["model_config"]).get("parameters", {})
        hold = int(parameters["hold_mb"]["string_value"]) * _MIB
        self._work = int(parameters["work_mb"]["string_value"]) * _MIB
        self._cuda = Cuda(int(args["model_instance_device_id"]))
        self._half = hold // 2
        self._memory = self._cuda.allocate(hold)
        # memory that was never written may not be there yet
        self._cuda.fill(self._memory, 0, hold)
        self._cuda.wait()

    def execute(self, requests):
        questions = [pb.get_input_tensor_by_name(r, "INPUT").as_numpy() for r in requests]
        self._cuda.attach()
        self._keep_busy(self._work * sum(len(question) for question in questions))
        return [
            pb.InferenceResponse(output_tensors=[pb.Tensor("OUTPUT", question * 2)])
            for question in questions
        ]

    def finalize(self):
        self._cuda.attach()
        self._cuda.free(self._memory)
        self._cuda.close()

    def _keep_busy(self, size):
        upper = ctypes.c_uint64(self._memory.value + self._half)
        for start in range(0, size, self._half):
            part = min(self._half, size - start)
            self._cuda.fill(self._memory, start % 251, part)
            self._cuda.copy(upper, self._memory, part)
        self._cuda.wait()
