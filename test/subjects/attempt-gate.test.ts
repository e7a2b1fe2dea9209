import { describe, expect, it } from 'vitest'
import { AttemptGate, MOST_WAITING } from '../../src/subjects/attempt-gate.js'

const within = (ms: number) => ({
  deadlineMs: performance.now() + ms,
  signal: new AbortController().signal,
})
const LONG = 20_000

/** Lets everything that is ready run. */
const settle = () => new Promise(setImmediate)

async function isAdmitted(entering: Promise<unknown>): Promise<boolean> {
  let admitted = false
  entering.then(
    () => {
      admitted = true
    },
    () => {},
  )
  await settle()
  return admitted
}

describe('the attempt gate', () => {
  it('admits as many of one user at a time as attempts are left, and always one', async () => {
    const gate = new AttemptGate()
    const left = async () => 2
    const [leaveFirst] = await Promise.all([
      gate.enter('ada', left, within(LONG)),
      gate.enter('ada', left, within(LONG)),
    ])
    const third = gate.enter('ada', left, within(LONG))
    expect(await isAdmitted(third)).toBe(false)
    expect(await isAdmitted(gate.enter('bo', async () => 0, within(LONG)))).toBe(true)
    leaveFirst()
    expect(await isAdmitted(third)).toBe(true)
  })

  it('stays passable when the question for attempts fails', async () => {
    const gate = new AttemptGate()
    const leave = await gate.enter('ada', async () => 1, within(LONG))
    const broken = async () => {
      throw new Error('the store is gone')
    }
    await expect(gate.enter('ada', broken, within(LONG))).rejects.toThrow('the store is gone')
    leave()
    // Were the failed one still counted inside, this one would have to wait.
    expect(await isAdmitted(gate.enter('ada', async () => 0, within(LONG)))).toBe(true)
  })

  it('keeps nobody beyond the deadline, and nobody who hung up', async () => {
    const gate = new AttemptGate()
    const leave = await gate.enter('ada', async () => 1, within(LONG))
    await expect(gate.enter('ada', async () => 1, within(20))).rejects.toMatchObject({
      code: 'deadline_exceeded',
    })
    const caller = new AbortController()
    const waiting = gate.enter('ada', async () => 1, { ...within(LONG), signal: caller.signal })
    await settle()
    caller.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'deadline_exceeded' })
    leave()
    expect(await isAdmitted(gate.enter('ada', async () => 0, within(LONG)))).toBe(true)
  })

  it('asks again when somebody left during the question', async () => {
    const gate = new AttemptGate()
    const leave = await gate.enter('ada', async () => 1, within(LONG))
    await gate.enter('ada', async () => 2, within(LONG))
    let attempts = 3
    let answer = (_left: number) => {}
    const waiting = gate.enter(
      'ada',
      () => (attempts === 3 ? new Promise((resolve) => (answer = resolve)) : Promise.resolve(attempts)),
      within(LONG),
    )
    // The one that left used up two of the attempts that are being counted.
    attempts = 1
    leave()
    answer(3)
    expect(await isAdmitted(waiting)).toBe(false)
  })

  it('lets in by order of arrival', async () => {
    const gate = new AttemptGate()
    const order: number[] = []
    const leave = await gate.enter('ada', async () => 1, within(LONG))
    const others = [1, 2, 3].map(async (number) => {
      const leaveToo = await gate.enter('ada', async () => 1, within(LONG))
      order.push(number)
      leaveToo()
    })
    leave()
    await Promise.all(others)
    expect(order).toEqual([1, 2, 3])
  })

  it('refuses at once when too many wait for one user', async () => {
    const gate = new AttemptGate()
    const leave = await gate.enter('ada', async () => 1, within(LONG))
    const waiting = Array.from({ length: MOST_WAITING }, () => gate.enter('ada', async () => 1, within(LONG)))
    await settle()
    await expect(gate.enter('ada', async () => 1, within(LONG))).rejects.toMatchObject({
      code: 'overloaded',
      headers: { 'Retry-After': '1' },
    })
    leave()
    for (const one of waiting) (await one)()
  })
})
