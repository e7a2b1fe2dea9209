/**
 * Enrolment that asks before it replaces a reference: the first call does not replace, and the second one follows when the person agrees.
 */
import { useState } from 'preact/hooks'
import type { TriedCall } from '../../contract.js'
import { Confirm } from '../base/parts.js'

type Enrol = (replace: boolean) => Promise<TriedCall>

export function useReplacing({ apiKey, userId }: { apiKey: string; userId: string }) {
  const [asking, setAsking] = useState<((isAgreed: boolean) => void) | null>(null)
  const isProduction = apiKey.startsWith('svc-prod-')
  /** @returns the refusal `already_enrolled` when the person does not agree */
  const enrol = async (call: Enrol): Promise<TriedCall> => {
    const answer = await call(false)
    if (answer.body.code !== 'already_enrolled') return answer
    const isAgreed = await new Promise<boolean>((resolve) => setAsking(() => resolve))
    setAsking(null)
    return isAgreed ? call(true) : answer
  }
  const dialog = asking && (
    <Confirm
      title={`Replace the reference of ${userId}?`}
      confirm="Replace"
      isDanger={isProduction}
      onClose={asking}
    >
      <p>
        {isProduction
          ? 'This user is enrolled in production. The new photos replace the reference permanently: from then on they decide who is this user.'
          : 'This user is enrolled in the sandbox. The old reference is deleted permanently.'}
      </p>
    </Confirm>
  )
  return { enrol, dialog }
}
