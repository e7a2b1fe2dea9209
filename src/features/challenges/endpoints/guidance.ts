/** POST /v1/guidance: advice for a person in front of the camera, from one small frame. It recognizes nobody and keeps nothing. */

import Type, { type Static } from 'typebox'
import { FRAME_GUIDANCE } from '../../../../clients/capture/guidance-codes.js'
import type { Endpoint, EndpointDescription, Topic } from '../../../api/endpoint.js'
import { EXAMPLE_IMAGE, image, userIdBounds, words } from '../../../api/schemas.js'
import type { Services } from '../../../api/services.js'
import { scriptedGuidance } from '../../../contract/sandbox-rules.js'
import { DomainError } from '../../../lib/domain-error.js'
import { decodeImage } from '../../../verification/capture/images.js'
import { FRAME_LIMITS, guidanceOn } from '../film/frame-guidance.js'
import { STEPS } from '../film/steps.js'

export const LIVENESS: Topic = {
  name: 'liveness',
  about: 'Challenges for a person in front of the camera, and guidance meanwhile.',
}

/** Bytes of two frames of 640 x 480 pixels at a good quality, in base64. */
export const GUIDANCE_BODY_BYTES = 512 * 1024

const stepField = words(
  STEPS,
  'Movement that the person is asked to make: the step of the challenge that is shown. Left and right are the person’s own.',
  'frontal',
)

const body = Type.Object(
  {
    image: image(
      'The frame, not mirrored: a file as for verify, of at most 307,200 pixels (640 x 480). A long side of 320 is enough.',
    ),
    step: Type.Optional(stepField),
    frontal: Type.Optional(
      image(
        'An earlier frame in which the person looks ahead, from which a movement is measured. Without it there is no guidance about a nod.',
      ),
    ),
    user_id: Type.Optional(
      Type.String({
        ...userIdBounds,
        examples: ['user-4711'],
        description:
          'Only for the sandbox, which chooses its answer by the end of the user id. Production ignores it.',
      }),
    ),
  },
  { title: 'GuidanceRequest', additionalProperties: false },
)

const success = Type.Object(
  {
    step: stepField,
    guidance: Type.Array(words(FRAME_GUIDANCE), {
      description:
        'Advice for the person, the most urgent first. Empty where nothing needs to change: the person holds still, or the movement went far enough.',
    }),
  },
  { title: 'Guidance' },
)

export const guideDescription: EndpointDescription = {
  id: 'guide',
  topic: LIVENESS,
  shownBefore: 'get_verification',
  operationId: 'get_guidance',
  sdkName: 'guide',
  example: { image: EXAMPLE_IMAGE, step: 'turn_left', user_id: 'ada+turn_more' },
  method: 'POST',
  path: '/v1/guidance',
  summary: 'Guide a person in front of the camera',
  description:
    'Advises a person from one small frame: come closer, find light, turn further. It finds and measures a face and recognizes nobody; nothing is kept, counted for a lockout or written to the audit log, and no score is returned. It counts towards a rate limit of its own, and is the first to be refused as `overloaded` where verdicts wait: go on without it. It changes nothing, so an idempotency key is accepted and ignored.',
  body,
  success: { status: 200, description: 'The advice.', schema: success },
  errors: ['image_unreadable', 'image_too_large', 'image_too_small', 'liveness_unavailable'],
  usesEngine: true,
  maxBodyBytes: GUIDANCE_BODY_BYTES,
  ownRateLimit: true,
  scopes: ['verify', 'enroll'],
}

type Input = Static<typeof body>

/** The fields of the frames. */
const pathOf = (index: number) => (index === 0 ? 'image' : 'frontal')

export function guide({ provider }: Pick<Services, 'provider'>): Endpoint<Input> {
  return {
    ...guideDescription,
    // The sandbox's `user_id` only chooses an outcome.
    // The stages of guidance are not added to the timings: its many calls would drown those of verdicts.
    async handle(call) {
      const { input } = call
      const { step = 'frontal' } = input
      if (step !== 'frontal' && !provider.takesFilms) throw new DomainError('liveness_unavailable')
      const images = [await decodeImage(input.image, 'image')]
      if (input.frontal !== undefined) images.push(await decodeImage(input.frontal, 'frontal'))
      const glance = await provider.glance(call, images, FRAME_LIMITS, pathOf)
      const guidance = glance ? guidanceOn(glance, step) : scriptedGuidance(input.user_id ?? '', step)
      return { status: 200, body: { step, guidance } }
    },
  }
}
