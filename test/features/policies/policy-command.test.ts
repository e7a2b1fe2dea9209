/** `countersign policy`. */
import { writeFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkedPolicy } from '../../../src/features/policies/policy.js'
import { workplaceForAll } from '../../support/command.js'

const LARGE = {
  name: 'large',
  when: { types: ['payment'], min_amount: { EUR: '1000' } },
  require: { acr: 'urn:countersign:acr:face-active', second_approver: { within_minutes: 30 } },
}
const POLICY = { rules: [LARGE, { name: 'rest', require: {} }] }
const NEXT = { rules: [{ name: 'rest', require: { min_photos: 2 } }] }
const [hash, nextHash] = [checkedPolicy(POLICY).hash, checkedPolicy(NEXT).hash]

const place = workplaceForAll()
beforeAll(() => place.ask('tenant create acme'))

const run = (command: string, ...options: string[]) => place.run(['policy', command, 'acme', ...options])
function file(name: string, value: unknown): string {
  const path = place.path(name)
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
  return path
}

describe('policy', () => {
  it('says that there is none', async () => {
    expect((await run('show')).stdout).toBe('No policy: the contract decides.\n')
    expect((await run('show', '--json')).json).toEqual({
      policy_hash: null,
      first_set_at: null,
      policy: null,
    })
    const action = file('action.json', { type: 'payment' })
    expect((await run('check', '--action', action)).stdout).toBe('No policy: the contract decides.\n')
  })

  it('sets a policy in both environments, or in the sandbox only, and shows each', async () => {
    const set = await run('set', '--file', file('policy.json', POLICY), '--json')
    expect(set.json).toMatchObject({
      ...{ policy_hash: { production: hash, sandbox: hash }, previous: { production: null, sandbox: null } },
    })
    const tried = await run('set', '--file', file('next.json', NEXT), '--sandbox')
    expect(tried.stdout).toBe(`In the sandbox, acme obeys policy ${nextHash} from the next verdict on.\n`)
    expect(JSON.parse((await run('show')).stdout)).toEqual(POLICY)
    expect((await run('show', '--sandbox', '--json')).json).toMatchObject({
      policy_hash: nextHash,
      policy: NEXT,
    })
  })

  it('shows the rule of an action, by the policy in force or by that of a file', async () => {
    const action = file('payment.json', { type: 'payment', amount: '1000.00', currency: 'EUR' })
    expect((await run('check', '--action', action, '--json')).json).toEqual({
      ...{ policy_hash: hash, rule: 'large', require: LARGE.require },
    })
    const { stdout } = await run('check', '--action', action)
    for (const text of ['large', 'face-active', 'within 30 minutes']) expect(stdout).toContain(text)
    const text = file('action.txt', 'pay 5 EUR')
    expect((await run('check', '--action', text, '--json')).json.rule).toBe('rest')
    const next = await run('check', '--action', text, '--file', place.path('next.json'), '--json')
    expect(next.json).toEqual({ policy_hash: nextHash, rule: 'rest', require: { min_photos: 2 } })
  })

  it('lists every version, and shows one by the start of its hash', async () => {
    const { json } = await run('history', '--json')
    const inForce = Object.fromEntries(
      json.map((one: { policy_hash: string; in_force: string[] }) => [one.policy_hash, one.in_force]),
    )
    expect(inForce).toEqual({ [hash]: ['production'], [nextHash]: ['sandbox'] })
    expect((await run('clear')).stdout).toContain('acme has no policy')
    expect(JSON.parse((await run('show', hash.slice(0, 8))).stdout)).toEqual(POLICY)
    expect((await run('history')).stdout).toContain(nextHash)
  })

  it('refuses a policy that is not valid, one that the pack cannot serve, and a hash that was never in force', async () => {
    const broken = await run('set', '--file', file('broken.json', '{'), '--json')
    expect(broken.error.code).toBe('invalid_policy')
    expect((await run('show', '0'.repeat(64), '--json')).error.code).toBe('policy_not_found')
    expect((await run('show', hash.slice(0, 7), '--json')).error.code).toBe('policy_not_found')
  })
})
