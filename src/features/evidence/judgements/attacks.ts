/** Judges what stops somebody who holds up a photo, plays an earlier capture or tries again and again. */

import { strictest } from '../../../verification/liveness.js'
import { defaultAttempts } from '../../../verification/lockout/attempt-lockout.js'
import { DISABLE_FACTOR } from '../../../verification/lockout/lockout.js'
import { type Evidence, type Installation, type Judgement, met, notMet, partly } from '../evidence.js'

/** Limits of NIST SP 800-63B-4, section 3.2.3, without and with presentation attack detection. */
const MOST_ATTEMPTS = { without: 5, with: 10 }
const hasNetwork = ({ pack }: Installation) => pack?.manifest.liveness !== undefined

/** The liveness that every capture must prove: the configuration's requirement, or more where each tenant's contract asks for more. */
function requiredOfAll({ config, tenants }: Installation) {
  const each = tenants.map(({ requireLiveness }) =>
    strictest(config.requireLiveness, requireLiveness ?? 'none'),
  )
  const of = each.length === 0 ? [config.requireLiveness] : each
  const requires = (kind: 'passive' | 'active') => of.every((one) => one === kind || one === 'both')
  return { passive: requires('passive'), active: requires('active') }
}

/** Checks that a living person is in front of the camera. */
export const attackDetection: Evidence = {
  judge: (installation) => {
    const { passive, active } = requiredOfAll(installation)
    if (passive)
      return hasNetwork(installation)
        ? met(
            `Every capture must pass the liveness network${active ? ' and a challenge of movements' : ''}. How much that stops is a separate line.`,
          )
        : notMet('A liveness network is required, and the model pack has none.', 'pack')
    if (active)
      return partly(
        'Every capture must answer a challenge of movements; no liveness network is required. A film or a mask on a moving head passes.',
        'requireLiveness',
      )
    if (hasNetwork(installation))
      return partly(
        'The liveness network judges every photo, but no setting requires it, and another pack would drop it.',
        'requireLiveness',
      )
    return notMet('No liveness is required: a good photo of the user passes.', 'requireLiveness', 'pack')
  },
  settings: ['requireLiveness'],
  facts: ['pack', 'tenants'],
  tests:
    'verification/liveness-requirement features/challenges/challenges features/challenges/film/active-geometry',
  documents: 'guides/liveness.md model-packs.md#liveness-of-the-recommended-pack',
}

/** Whether a capture may be one that was sent before. */
export const replays: Evidence = {
  judge: (installation) => {
    if (installation.config.replayPolicy === 'report')
      return notMet('A capture that was sent before is approved again and only marked.', 'replayPolicy')
    if (requiredOfAll(installation).active)
      return met('Every capture answers a challenge with a nonce, good for one call within 90 s by default.')
    return partly(
      'The same file is refused for 24 hours; saved again with other bytes, or sent later, it is not. A challenge would stop it.',
      'requireLiveness',
    )
  },
  settings: ['replayPolicy', 'requireLiveness'],
  facts: ['tenants'],
  tests: 'verification/replays features/challenges/challenges features/challenges/challenge-rules',
  documents: 'model-packs.md#replayed-captures guides/liveness.md#what-is-checked',
}

/** Evidence of the lockout. @param judge answers from the rejections in a row before the first delay, 1 or more */
function ofLockout(judge: (attempts: number, installation: Installation) => Judgement) {
  return {
    judge: (installation: Installation) => {
      const attempts = installation.config.lockoutAttempts ?? defaultAttempts(hasNetwork(installation))
      return attempts === 0
        ? notMet('Lockout is off: anyone may try as often as the rate limit allows.', 'lockoutAttempts')
        : judge(attempts, installation)
    },
    settings: ['lockoutAttempts'],
    facts: ['pack'],
    tests: 'verification/lockout api/add-photos',
    documents: 'operations/tenants.md#users-who-are-locked-out threat-model.md#attackers',
  } satisfies Evidence
}

/** Evidence by both limits. @param need what a number between them asks of the detection */
const byBothLimits = (figureOf: (attempts: number) => string, need: string) =>
  ofLockout((attempts, installation) => {
    const figure = figureOf(attempts)
    if (attempts <= MOST_ATTEMPTS.without) return met(figure)
    return attempts <= MOST_ATTEMPTS.with && hasNetwork(installation)
      ? partly(`${figure} ${need}`, 'lockoutAttempts')
      : notMet(figure, 'lockoutAttempts')
  })

const allowed = (attempts: number) => `${attempts} rejections in a row are allowed before the first delay.`

/** A limit of five failures in a row, with detection or without. */
export const fiveAttempts = ofLockout((attempts) =>
  attempts <= MOST_ATTEMPTS.without
    ? met(`After ${attempts} rejections in a row a user's verifications are refused for a growing time.`)
    : notMet(allowed(attempts), 'lockoutAttempts'),
)

/** A limit of five failures in a row, or ten with detection that was measured. */
export const fiveOrTenAttempts = byBothLimits(
  allowed,
  'More than five needs a detection whose strength was shown.',
)

/** Delays after these attempts, and the end of all attempts. */
export const delaysAndEnd = byBothLimits(
  (attempts) =>
    `Delays double from 30 s to an hour; after ${attempts * DISABLE_FACTOR} rejections in a row the reference is disabled.`,
  'More than 50 needs presentation attack detection.',
)

const release = ofLockout(() =>
  partly(
    'Delays grow and end automatically; an operator or a new enrollment ends a block. The webhook user.locked_out lets your application alert the payer.',
  ),
)

/** The way from a failure to a block and back. */
export const blockAndRelease: Evidence = {
  ...release,
  facts: [],
  tests: `${release.tests} cli/user features/webhooks/webhooks`,
  documents: `${release.documents} guides/webhooks.md`,
}
