"""OpenCV's FaceDetectorYN and dnn module, on the networks that the suite names: one process, one line an order."""

import json
import sys
import time

import cv2
import numpy as np

MIN_MEASURED = 3
SCORE_THRESHOLD = 0.5
NMS_IOU = 0.3
TOP_K = 5000
# The five points of the ArcFace template for 112x112, as FaceRecognizerSF.alignCrop uses them.
TEMPLATE = np.array(
    [[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]]
)

answers = sys.stdout
sys.stdout = sys.stderr

with open(sys.argv[1], encoding="utf-8") as file:
    setup = json.load(file)
networks = setup["networks"]
detector = cv2.FaceDetectorYN.create(networks["detector"], "", (320, 320), SCORE_THRESHOLD, NMS_IOU, TOP_K)
embedder = cv2.dnn.readNet(networks["embedder"])


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
    detector.setInputSize((image.shape[1], image.shape[0]))
    _, faces = detector.detect(image)
    if faces is None or len(faces) == 0:
        return None
    face = max(faces, key=lambda row: row[2])
    chip = cv2.warpAffine(image, similarity(face[4:14].reshape(5, 2).astype(np.float64)), (112, 112))
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
