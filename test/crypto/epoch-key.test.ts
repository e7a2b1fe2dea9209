import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { dataKeyWrapping, NO_EPOCHS, wrappingOf } from '../../src/crypto/epoch-key.js'
import { isOpenedBy, type SealingKey, seal } from '../../src/crypto/sealed-box.js'

const newKey = () => randomBytes(32)
const alone = (key: Buffer): SealingKey => ({ current: key, others: [] })
const id = 'sub_1'

describe('a data key of an epoch', () => {
  const wrapping = alone(randomBytes(32))
  const [past, present] = [newKey(), newKey()]
  const sealed = seal(
    dataKeyWrapping({ wrapping, epochs: { current: present, others: [past] } }).current,
    randomBytes(32),
    id,
  )

  it('a data key opens with the working key and the epoch key together, and with neither of them separately', () => {
    expect(isOpenedBy(wrappingOf({ wrapping }, present), { id, sealed })).toBe(true)
    expect(isOpenedBy(wrapping, { id, sealed })).toBe(false)
    expect(isOpenedBy(alone(present), { id, sealed })).toBe(false)
    expect(isOpenedBy(wrappingOf({ wrapping: alone(randomBytes(32)) }, present), { id, sealed })).toBe(false)
  })

  it('a data key of one epoch does not open with the key of another', () => {
    expect(isOpenedBy(wrappingOf({ wrapping }, past), { id, sealed })).toBe(false)
    const later = { current: newKey(), others: [past] }
    expect(isOpenedBy(dataKeyWrapping({ wrapping, epochs: later }), { id, sealed })).toBe(false)
  })

  it('data keys open during a change of either key, those from before the first epoch too', () => {
    const renewed = { current: randomBytes(32), others: [wrapping.current] }
    const keys = { wrapping: renewed, epochs: { current: newKey(), others: [present] } }
    const before = seal(wrapping.current, randomBytes(32), id)
    for (const box of [sealed, before]) {
      expect(isOpenedBy(dataKeyWrapping(keys), { id, sealed: box })).toBe(true)
      expect(isOpenedBy(wrappingOf(keys, keys.epochs.current), { id, sealed: box })).toBe(false)
    }
  })

  it('only the working key wraps data keys before the first epoch', () => {
    expect(dataKeyWrapping({ wrapping, epochs: NO_EPOCHS })).toEqual(wrapping)
  })
})
