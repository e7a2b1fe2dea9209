/** The declaration of a route. The compiler refuses what breaks its rules, and the type check of this file fails where it no longer does. */
import { expect, it } from 'vitest'
import { asSecret, consoleRoute } from '../../src/dashboard/lib/route.js'

it('needs a right, names a secret in its answer, and answers with what JSON leaves as it is', async () => {
  // @ts-expect-error
  const withoutRight = consoleRoute({ answer: async () => ({ done: true }) })
  // @ts-expect-error
  const unnamed = consoleRoute({ right: 'read', answer: async () => ({ keys: [{ key: asSecret('k') }] }) })
  const secret = consoleRoute({ right: 'read', givesSecret: true, answer: async () => asSecret('k') })
  // @ts-expect-error
  const time = consoleRoute({ right: 'read', answer: async () => ({ at: [new Date(0)] }) })
  // @ts-expect-error
  const bytes = consoleRoute({ right: 'read', answer: async () => ({ logo: Buffer.from('') }) })
  const optional = consoleRoute({
    right: 'read',
    answer: async ({ tenant }) => ({ ...(tenant.fmr === null ? {} : { fmr: tenant.fmr }) }),
  })
  expect([withoutRight, unnamed, secret, time, bytes, optional].every(({ answer }) => answer)).toBe(true)
})
