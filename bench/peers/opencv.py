"""OpenCV's dnn module on the networks that the suite names: one process, one line an order."""

import json
import sys
import time

import cv2
import numpy as np
from onnx_clip import with_clip_attributes

MIN_MEASURED = 3
SCORE_THRESHOLD = 0.5
NMS_IOU = 0.3
STRIDES = (8, 16, 32)
# The five points of the ArcFace template for 112x112, as FaceRecognizerSF.alignCrop uses them.
TEMPLATE = np.array(
    [[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]]
)

answers = sys.stdout
sys.stdout = sys.stderr

with open(sys.argv[1], encoding="utf-8") as file:
    setup = json.load(file)
networks = setup["networks"]


def read_network(path):
    with open(path, "rb") as network:
        return cv2.dnn.readNetFromONNX(np.frombuffer(with_clip_attributes(network.read()), np.uint8))


# FaceDetectorYN of this OpenCV expects an older YuNet's outputs, so they are decoded here, as later versions do.
detector = read_network(networks["fixedDetector"])
detector_outputs = [f"{head}_{stride}" for stride in STRIDES for head in ("cls", "obj", "bbox", "kps")]
embedder = read_network(networks["embedder"])


def detect(image):
    """The largest face after non-maximum suppression: its five points [5, 2] in pixels; None without a face."""
    height, width = image.shape[:2]
    padded = cv2.copyMakeBorder(image, 0, -height % 32, 0, -width % 32, cv2.BORDER_CONSTANT)
    detector.setInput(cv2.dnn.blobFromImage(padded))
    outputs = dict(zip(detector_outputs, detector.forward(detector_outputs)))
    boxes, scores, points = [], [], []
    for stride in STRIDES:
        cls, obj, bbox, kps = (outputs[f"{head}_{stride}"][0] for head in ("cls", "obj", "bbox", "kps"))
        score = np.sqrt(np.clip(cls[:, 0], 0, 1) * np.clip(obj[:, 0], 0, 1))
        cells = np.flatnonzero(score >= SCORE_THRESHOLD)
        columns = padded.shape[1] // stride
        corner = np.stack([cells % columns, cells // columns], 1)
        size = np.exp(bbox[cells, 2:]) * stride
        boxes.append(np.hstack([(corner + bbox[cells, :2]) * stride - size / 2, size]))
        scores.append(score[cells])
        points.append((corner[:, None] + kps[cells].reshape(-1, 5, 2)) * stride)
    boxes, scores, points = (np.concatenate(parts) for parts in (boxes, scores, points))
    kept = cv2.dnn.NMSBoxes(boxes.tolist(), scores.tolist(), SCORE_THRESHOLD, NMS_IOU)
    if len(kept) == 0:
        return None
    return points[max(np.ravel(kept), key=lambda face: boxes[face, 2])]


def similarity(points):
    """The least-squares rotation, scale and shift of five points onto the template, in closed form."""
    source_mean, target_mean = points.mean(0), TEMPLATE.mean(0)
    source, target = points - source_mean, TEMPLATE - target_mean
    spread = (source**2).sum()
    a = (source * target).sum() / spread
    b = (source[:, 0] * target[:, 1] - source[:, 1] * target[:, 0]).sum() / spread
    turn = np.array([[a, -b], [b, a]])
    return np.hstack([turn, (target_mean - turn @ source_mean)[:, None]])


def embed(encoded):
    """The largest face's embedding, of length 1; None without a face."""
    image = cv2.imdecode(encoded, cv2.IMREAD_COLOR)
    points = detect(image)
    if points is None:
        return None
    chip = cv2.warpAffine(image, similarity(points.astype(np.float64)), (112, 112))
    embedder.setInput(cv2.dnn.blobFromImage(chip, 1 / 128, (112, 112), (127.5, 127.5, 127.5), swapRB=True))
    vector = embedder.forward().ravel().astype(np.float32)
    return vector / np.linalg.norm(vector)


def read(path):
    return np.fromfile(path, np.uint8)


probes = [read(path) for path in setup["images"]]
reference = embed(read(setup["enrolImage"]))
if reference is None:
    sys.exit("no face was found in the enrolment picture")


def loop(order):
    cv2.setNumThreads(order["threads"])
    # CLOCK_MONOTONIC, which Node's hrtime reads as well.
    count_from = time.monotonic() + order["warmUpSeconds"]
    end = count_from + order["seconds"]
    latencies, done_at = [], []
    turn = order["firstTurn"]
    began = time.monotonic()
    while began < end or len(latencies) < MIN_MEASURED:
        vector = embed(probes[turn % len(probes)])
        if vector is None:
            raise RuntimeError("no face was found in a picture")
        float(vector @ reference)
        done = time.monotonic()
        turn += 1
        if began >= count_from:
            latencies.append((done - began) * 1000)
            done_at.append(done * 1000)
        began = done
    return {"latenciesMs": latencies, "doneAtMs": done_at}


def evaluate(order):
    vectors = [embed(read(path)) for path in order["photos"]]
    return {
        "missed": sum(vector is None for vector in vectors),
        "scores": [
            None if vectors[a] is None or vectors[b] is None else float(vectors[a] @ vectors[b])
            for a, b in order["pairs"]
        ],
    }


def answer(document):
    answers.write(json.dumps(document) + "\n")
    answers.flush()


answer({"ready": True, "version": cv2.__version__})
for line in sys.stdin:
    order = json.loads(line)
    try:
        answer(evaluate(order) if order["type"] == "evaluate" else loop(order))
    except Exception as error:  # the suite tells it
        answer({"error": repr(error)})
