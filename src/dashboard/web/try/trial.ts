/** The key and the user with which the page "Try it" calls the API, and the call. */
import { useState } from 'preact/hooks'
import type { TriedCall } from '../../contract.js'
import { tryCall } from '../base/api.js'
import { useActions } from '../base/parts.js'

export interface Trial {
  tenantId: string
  operation: 'enroll' | 'verify'
  apiKey: string
  userId: string
}

/** Returns a sentence that asks for the missing field, or null when none is missing. */
export function missingText({ apiKey, userId }: Trial): string | null {
  if (!apiKey) return 'Type an API key above first.'
  return userId ? null : 'Type a user id above first.'
}

/** The action that a tried verdict confirms. */
export const TRIED_ACTION = { type: 'dashboard_try' }

/** @returns `send`, which makes the call, and its answer. An enrolment that would replace a reference asks before it does. */
export function useTrial({ tenantId, operation, apiKey, userId }: Trial) {
  const [answer, setAnswer] = useState<TriedCall | null>(null)
  const actions = useActions()
  const isProduction = apiKey.startsWith('svc-prod-')
  const send = async (body: object, replace = false) => {
    const more = operation === 'enroll' ? { replace } : { action: TRIED_ACTION }
    const given = await tryCall(tenantId, { key: apiKey, operation, body: { ...body, ...more } })
    setAnswer(given)
    if (given.body.code !== 'already_enrolled') return
    actions.ask({
      title: `Replace the reference of ${userId}?`,
      confirm: 'Replace',
      isDanger: isProduction,
      children: isProduction
        ? 'This user is enrolled in production. The new photos replace the reference permanently: from then on they decide who is this user.'
        : 'This user is enrolled in the sandbox. The old reference is deleted permanently.',
      act: () => send(body, true),
    })
  }
  return { ...actions, answer, setAnswer, send }
}
