import { createHmac, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { dataKeyOf, drawUserKeys, userKeys } from '../../src/users/user-keys.js'

describe('the keys of a user', () => {
  it('are drawn at random: all differ, and the user id decides none of them', () => {
    const drawn = drawUserKeys()
    const keys = userKeys(drawn, 'ada')
    expect(userKeys(drawn, 'eve')).toEqual(keys)
    const { dataKey, captureKey, auditKey, pseudonym } = keys
    expect(dataKeyOf(drawn)).toEqual(dataKey)
    expect(pseudonym).toMatch(/^[0-9a-f]{32}$/)
    const parts = [dataKey, captureKey, auditKey].map((key) => key.toString('hex'))
    expect(parts.map(({ length }) => length)).toEqual([64, 64, 64])
    expect(parts.join('') + pseudonym).toBe(drawn.toString('hex'))
    expect(userKeys(drawUserKeys(), 'ada').pseudonym).not.toBe(pseudonym)
  })

  it('are derived from the data key for a user of release 0.1.0, as that release derived them', () => {
    const dataKey = randomBytes(32)
    const derived = (purpose: string) =>
      createHmac('sha256', dataKey).update(`countersign/v1/${purpose}\x01`).digest()
    const keys = userKeys(dataKey, 'ada')
    expect(keys).toEqual({
      dataKey,
      captureKey: derived('capture'),
      auditKey: derived('audit-action'),
      pseudonym: createHmac('sha256', derived('audit-pseudonym')).update('ada').digest('hex').slice(0, 32),
    })
    expect(userKeys(dataKey, 'eve').pseudonym).not.toBe(keys.pseudonym)
  })
})
