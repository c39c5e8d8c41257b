#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
#
# perf_analyzer 2.51.0 (tritonclient 2.51.0) cannot measure a server that speaks the standard KServe
# v2 protocol and nothing else, over neither HTTP nor gRPC: it asks for the configuration of the
# model, which is an extension of Triton, and ends before it sends a request. Over HTTP, it blames
# its own parsing: the server's refusal has no member "error".
#
# The same was seen with perf_analyzer 2.36, 2.41, 2.44 and 2.48.
#
# Guess before: "--service-kind triton" needs the standard calls only, and warns of the others.
#
# Seen with MLServer 1.7.1: its model answers an inference request, and perf_analyzer says
#   http: failed to get model config: attempt to access non-existing object member 'error'
#   grpc: failed to get model config: Method not found!
#
# Needs Linux on x86_64 with glibc 2.35, Python 3.9 to 3.12 with venv, and a shared libpython.
set -euo pipefail

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT

python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet mlserver==1.7.1
"$work/env/bin/pip" install --quiet --no-deps --target "$work/rt" \
    nvidia-pytriton==0.7.0 tritonclient==2.51.0
libs=$work/rt/nvidia_pytriton.libs
ln -s libb64-98cb6333.so.0d "$libs/libb64.so.0d"
ln -s libcudart-09529672.so.12.6.77 "$libs/libcudart.so.12"
chmod +x "$work/rt/bin/perf_analyzer"

mkdir "$work/model"
cat > "$work/model/echo.py" <<'MODEL'
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse

class Echo(MLModel):
    async def predict(self, payload):
        numbers = NumpyCodec.decode_input(payload.inputs[0])
        output = NumpyCodec.encode_output("Y", numbers)
        return InferenceResponse(model_name=self.name, outputs=[output])
MODEL
cat > "$work/model/model-settings.json" <<'SETTINGS'
{"name": "echo", "implementation": "echo.Echo",
 "inputs": [{"name": "X", "datatype": "FP32", "shape": [1, 4]}],
 "outputs": [{"name": "Y", "datatype": "FP32", "shape": [1, 4]}]}
SETTINGS
read -r http grpc metrics < <(python3 - <<'PORTS'
import socket
sockets = [socket.socket() for _ in range(3)]
for each in sockets:
    each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))
PORTS
)
cat > "$work/model/settings.json" <<SETTINGS
{"host": "127.0.0.1", "http_port": $http, "grpc_port": $grpc, "metrics_port": $metrics,
 "parallel_workers": 0}
SETTINGS
(cd "$work" && exec env/bin/mlserver start model) > "$work/server.log" 2>&1 &
server=$!

request='{"inputs": [{"name": "X", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}]}'
answer=
for _ in $(seq 150); do
    answer=$(curl --silent --max-time 5 -H "Content-Type: application/json" -d "$request" \
        "http://127.0.0.1:$http/v2/models/echo/infer" || true)
    [[ $answer == *'"Y"'* ]] && break
    sleep 0.4
done
echo "the model answers: $answer"
[[ $answer == *'[1.0,2.0,3.0,4.0]'* ]] || { echo "the server did not start"; exit 1; }

export LD_LIBRARY_PATH=$libs:$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
measure() {
    local status=0
    timeout 60 "$work/rt/bin/perf_analyzer" -m echo -i "$1" -u "127.0.0.1:$2" --request-count 5 \
        > "$work/output" 2>&1 || status=$?
    said=$(grep -o "failed to get model config.*" "$work/output" || true)
    echo "$1: status $status, $said"
    [[ $status == 99 && $said == "failed to get model config: $3"* ]] ||
        { echo "changed: expected status 99 and \"failed to get model config: $3\""; exit 1; }
}
measure http "$http" "attempt to access non-existing object member 'error'"
measure grpc "$grpc" "Method not found!"
