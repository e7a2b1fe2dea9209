/** Opens the challenge of a request, describes its frames, and refuses a request whose liveness is less than the policy demands. */

import { type Mode, modesOf } from '../../biometrics/challenge/steps.js'
import type { ChallengeFrames } from '../../biometrics/types.js'
import type { Config } from '../../config/config.js'
import type { LivenessRequirement } from '../../config/liveness-requirement.js'
import { DomainError } from '../../lib/domain-error.js'
import type { Store } from '../../storage/store.js'
import type { BiometricProvider } from '../biometric-provider.js'
import type { Call, CaptureInput, UserCall } from '../call.js'
import { missingLiveness, strictest } from '../liveness.js'
import { decidingProvider } from '../references/deciding-model.js'
import type { Challenge, ChallengeBook, ChallengeSubject } from './challenge-book.js'

export interface OpenedChallenge {
  challenge: Challenge
  frames: ChallengeFrames
}

interface ChallengeParts {
  challenges: ChallengeBook
  store: Store
  config: Pick<Config, 'requireLiveness'>
  provider: BiometricProvider
}

/**
 * Opens the challenge of a request. @returns null for a request with photos
 * @throws DomainError challenge_not_found, challenge_used, challenge_expired, challenge_mismatch, liveness_required, liveness_unavailable
 */
export async function openChallenge(
  { challenges, store, config, provider }: ChallengeParts,
  { input, tenant, environment, user }: UserCall<CaptureInput>,
  subject: Pick<ChallengeSubject, 'purpose' | 'action'>,
): Promise<OpenedChallenge | null> {
  const given = input.challenge
  const challenge =
    given &&
    (await challenges.open(
      store.read,
      { id: given.challenge_id, nonce: given.nonce },
      {
        tenantId: tenant.id,
        environment,
        blindIndex: user.blindIndex,
        ...subject,
      },
    ))
  const modes = challenge ? modesOf(challenge.steps) : []
  assertLivenessOffered({ config, provider }, { input, tenant }, modes)
  if (!challenge) return null
  const notes = given!.frames.map(({ step, t_ms: tMs }) => ({ step, tMs }))
  return { challenge, frames: { notes, steps: challenge.steps } }
}

/**
 * Checks that the request offers the liveness checks that installation, tenant and caller demand.
 * @param modes movements of the challenge; empty without a challenge
 * @throws DomainError liveness_required, liveness_unavailable
 */
export function assertLivenessOffered(
  { config, provider }: Pick<ChallengeParts, 'config' | 'provider'>,
  { input, tenant }: Pick<Call<{ require_liveness?: LivenessRequirement }>, 'input' | 'tenant'>,
  modes: readonly Mode[],
): void {
  const requirement = strictest(
    config.requireLiveness,
    tenant.requireLiveness ?? 'none',
    input.require_liveness ?? 'none',
  )
  const { passiveLiveness } = decidingProvider(provider, tenant)
  const missing = missingLiveness(requirement, { passive: passiveLiveness !== null, modes })
  if (missing === 'passive') throw new DomainError('liveness_unavailable')
  if (missing === 'active') throw new DomainError('liveness_required')
}
