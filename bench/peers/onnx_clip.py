"""OpenCV before 4.7 reads a Clip node's bounds as attributes only, as ONNX wrote them before opset 11: rewritten here, on the
protobuf wire format itself, since Debian's OpenCV comes without a library for ONNX files. Nothing else of a file changes."""

MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_INITIALIZER = 1, 5
NODE_INPUT, NODE_OUTPUT, NODE_OP_TYPE, NODE_ATTRIBUTE = 1, 2, 4, 5
ATTRIBUTE_NAME, ATTRIBUTE_FLOAT, ATTRIBUTE_TENSOR, ATTRIBUTE_TYPE = 1, 2, 5, 20
TENSOR_FLOATS, TENSOR_NAME, TENSOR_RAW = 4, 8, 9
VARINT, I64, BYTES, I32 = 0, 1, 2, 5
TYPE_FLOAT = 1


def with_clip_attributes(model):
    """The ONNX file `model` (bytes), each Clip with constant bounds turned into the older form."""
    return b"".join(
        write(number, wire, rewrite_graph(value) if number == MODEL_GRAPH else value)
        for number, wire, value in read(model)
    )


def rewrite_graph(graph):
    fields = list(read(graph))
    constants = {}
    for number, _, value in fields:
        if number == GRAPH_INITIALIZER:
            keep_scalar(constants, first(value, TENSOR_NAME), value)
        elif number == GRAPH_NODE and first(value, NODE_OP_TYPE) == b"Constant":
            tensor = first(first(value, NODE_ATTRIBUTE), ATTRIBUTE_TENSOR)
            if tensor is not None:
                keep_scalar(constants, first(value, NODE_OUTPUT), tensor)
    return b"".join(
        write(number, wire, rewrite_node(value, constants) if number == GRAPH_NODE else value)
        for number, wire, value in fields
    )


def rewrite_node(node, constants):
    fields = list(read(node))
    inputs = [value for number, _, value in fields if number == NODE_INPUT]
    if first(node, NODE_OP_TYPE) != b"Clip" or len(inputs) != 3:
        return node
    kept = [field for field in fields if field[0] != NODE_INPUT]
    bounds = [
        (NODE_ATTRIBUTE, BYTES, attribute(name, constants[bytes(source)]))
        for name, source in zip((b"min", b"max"), inputs[1:])
    ]
    return b"".join(write(*field) for field in [(NODE_INPUT, BYTES, inputs[0]), *kept, *bounds])


def attribute(name, raw_float):
    return (
        write(ATTRIBUTE_NAME, BYTES, name)
        + write(ATTRIBUTE_FLOAT, I32, raw_float)
        + write(ATTRIBUTE_TYPE, VARINT, TYPE_FLOAT)
    )


def keep_scalar(constants, name, tensor):
    raw = first(tensor, TENSOR_RAW) or first(tensor, TENSOR_FLOATS)
    if raw is not None and len(raw) == 4:
        constants[bytes(name)] = raw


def first(message, wanted):
    return next((value for number, _, value in read(message) if number == wanted), None)


def read(message):
    """Field number, wire type and value of each field."""
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        wire = key & 7
        if wire == VARINT:
            value, at = read_varint(message, at)
        else:
            if wire == BYTES:
                length, at = read_varint(message, at)
            else:
                length = 4 if wire == I32 else 8
            value, at = message[at : at + length], at + length
        yield key >> 3, wire, value


def read_varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def write(number, wire, value):
    head = write_varint(number << 3 | wire)
    if wire == VARINT:
        return head + write_varint(value)
    return head + (write_varint(len(value)) if wire == BYTES else b"") + bytes(value)


def write_varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
