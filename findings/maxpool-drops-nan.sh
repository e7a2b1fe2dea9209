#!/usr/bin/env bash
# Guess: ONNX Runtime carries a NaN through a network in the same way on every platform, so a NaN in a picture makes the
# embedding NaN, and a check of the result finds it.
# What happens: MaxPool of onnxruntime-node keeps a NaN only where it is the last value of its window; in the other
# three places of a window of 2 by 2 it is dropped. MaxPool of onnxruntime-web, of the same version, keeps all four.
# Why it matters: a division by zero in the preparation of a picture gives a plausible embedding on the server and NaN
# in the browser. Whoever builds face verification has to check the input of a network, not its result.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true}' >package.json
npm install --silent --ignore-scripts --no-audit --no-fund onnxruntime-node@1.30.0 onnxruntime-web@1.30.0
cat >seen.mjs <<'EOF'
import { createRequire } from 'node:module'
import * as web from 'onnxruntime-web'

const native = createRequire(import.meta.url)('onnxruntime-node')
// A model of one node, in the wire format of Protocol Buffers: x of 1 by 1 by 4 by 4 through MaxPool of 2 by 2 to y.
const number = (value) => (value < 128 ? Buffer.from([value]) : Buffer.from([(value & 127) | 128, value >> 7]))
const int = (field, value) => Buffer.concat([number(field << 3), number(value)])
const bytes = (field, ...parts) => {
  const all = Buffer.concat(parts.map((part) => Buffer.from(part)))
  return Buffer.concat([number((field << 3) | 2), number(all.length), all])
}
const ints = (name, ...values) => bytes(5, bytes(1, name), ...values.map((value) => int(8, value)), int(20, 7))
const tensor = (field, name, ...shape) => {
  const dimensions = bytes(2, ...shape.map((size) => bytes(1, int(1, size))))
  return bytes(field, bytes(1, name), bytes(2, bytes(1, int(1, 1), dimensions)))
}
const node = bytes(
  1,
  ...[bytes(1, 'x'), bytes(2, 'y'), bytes(4, 'MaxPool')],
  ...[ints('kernel_shape', 2, 2), ints('strides', 2, 2)],
)
const graph = bytes(7, node, bytes(2, 'g'), tensor(11, 'x', 1, 1, 4, 4), tensor(12, 'y', 1, 1, 2, 2))
const model = Buffer.concat([int(1, 8), graph, bytes(8, int(2, 17))])

const input = new Float32Array(16).fill(-1)
// One window each, at its first, second, third and last place.
for (const at of [0, 3, 12, 15]) input[at] = Number.NaN
web.env.wasm.numThreads = 1
const run = async (runtime) => {
  const session = await runtime.InferenceSession.create(model)
  const { y } = await session.run({ x: new runtime.Tensor('float32', input, [1, 1, 4, 4]) })
  return [...y.data].join(' ')
}
const seen = [await run(native), await run(web)].join(' | ')
console.log(`onnxruntime-node and onnxruntime-web ${web.env.versions.web}`)
console.log('Expected, native | web: NaN NaN NaN NaN | NaN NaN NaN NaN')
console.log(`Seen, native | web: ${seen}`)

if (!(seen === '-1 -1 -1 NaN | NaN NaN NaN NaN')) {
  console.log('The behaviour has changed.')
  process.exit(1)
}
EOF
node seen.mjs
