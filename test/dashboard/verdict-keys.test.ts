/** The keys of public verdicts at the dashboard: who sees them, and who rotates them. */
import { describe, expect, it } from 'vitest'
import { openConsole } from './console.js'

const desk = await openConsole()
const rotate = (emergency: boolean, by = desk.operator) =>
  by.call('POST', '/verdict-keys/rotate', { environment: 'sandbox', emergency })
const published = async () => {
  const response = await fetch(`${desk.running.service.url('sandbox')}/.well-known/jwks.json`)
  return ((await response.json()) as { keys: Array<{ kid: string }> }).keys.map(({ kid }) => kid)
}

describe('the verdict keys', () => {
  it('are shown to an operator without anything that signs', async () => {
    const { body, text } = await desk.operator.call('GET', '/verdict-keys')
    expect(body.verdict_keys).toMatchObject([
      { environment: 'production', state: 'signing', published_until: null },
      { environment: 'sandbox', state: 'signing', published_until: null },
    ])
    expect(text).not.toContain('"d"')
  })

  it('are rotated by an operator, and the service publishes the next one at once', async () => {
    const [before] = await published()
    const { status, body } = await rotate(false)
    expect(status).toBe(200)
    const sandbox = body.verdict_keys.filter((key: { environment: string }) => key.environment === 'sandbox')
    expect(sandbox).toMatchObject([{ kid: before, state: 'signing' }, { state: 'published' }])
    expect(await published()).toEqual(sandbox.map((key: { kid: string }) => key.kid))
    expect(await rotate(false)).toMatchObject({ status: 409, body: { code: 'verdict_key_waits' } })
  })

  it('are removed at once in an emergency', async () => {
    const before = await published()
    expect((await rotate(true)).status).toBe(200)
    const [made, ...others] = await published()
    expect(others).toEqual([])
    expect(before).not.toContain(made)
  })

  it('are not rotated by a tenant', async () => {
    expect((await rotate(true, desk.own)).status).toBe(403)
  })
})
