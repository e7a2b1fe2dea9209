/** Judges what stops somebody who holds up a photo, plays an earlier capture or tries again and again. */

import { defaultAttempts } from '../../verification/attempt-lockout.js'
import { strictest } from '../../verification/liveness.js'
import { DISABLE_FACTOR } from '../../verification/lockout.js'
import { always, type Evidence, type Installation, judged, met, notMet, partly } from '../evidence.js'

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
export const attackDetection: Evidence = judged(
  (installation) => {
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
  {
    settings: ['requireLiveness'],
    facts: ['pack', 'tenants'],
    tests: [
      'test/verification/liveness-requirement.test.ts',
      'test/api/challenges.test.ts',
      'test/biometrics/challenge/active-geometry.test.ts',
    ],
    documents: ['guides/liveness.md', 'model-packs.md#liveness-of-the-recommended-pack'],
  },
)

/** How often attacks were measured to succeed. */
export const attackFigures: Evidence = always(
  notMet(
    'No laboratory has tested it. Our figures are of 15 attacks on the network and of rendered films; a bent print passed in 2 of 42 films.',
  ),
  {
    tests: ['test/liveness/films.test.ts', 'test/cli/evaluate-pad.test.ts'],
    documents: ['guides/liveness.md#what-was-measured', 'guides/liveness.md#what-it-does-not-stop'],
  },
)

/** Whether a capture may be one that was sent before. */
export const replays: Evidence = judged(
  (installation) => {
    const { replayPolicy } = installation.config
    if (replayPolicy === 'report')
      return notMet('A capture that was sent before is approved again and only marked.', 'replayPolicy')
    if (requiredOfAll(installation).active)
      return met('Every capture answers a challenge with a nonce, good for one call within 90 s by default.')
    return partly(
      'The same file is refused for 24 hours; saved again with other bytes, or sent later, it is not. A challenge would stop it.',
      'requireLiveness',
    )
  },
  {
    settings: ['replayPolicy', 'requireLiveness'],
    facts: ['tenants'],
    tests: [
      'test/verification/replays.test.ts',
      'test/api/challenges.test.ts',
      'test/verification/challenge-rules.test.ts',
    ],
    documents: ['model-packs.md#replayed-captures', 'guides/liveness.md#what-is-checked'],
  },
)

/** Rejections in a row before the first delay; 0 where lockout is off. */
const attemptsOf = (installation: Installation) =>
  installation.config.lockoutAttempts ?? defaultAttempts(hasNetwork(installation))

const LOCKOUT_OFF = notMet(
  'Lockout is off: anyone may try as often as the rate limit allows.',
  'lockoutAttempts',
)

const HELD_BY_LOCKOUT = {
  settings: ['lockoutAttempts'],
  tests: ['test/verification/lockout.test.ts', 'test/api/add-photos.test.ts'],
  documents: ['operations/tenants.md#users-who-are-locked-out', 'threat-model.md#attackers'],
} as const

/** A limit of five failures in a row, with detection or without. */
export const fiveAttempts: Evidence = judged(
  (installation) => {
    const attempts = attemptsOf(installation)
    if (attempts === 0) return LOCKOUT_OFF
    return attempts <= MOST_ATTEMPTS.without
      ? met(`After ${attempts} rejections in a row a user's verifies are refused for a growing time.`)
      : notMet(`${attempts} rejections in a row are allowed before the first delay.`, 'lockoutAttempts')
  },
  { ...HELD_BY_LOCKOUT, facts: ['pack'] },
)

/** A limit of five failures in a row, or ten with detection that was measured. */
export const fiveOrTenAttempts: Evidence = judged(
  (installation) => {
    const attempts = attemptsOf(installation)
    if (attempts === 0) return LOCKOUT_OFF
    const figure = `${attempts} rejections in a row are allowed before the first delay.`
    if (attempts <= MOST_ATTEMPTS.without) return met(figure)
    return attempts <= MOST_ATTEMPTS.with && hasNetwork(installation)
      ? partly(`${figure} More than five needs a detection whose strength was shown.`, 'lockoutAttempts')
      : notMet(figure, 'lockoutAttempts')
  },
  { ...HELD_BY_LOCKOUT, facts: ['pack'] },
)

/** Delays after these attempts, and the end of all attempts. */
export const delaysAndEnd: Evidence = judged(
  (installation) => {
    const attempts = attemptsOf(installation)
    if (attempts === 0) return LOCKOUT_OFF
    const end = attempts * DISABLE_FACTOR
    const figure = `Delays double from 30 s to an hour; after ${end} rejections in a row the reference is disabled.`
    if (attempts <= MOST_ATTEMPTS.without) return met(figure)
    return attempts <= MOST_ATTEMPTS.with && hasNetwork(installation)
      ? partly(`${figure} More than 50 needs presentation attack detection.`, 'lockoutAttempts')
      : notMet(figure, 'lockoutAttempts')
  },
  { ...HELD_BY_LOCKOUT, facts: ['pack'] },
)

/** The way from a failure to a block and back. */
export const blockAndRelease: Evidence = judged(
  (installation) =>
    attemptsOf(installation) === 0
      ? LOCKOUT_OFF
      : partly(
          'Delays grow and end automatically; an operator or a new enrollment ends a block. The webhook user.locked_out lets your application alert the payer.',
        ),
  {
    ...HELD_BY_LOCKOUT,
    tests: [...HELD_BY_LOCKOUT.tests, 'test/cli/user.test.ts', 'test/webhooks/webhooks.test.ts'],
    documents: [...HELD_BY_LOCKOUT.documents, 'guides/webhooks.md'],
  },
)
