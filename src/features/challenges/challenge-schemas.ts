/** Schemas of challenges and of their frames, which the hosted page takes as well. */
import Type from 'typebox'
import { image, nonceField, ownId, words } from '../../api/schemas.js'
import { CAPTURE_LIMITS } from '../../contract/capture-limits.js'
import { PURPOSES } from './challenge-book.js'
import { MODES } from './film/steps.js'

/** Steps of a challenge: a look ahead, three movements, a look ahead. */
const MAX_STEPS = 5

/** Frames of a challenge. */
export const framesField = Type.Array(
  Type.Object(
    {
      step: Type.Integer({
        minimum: 0,
        maximum: MAX_STEPS - 1,
        description: 'Index of the step that the person was shown.',
      }),
      t_ms: Type.Integer({
        minimum: 0,
        maximum: 120_000,
        description: 'Milliseconds since the capture began.',
      }),
      image: image('The frame, not mirrored: a file as in `image`.'),
    },
    { additionalProperties: false },
  ),
  {
    minItems: CAPTURE_LIMITS.min_frames,
    maxItems: CAPTURE_LIMITS.max_frames,
    description: 'The frames, in the order of their capture.',
  },
)

/** The field of a verify or an enrollment that brings the frames. */
export const challengeAnswer = Type.Object(
  {
    challenge_id: ownId(),
    nonce: nonceField(),
    frames: framesField,
  },
  {
    title: 'ChallengeAnswer',
    additionalProperties: false,
    description: 'The frames of a person who did what a challenge asked, instead of photos.',
  },
)

export const purposeField = words(PURPOSES, 'The call in which the frames will be sent.', 'verify')

export const modesField = Type.Array(words(MODES), {
  maxItems: MODES.length,
  uniqueItems: true,
  description:
    'Movements of the head that the person can make; default both. With only one of them the liveness statement is weaker, and its name says so. With none, `[]`, the frames show no movement.',
})
