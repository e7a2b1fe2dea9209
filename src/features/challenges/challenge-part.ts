/** A part that another feature adds to challenges. */
import type { Acting, Fields, Refusing } from '../../api/call-parts.js'
import type { Services } from '../../api/services.js'
import type { Note, UserCall } from '../../verification/call.js'
import type { Purpose } from './challenge-book.js'
import type { Mode } from './film/steps.js'

type ChallengeCall = UserCall<{ user_id: string; action?: unknown; modes?: Mode[] }>

/** A part's addition to one challenge. */
interface ChallengeAddition {
  /** Kept with the challenge, for the verify that uses it. */
  note?: Note
  /** @returns members of the answer @param action in RFC 8785 canonical form; null for an enrollment */
  membersOf(nonce: string, action: string | null): Record<string, unknown>
}

export interface ChallengePart extends Pick<Refusing, 'errors'>, Acting {
  request?: Fields
  /** Members that the answer has only where they are asked for. */
  response?: Fields
  create(services: Services): {
    /** Checks which fields of the body go together, before anything is read. @throws DomainError invalid_request */
    assertFits?(call: ChallengeCall): void
    /**
     * Refuses a challenge that could lead to no approval, and reads what its addition needs, before the transaction of the challenge.
     * @returns null where nothing is asked for
     * @throws DomainError
     */
    prepare(call: ChallengeCall, purpose: Purpose): Promise<ChallengeAddition | null>
  }
}
