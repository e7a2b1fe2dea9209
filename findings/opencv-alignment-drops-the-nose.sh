#!/usr/bin/env bash
# Guess: estimateAffinePartial2D of OpenCV fits a face’s five landmarks to the template by least squares over all five,
# as Umeyama’s method does, which faces are usually aligned by.
# What happens: its default is RANSAC with a tolerance of 3 pixels. From 12 degrees of turn to the side on, the nose is
# left out as an outlier, and at 35 degrees only two of the five points count, so that an upright head comes out leaning
# by 3 degrees.
# Why it matters: the crop jumps while a head turns, and an embedding network that was trained on least squares sees
# faces that it never saw. Fit all points yourself.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet numpy==2.4.6 opencv-python-headless==5.0.0.93 2>/dev/null
cat >seen.py <<'EOF'
import cv2
import numpy as np

# The template of 112 by 112 pixels that ArcFace and SFace share, and a face in millimetres: eyes, tip of the nose, corners of the mouth.
TEMPLATE = np.float32([[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]])
FACE = np.array([[-31, -33, -25], [31, -33, -25], [0, 0, 0], [-25, 33, -22], [25, 33, -22]], float)


def turned(degrees):
    angle = np.radians(degrees)
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    return ((FACE @ turn.T)[:, :2] * 3 + 300).astype(np.float32)


def least_squares(points):
    rows, wanted = [], TEMPLATE.ravel()
    for x, y in points:
        rows += [[x, -y, 1, 0], [y, x, 0, 1]]
    a, b = np.linalg.lstsq(np.array(rows), wanted, rcond=None)[0][:2]
    return np.degrees(np.arctan2(b, a))


seen = []
for degrees in (10, 20, 36):
    points = turned(degrees)
    matrix, used = cv2.estimateAffinePartial2D(points, TEMPLATE)
    roll = np.degrees(np.arctan2(matrix[1, 0], matrix[0, 0]))
    seen.append((degrees, int(used.sum()), int(used[2, 0]), round(abs(roll)), round(abs(least_squares(points)))))
print("OpenCV", cv2.__version__)
print("Expected at 10, 20 and 36 degrees: 5, 5 and 5 points, roll 0")
print("Seen:", ", ".join(f"{count} points, nose {'in' if nose else 'out'}, roll {roll}" for _, count, nose, roll, _ in seen))
print("Least squares: roll", ", ".join(str(roll) for *_, roll in seen))
changed = [(count, nose, roll, fit) for _, count, nose, roll, fit in seen] != [(5, 1, 0, 0), (4, 0, 0, 0), (2, 0, 3, 1)]
if changed:
    print("The behaviour has changed.")
raise SystemExit(1 if changed else 0)
EOF
venv/bin/python seen.py
