#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# tritonserver 2.51.0 (of nvidia-pytriton 0.7.0) decodes nothing in the path of an HTTP request: a model
# named m:1 answers to /v2/models/m:1, and is unknown as /v2/models/m%3A1. Even %6D for m, which is
# the same address by RFC 3986, is another name. NVIDIA's client (tritonclient.http) encodes names,
# so over HTTP it reaches no model with one of : + @ = , in its name. Over gRPC, all are reached, and
# perf_analyzer, which encodes nothing, measures them over HTTP.
#
# Guess before: a server decodes the parts of a path, as clients encode them.
#
# Seen: status 200 for /v2/models/m:1 and /v2/models/m-1, 404 for /v2/models/m%3A1 and
# /v2/models/%6D-1; tritonclient 2.64.0 says "Request for unknown model: 'm%3A1' is not found".
# tritonclient 2.51.0 says the same.
#
# Needs Linux on x86_64 with glibc 2.35, Python 3.9 to 3.12 with venv, and a shared libpython.
set -euo pipefail

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet 'numpy==1.26.4' 'tritonclient[http]==2.64.0'
"$work/env/bin/pip" install --quiet --no-deps --target "$work/rt" \
    nvidia-pytriton==0.7.0 tritonclient==2.51.0
triton=$work/rt/pytriton/tritonserver libs=$work/rt/nvidia_pytriton.libs
version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
cp "$triton/python_backend_stubs/$version/triton_python_backend_stub" "$triton/backends/python/"
ln -s libb64-98cb6333.so.0d "$libs/libb64.so.0d"
ln -s libcudart-09529672.so.12.6.77 "$libs/libcudart.so.12"
chmod +x "$triton/bin/tritonserver" "$triton/backends/python/triton_python_backend_stub" \
    "$work/rt/bin/perf_analyzer"
export LD_LIBRARY_PATH=$libs:$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
export PATH=$work/env/bin:$PATH

for name in m-1 m:1; do
mkdir -p "$work/models/$name/1"
cat > "$work/models/$name/config.pbtxt" <<'CONFIG'
backend: "python"
input [ { name: "X" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "Y" data_type: TYPE_FP32 dims: [ 1 ] } ]
instance_group [ { kind: KIND_CPU } ]
CONFIG
cat > "$work/models/$name/1/model.py" <<'MODEL'
import numpy as np
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        return [pb.InferenceResponse([pb.Tensor("Y", np.ones(1, np.float32))]) for _ in requests]
MODEL
done

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
    --http-address 127.0.0.1 --http-port "$http" --grpc-address 127.0.0.1 --grpc-port "$grpc" \
    --metrics-port "$metrics" > "$work/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    (exec 3<> "/dev/tcp/127.0.0.1/$grpc") 2> /dev/null && break
    sleep 0.2
done
sleep 2

status() { curl --silent --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$http$1"; }
plain=$(status /v2/models/m:1) encoded=$(status /v2/models/m%3A1)
other=$(status /v2/models/m-1) letter=$(status /v2/models/%6D-1)
said=$(python3 - <<CLIENT
import tritonclient.http
client = tritonclient.http.InferenceServerClient("127.0.0.1:$http")
try:
    print(client.get_model_config("m:1")["name"])
except Exception as error:
    print(error)
CLIENT
)
echo "/v2/models/m:1 $plain, /v2/models/m%3A1 $encoded"
echo "/v2/models/m-1 $other, /v2/models/%6D-1 $letter"
echo "tritonclient.http: $said"
[[ "$plain $encoded $other $letter" == "200 404 200 404" ]] ||
    { echo "changed: in 2.51.0, these are 200 404 200 404" >&2; exit 1; }
[[ $said == *"unknown model: 'm%3A1'"* ]] ||
    { echo "changed: the client reaches m:1" >&2; exit 1; }
