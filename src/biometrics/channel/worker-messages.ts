/**
 * Messages from workers to the service, as schemas. A picture may have compromised a worker, and the service computes
 * with the lengths and numbers of its messages: an embedding that claims a thousand million dimensions would stop the
 * service.
 */
import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { PHOTO_GUIDANCE } from '../../../clients/capture/guidance-codes.js'
import { MODEL_PACK_ERROR_CODES } from '../../../models/pack/model-pack-error.js'
import { IMAGE_ERROR_CODES } from '../biometric-error.js'
import {
  AlignmentSchema,
  embeddingsSchema,
  faceSampleSchema,
  InspectedImageSchema,
  LivenessSchema,
  LookSchema,
  type OtherDimensions,
  ProviderStatusSchema,
  QualityFaultSchema,
  type StageTimings,
  StageTimingsSchema,
} from '../measurements.js'

const text = Type.String()
const count = Type.Integer({ minimum: 0 })

const ReadySchema = Type.Object({ kind: Type.Literal('ready'), provider: ProviderStatusSchema })
/** The answer to a ping: the worker's event loop turns. */
const PongSchema = Type.Object({ kind: Type.Literal('pong') })
const IncidentSchema = Type.Object({
  kind: Type.Enum(['worker_lost', 'worker_load_failed', 'accelerator_lost', 'accelerator_hung']),
  reason: text,
  /** Where the reason is a pack that cannot be used here. */
  code: Type.Optional(Type.Enum([...MODEL_PACK_ERROR_CODES])),
})
const ReplyMessageSchema = Type.Object({ kind: Type.Literal('reply'), id: count, reply: Type.Unknown() })
const FailureSchema = Type.Object({
  ok: Type.Literal(false),
  code: Type.Enum([...IMAGE_ERROR_CODES, 'engine_unavailable', 'cancelled']),
  message: text,
  imageIndex: Type.Optional(count),
  faults: Type.Optional(Type.Array(QualityFaultSchema)),
  guidance: Type.Optional(Type.Enum([...PHOTO_GUIDANCE])),
  /** The real cause, for the log only, where the code hides it. */
  detail: Type.Optional(text),
})

/** Schemas of the result of each type of task. */
function valueSchemas(dimensions: number, others: OtherDimensions) {
  const sample = faceSampleSchema(dimensions, others)
  const samples = Type.Object({ samples: Type.Array(sample, { minItems: 1 }) })
  return {
    enrol: samples,
    verify: samples,
    compare: Type.Object({ samples: Type.Tuple([sample, sample]) }),
    look: Type.Object({
      look: LookSchema,
      /** Null where the frame shows no usable face. */
      alignment: Type.Union([AlignmentSchema, Type.Null()]),
      liveness: LivenessSchema,
    }),
    embed: embeddingsSchema(dimensions, others),
    /** Mean gray level of the first frame, 0 to 255, or null where it shows a face. */
    glance: Type.Object({
      looks: Type.Array(LookSchema, { minItems: 1 }),
      luminance: Type.Union([Type.Number(), Type.Null()]),
    }),
    inspect: InspectedImageSchema,
    fault: Type.Object({}),
  }
}

type ValueSchemas = ReturnType<typeof valueSchemas>
export type TaskType = keyof ValueSchemas
export type WorkerValues = { [T in TaskType]: Static<ValueSchemas[T]> }

/** An event for the log: a worker died, or could not load its networks. */
export type WorkerIncident = Static<typeof IncidentSchema>
export type WorkerFailure = Static<typeof FailureSchema>
export type WorkerReply<T extends TaskType = TaskType> =
  | {
      ok: true
      value: WorkerValues[T]
      timingsMs: StageTimings
      /** Why a pack that follows failed, for the log only; the caller's answer does not depend on it. */
      followingFailure?: string
    }
  | WorkerFailure

/**
 * From a worker to the service: first `ready`, once its networks are loaded and warmed up, then its replies. The
 * engine process reports what happened to a worker on a separate connection.
 */
export type WorkerMessage =
  | WorkerIncident
  | Static<typeof ReadySchema>
  | Static<typeof PongSchema>
  | (Static<typeof ReplyMessageSchema> & { reply: WorkerReply })

/**
 * Makes a check that a message is well formed, and that a reply fits its task.
 * @param dimensions length of the embeddings of the pack that decides
 * @param others lengths of those of packs that may follow
 */
export function messageCheck(dimensions: number, others: OtherDimensions = new Map()) {
  const answer = (value: TSchema) =>
    Compile(
      Type.Union([
        FailureSchema,
        Type.Object({
          ok: Type.Literal(true),
          value,
          timingsMs: StageTimingsSchema,
          followingFailure: Type.Optional(text),
        }),
      ]),
    )
  const schemas: Record<TaskType, TSchema> = valueSchemas(dimensions, others)
  const answers = new Map(Object.entries(schemas).map(([type, value]) => [type, answer(value)]))
  const message = Compile(Type.Union([ReadySchema, PongSchema, IncidentSchema, ReplyMessageSchema]))
  return {
    /** Checks everything but the reply, whose type depends on the task. */
    isMessage: (value: unknown): value is WorkerMessage => message.Check(value),
    isReplyTo: (type: TaskType, reply: unknown) => answers.get(type)!.Check(reply),
  }
}

export type MessageCheck = ReturnType<typeof messageCheck>
