# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A load balancer for tests: it deals inference requests (gRPC) to several servers in turn.

    python qa/round_robin.py HOST:PORT HOST:PORT...

It prints the port on which it listens, and ends when its standard input ends. All other calls go to
the first server.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import grpc
import grpc.aio


class Dealer(grpc.GenericRpcHandler):
    """Passes calls on, without a look at their content."""

    def __init__(self, channels: Sequence[grpc.aio.Channel]) -> None:
        self._first = channels[0]
        self._turns: Iterator[grpc.aio.Channel] = itertools.cycle(channels)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        method = handler_call_details.method

        async def forward(request: bytes, context: grpc.aio.ServicerContext[Any, Any]) -> bytes:
            is_inference = method.endswith("/ModelInfer")
            channel = next(self._turns) if is_inference else self._first
            try:
                call: Any = channel.unary_unary(method)
                answer: bytes = await call(request)
            except grpc.aio.AioRpcError as error:
                await context.abort(error.code(), error.details() or "")
                raise
            return answer

        return grpc.unary_unary_rpc_method_handler(forward)


async def main(addresses: Sequence[str]) -> None:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Dealer([grpc.aio.insecure_channel(a) for a in addresses]),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    await server.start()
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await server.stop(None)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
