/** A call of several tasks: when it is settled, and which tasks it still hands over. */
import { describe, expect, it } from 'vitest'
import {
  type CallTask,
  EngineCall,
  type SuccessfulReply,
} from '../../../src/biometrics/engine/engine-call.js'

const reply = (number: number) =>
  ({ ok: true, value: { number }, timingsMs: {} }) as unknown as SuccessfulReply
const bad = (index: number) => new Error(`picture ${index} is bad`)

/** A call of several tasks, of which workers have the first `taken`. */
function callOf(count: number, taken: number): { call: EngineCall; parts: CallTask[] } {
  const tasks = Array.from({ length: count }, (_, imageIndex) => ({
    type: 'inspect' as const,
    images: [new Uint8Array(1)] as const,
    imageIndex,
  }))
  const call = new EngineCall(tasks, {}, () => {})
  return { call, parts: Array.from({ length: taken }, () => call.take()) }
}

describe('a call of several tasks', () => {
  it('returns the replies in the order of the tasks, not of their arrival', async () => {
    const { call, parts } = callOf(3, 3)
    for (const index of [2, 0, 1]) call.answer(parts[index]!, reply(index))
    expect(await call.promise).toEqual([0, 1, 2].map(reply))
  })

  it('fails with the error of the first failing task, even if a later one failed sooner', async () => {
    const { call, parts } = callOf(10, 4)
    call.refuse(parts[3]!, bad(3))
    expect([call.isWaiting, call.isSettled]).toEqual([false, false])
    call.refuse(parts[1]!, bad(1))
    call.refuse(parts[2]!, bad(2))
    expect(call.isSettled).toBe(false)
    call.answer(parts[0]!, reply(0))
    await expect(call.promise).rejects.toThrow('picture 1 is bad')
  })

  it('retries a lost task before others, and only if it still counts', async () => {
    const { call, parts } = callOf(10, 4)
    call.giveBack(parts[1]!)
    call.giveBack(parts[3]!)
    expect(call.isRetrying).toBe(true)
    call.refuse(parts[2]!, bad(2))
    expect(call.take()).toMatchObject({ index: 1, retried: true })
    expect(call.isWaiting).toBe(false)
    call.answer(parts[0]!, reply(0))
    call.answer(parts[1]!, reply(1))
    await expect(call.promise).rejects.toThrow('picture 2 is bad')
  })

  it('hands over no task once it is settled', async () => {
    const { call, parts } = callOf(10, 2)
    call.reject(new Error('the caller has gone'))
    call.giveBack(parts[0]!)
    call.answer(parts[1]!, reply(1))
    expect(call.isWaiting).toBe(false)
    await expect(call.promise).rejects.toThrow('the caller has gone')
  })
})
