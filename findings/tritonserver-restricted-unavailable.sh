#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# tritonserver 2.51.0 (of nvidia-pytriton 0.7.0) answers a call that --grpc-restricted-protocol
# forbids with UNAVAILABLE, the status of a server that is away, after which clients of gRPC try
# again. Over HTTP, the same refusal is 403.
#
# Guess before: PERMISSION_DENIED or UNAUTHENTICATED, as gRPC defines them.
#
# Seen: statistics are restricted, and the header is missing: gRPC says UNAVAILABLE, "This protocol
# is restricted, expecting header 'triton-grpc-protocol-key'"; HTTP has status 403.
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
cat > "$work/models/m/config.pbtxt" <<'CONFIG'
backend: "python"
input [ { name: "X" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "Y" data_type: TYPE_FP32 dims: [ 1 ] } ]
instance_group [ { kind: KIND_CPU } ]
CONFIG
cat > "$work/models/m/1/model.py" <<'MODEL'
import numpy as np
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        return [pb.InferenceResponse([pb.Tensor("Y", np.ones(1, np.float32))]) for _ in requests]
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
    --backend-directory "$triton/backends" --disable-auto-complete-config \
    --grpc-restricted-protocol=statistics:key=value --http-restricted-api=statistics:key=value \
    --http-address 127.0.0.1 --http-port "$http" --grpc-address 127.0.0.1 --grpc-port "$grpc" \
    --metrics-port "$metrics" > "$work/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    (exec 3<> "/dev/tcp/127.0.0.1/$grpc") 2> /dev/null && break
    sleep 0.2
done
sleep 2

"$work/env/bin/python" - "127.0.0.1:$grpc" "http://127.0.0.1:$http/v2/models/m/stats" <<'CHECK'
import sys
import urllib.error
import urllib.request
import tritonclient.grpc as grpc

client = grpc.InferenceServerClient(sys.argv[1])
assert client.is_model_ready("m")
statuses = []
try:
    client.get_inference_statistics("m")
    statuses.append("OK")
except grpc.InferenceServerException as error:
    print(error.status(), error.message())
    statuses.append(error.status())
try:
    statuses.append(urllib.request.urlopen(sys.argv[2]).status)
except urllib.error.HTTPError as error:
    print("HTTP", error.code, error.read().decode())
    statuses.append(error.code)
client.get_inference_statistics("m", headers={"triton-grpc-protocol-key": "value"})
if statuses != ["StatusCode.UNAVAILABLE", 403]:
    sys.exit(f"changed: in 2.51.0, the statuses were UNAVAILABLE and 403, these are {statuses}")
CHECK
