/** `countersign display`: the text of a typed action again, for a dispute. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { displayHash } from '../../clients/node/display-hash.js'
import { paymentBatch } from '../../clients/node/make-action.js'
import { actionHash } from '../../src/contract/action-hash.js'
import { displayAction } from '../../src/contract/actions/display-action.js'
import { adviceOn } from '../support/advice.js'
import { workplaceForAll } from '../support/command.js'

const place = workplaceForAll()

const payee = { name: 'Grаce', account: 'DE89370400440532013000' }
const payment = { type: 'payment', amount: '1250.00', currency: 'EUR', payee }

async function file(name: string, text: string): Promise<string> {
  const path = join(place.dataDir, name)
  await writeFile(path, text)
  return path
}

describe('display', () => {
  it('shows the text of the page, and the hashes that the verdict has', async () => {
    const path = await file('action.json', JSON.stringify(payment))
    const { code, stdout } = await place.run(['display', path, '--locale', 'de'])
    expect(code).toBe(0)
    expect(stdout.split('\n').slice(0, 7)).toEqual([
      'Zahlung',
      '  Betrag     1.250,00\u00a0EUR',
      '  Empfänger  Grаce',
      '             (Vorsicht: Diese Buchstaben sehen anderen ähnlich und stammen aus einem anderen Alphabet: а (U+0430))',
      '  Konto      DE89370400440532013000',
      '',
      `display_hash     ${await displayHash(displayAction(payment, 'de')!)}`,
    ])
    expect(stdout).toContain(`action_hash      ${await actionHash(payment)}`)
  })

  it('gives the lines and hashes of a batch with its list as JSON', async () => {
    const { action, payees } = await paymentBatch({ currency: 'EUR', payees: [{ ...payee, amount: '1' }] })
    const path = await file('batch.json', JSON.stringify(action))
    const list = await file('payees.json', `${payees}\n`)
    const { stdout } = await place.run(['display', path, '--payees', list, '--json'])
    const display = displayAction(action, 'en', payees)!
    expect(JSON.parse(stdout)).toEqual({
      display_hash: await displayHash(display),
      action_hash: await actionHash(action),
      ...display,
    })
  })

  it.each([
    ['an untyped action', '{"type":"wire_transfer"}', 'no published type'],
    ['a payment with a number', '{"type":"payment","amount":1}', 'action.amount must be a string'],
    ['a file that is not JSON', '{', 'is not JSON'],
    [
      'a batch without its list',
      `{"type":"payment_batch","total":"1","currency":"EUR","payees_count":1,"payees_hash":"${'0'.repeat(64)}"}`,
      'payees is required',
    ],
  ])('refuses %s', async (_what, text, message) => {
    const path = await file('refused.json', text)
    const { code, stderr } = await place.run(['display', path])
    expect(code).toBe(1)
    expect(stderr).toContain(message)
    expect(stderr).toContain(adviceOn('invalid_action').remedy)
  })
})
