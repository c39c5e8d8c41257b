"""The same as ensemble_chain, but called from code (BLS): scale, then add_sub."""

import triton_python_backend_utils as pb


def call(model, outputs, **inputs):
    """The outputs of another model of the server."""
    reply = pb.InferenceRequest(
        model_name=model,
        requested_output_names=outputs,
        inputs=[pb.Tensor(name, array) for name, array in inputs.items()],
    ).exec()
    if reply.has_error():
        raise pb.TritonModelException(f"{model}: {reply.error().message()}")
    return [pb.get_output_tensor_by_name(reply, name).as_numpy() for name in outputs]


class TritonPythonModel:
    def execute(self, requests):
        replies = []
        for request in requests:
            x = pb.get_input_tensor_by_name(request, "X").as_numpy()
            (scaled,) = call("scale", ["SCALED"], RAW=x)
            total, difference = call("add_sub", ["OUTPUT0", "OUTPUT1"], INPUT0=scaled, INPUT1=x)
            outputs = [pb.Tensor("SUM", total), pb.Tensor("DIFF", difference)]
            replies.append(pb.InferenceResponse(output_tensors=outputs))
        return replies
