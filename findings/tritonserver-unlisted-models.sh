#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# tritonserver 2.51.0 (of nvidia-pytriton 0.7.0) does not list a model that was loaded from files in
# the request (`file:` parameters), as PyTriton loads all of its models: the model is ready, has a
# configuration and answers, but the index of the repository is empty, also with ready=true. Another
# load with a configuration alone is refused, and an unload takes the model away for good.
#
# Guess before: the index has every model that is ready, whatever it was loaded from.
#
# Seen: index [], ready, one inference answered; another load, and one after an unload: "failed to
# load 'm', failed to poll from model repository".
#
# Needs Linux on x86_64 with glibc 2.35, Python 3.9 to 3.12 with venv, and a shared libpython.
set -euo pipefail

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet 'numpy==1.26.4' 'tritonclient[grpc]==2.64.0'
"$work/env/bin/pip" install --quiet --no-deps --target "$work/rt" \
    nvidia-pytriton==0.7.0
triton=$work/rt/pytriton/tritonserver libs=$work/rt/nvidia_pytriton.libs
version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
cp "$triton/python_backend_stubs/$version/triton_python_backend_stub" "$triton/backends/python/"
ln -s libb64-98cb6333.so.0d "$libs/libb64.so.0d"
ln -s libcudart-09529672.so.12.6.77 "$libs/libcudart.so.12"
chmod +x "$triton/bin/tritonserver" "$triton/backends/python/triton_python_backend_stub"
export LD_LIBRARY_PATH=$libs:$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
export PATH=$work/env/bin:$PATH

cat > "$work/model.py" <<'MODEL'
import numpy as np
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        return [pb.InferenceResponse([pb.Tensor("Y", np.ones(1, np.float32))]) for _ in requests]
MODEL
mkdir -p "$work/models"

read -r http grpc metrics < <(python3 - <<'PORTS'
import socket
sockets = [socket.socket() for _ in range(3)]
for each in sockets:
    each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))
PORTS
)
"$triton/bin/tritonserver" --model-repository "$work/models" \
    --backend-directory "$triton/backends" --disable-auto-complete-config --model-control-mode explicit \
    --http-address 127.0.0.1 --http-port "$http" --grpc-address 127.0.0.1 --grpc-port "$grpc" \
    --metrics-port "$metrics" > "$work/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    (exec 3<> "/dev/tcp/127.0.0.1/$grpc") 2> /dev/null && break
    sleep 0.2
done
sleep 2

cd "$work"
"$work/env/bin/python" - "127.0.0.1:$grpc" <<'CHECK'
import json, sys, time
import numpy as np
import tritonclient.grpc as grpc

client = grpc.InferenceServerClient(sys.argv[1])
config = {
    "name": "m", "backend": "python",
    "input": [{"name": "X", "data_type": "TYPE_FP32", "dims": [1]}],
    "output": [{"name": "Y", "data_type": "TYPE_FP32", "dims": [1]}],
    "instance_group": [{"kind": "KIND_CPU"}],
}
client.load_model(
    "m", config=json.dumps(config), files={"file:1/model.py": open("model.py", "rb").read()}
)
tensor = grpc.InferInput("X", [1], "FP32")
tensor.set_data_from_numpy(np.zeros(1, np.float32))
answer = client.infer("m", [tensor]).as_numpy("Y")
listed = [model.name for model in client.get_model_repository_index().models]
print(f"ready: {client.is_model_ready('m')}, answer: {answer}, index: {listed}")
assert client.is_model_ready("m") and answer == 1, "the model does not serve"
if listed:
    sys.exit("changed: in 2.51.0, the index was empty")
try:
    client.load_model("m", config=json.dumps({**config, "max_batch_size": 0}))
    sys.exit("changed: in 2.51.0, it could not be loaded again")
except grpc.InferenceServerException as error:
    print(f"load with another configuration: {error.message()}")
client.unload_model("m")
for _ in range(100):
    if not client.is_model_ready("m"):
        break
    time.sleep(0.1)
try:
    client.load_model("m")
    sys.exit("changed: in 2.51.0, it could not be loaded after it was unloaded")
except grpc.InferenceServerException as error:
    print(f"load after unload: {error.message()}")
CHECK
