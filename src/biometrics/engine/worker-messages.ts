/**
 * What the service takes from its workers. A picture may have taken one over, and what is said of lengths and numbers is
 * computed with: an embedding that claims a thousand million dimensions would stop the service.
 */
import Type, { type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { WorkerMessage, WorkerTask } from '../channel/engine-protocol.js'
import { ENGINE_STAGES } from '../stages.js'

const text = Type.String()
const number = Type.Number()
const count = Type.Integer({ minimum: 0 })
const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

const ready = Type.Object({
  kind: Type.Literal('ready'),
  provider: Type.Object({
    active: text,
    fallbacks: Type.Array(Type.Object({ provider: text, reason: text })),
  }),
})
const incident = Type.Object({
  kind: Type.Union([Type.Literal('worker_lost'), Type.Literal('worker_load_failed')]),
  reason: text,
})
const failure = Type.Object({
  ok: Type.Literal(false),
  code: Type.Union(
    [
      'image_unreadable',
      'image_too_large',
      'image_too_small',
      'face_not_found',
      'multiple_faces',
      'face_too_small',
      'low_quality',
      'liveness_failed',
      'engine_unavailable',
    ].map((code) => Type.Literal(code)),
  ),
  message: text,
  imageIndex: Type.Optional(count),
  detail: Type.Optional(text),
})
const timings = Type.Object(
  Object.fromEntries(ENGINE_STAGES.map((stage) => [stage, Type.Optional(number)])),
  { additionalProperties: false },
)
const box = Type.Object({ x: number, y: number, width: number, height: number })
const quality = Type.Object({
  score: number,
  faceWidthPx: number,
  detection: number,
  sharpness: number,
  brightness: number,
  contrast: number,
})
const liveness = Type.Object({
  checked: Type.Boolean(),
  score: nullable(number),
  passed: nullable(Type.Boolean()),
})
const images = Type.Array(
  Type.Object({
    format: Type.Union([Type.Literal('jpeg'), Type.Literal('png'), Type.Literal('webp')]),
    width: count,
    height: count,
  }),
)

/** Tells whether a message may be believed to be one, and whether a reply answers the task that it is to. */
export interface MessageCheck {
  isMessage(message: unknown): message is WorkerMessage
  isReplyTo(type: WorkerTask['type'], reply: unknown): boolean
}

/** @param dimensions of the pack's embeddings */
export function messageCheck(dimensions: number): MessageCheck {
  const vector = Type.Refine(
    Type.Unsafe<Float32Array>({}),
    (value) => value instanceof Float32Array && value.length === dimensions,
  )
  const landmarks = nullable(Type.Array(Type.Tuple([number, number])))
  const sample = Type.Object({ imageIndex: count, box, landmarks, quality, liveness, embedding: vector })
  const answer = (value: TSchema) =>
    Compile(Type.Union([failure, Type.Object({ ok: Type.Literal(true), value, timingsMs: timings })]))
  const answers = {
    enrol: answer(Type.Object({ samples: Type.Array(sample, { minItems: 1 }), reference: vector })),
    verify: answer(Type.Object({ sample, score: number })),
    compare: answer(Type.Object({ samples: Type.Tuple([sample, sample]), score: number })),
    inspect: answer(Type.Object({ images })),
    fault: answer(Type.Object({})),
  }
  const message = Compile(
    Type.Union([
      ready,
      incident,
      Type.Object({ kind: Type.Literal('reply'), id: count, reply: Type.Unknown() }),
    ]),
  )
  return {
    isMessage: (value): value is WorkerMessage => message.Check(value),
    isReplyTo: (type, reply) => answers[type].Check(reply),
  }
}
