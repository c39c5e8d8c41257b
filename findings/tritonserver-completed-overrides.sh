#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# tritonserver 2.51.0 (of nvidia-pytriton 0.7.0) lets the auto_complete_config of a Python model win over
# the configuration in a load request (and in config.pbtxt): set_max_batch_size(8) raises any smaller
# max_batch_size to 8, also 0, which is "no batching"; set_dynamic_batching() adds a dynamic batcher
# to a configuration without one. The load succeeds, without a warning. Only a larger size is refused.
# So a search for the best max_batch_size that loads one configuration after the other measures the
# same one again and again, unless the server has --disable-auto-complete-config.
#
# Guess before: a smaller value that is given stays. The README of python_backend's example auto_complete
# says so: a configuration can have a different value if it does not exceed that of the model file.
#
# Seen: loads with max_batch_size 2, 0 (both without a dynamic batcher) and 8 all end with 8 and a
# dynamic batcher; for 2, the server has preferred_batch_size [2] if the request has dynamic_batching.
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

mkdir -p "$work/models/m/1"
echo 'backend: "python"' > "$work/models/m/config.pbtxt"
cat > "$work/models/m/1/model.py" <<'MODEL'
class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "X", "data_type": "TYPE_FP32", "dims": [1]})
        config.add_output({"name": "Y", "data_type": "TYPE_FP32", "dims": [1]})
        config.set_max_batch_size(8)
        config.set_dynamic_batching()
        return config

    def execute(self, requests):
        raise NotImplementedError
MODEL

read -r http grpc metrics < <(python3 - <<'PORTS'
import socket
sockets = [socket.socket() for _ in range(3)]
for each in sockets:
    each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))
PORTS
)
"$triton/bin/tritonserver" --model-repository "$work/models" \
    --backend-directory "$triton/backends" --model-control-mode explicit \
    --http-address 127.0.0.1 --http-port "$http" --grpc-address 127.0.0.1 --grpc-port "$grpc" \
    --metrics-port "$metrics" > "$work/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    (exec 3<> "/dev/tcp/127.0.0.1/$grpc") 2> /dev/null && break
    sleep 0.2
done
sleep 2

python3 - "$grpc" <<'CLIENT'
import json
import sys
import tritonclient.grpc
client = tritonclient.grpc.InferenceServerClient(f"127.0.0.1:{sys.argv[1]}")
given = {
    "name": "m",
    "backend": "python",
    "input": [{"name": "X", "data_type": "TYPE_FP32", "dims": [1]}],
    "output": [{"name": "Y", "data_type": "TYPE_FP32", "dims": [1]}],
    "instance_group": [{"kind": "KIND_CPU"}],
}
def load(**changes):
    client.load_model("m", config=json.dumps({**given, **changes}), client_timeout=60)
    config = client.get_model_config("m").config
    preferred = [*config.dynamic_batching.preferred_batch_size]
    used = config.max_batch_size, config.HasField("dynamic_batching"), preferred
    print(f"given {changes}: max_batch_size {used[0]}, dynamic batcher {used[1]}, preferred {used[2]}")
    return used
found = [
    load(max_batch_size=2),
    load(max_batch_size=0),
    load(max_batch_size=2, dynamic_batching={}),
    load(max_batch_size=8, dynamic_batching={}),
]
if found != [(8, True, [8]), (8, True, [8]), (8, True, [2]), (8, True, [8])]:
    sys.exit("changed: expected max_batch_size 8 and a dynamic batcher in all, [2] in the third")
CLIENT
