/** Tests of how long the SDK's memory of used verdicts remembers a verdict. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { MemoryReplayStore } from '../../clients/node/index.js'

const START = 1_790_000_000

afterEach(() => void vi.useRealTimers())

describe('a verdict that was used', () => {
  it('is remembered until it expires, however often the memory is swept meanwhile', () => {
    let now = START
    const store = new MemoryReplayStore(() => now)
    const expiresAt = START + 1000
    expect(store.consume('verdict', expiresAt)).toBe(true)
    for (; now <= expiresAt; now += 50) expect(store.consume('verdict', expiresAt)).toBe(false)
    now = expiresAt
    expect(store.consume('verdict', expiresAt)).toBe(false)
  })

  it('is forgotten after that, while others that expire later are remembered', () => {
    let now = START
    const store = new MemoryReplayStore(() => now)
    store.consume('short', START + 100)
    store.consume('long', START + 1000)
    now = START + 500
    expect(store.consume('long', START + 1000)).toBe(false)
    expect(store.size).toBe(1)
  })

  it('is remembered by the system’s clock in seconds, as tokens count, where no other clock is given', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: START * 1000 })
    const store = new MemoryReplayStore()
    expect(store.consume('verdict', START + 300)).toBe(true)
    vi.setSystemTime((START + 299) * 1000)
    expect(store.consume('verdict', START + 300)).toBe(false)
    vi.setSystemTime((START + 600) * 1000)
    expect(store.consume('another', START + 900)).toBe(true)
    expect(store.size).toBe(1)
  })
})
