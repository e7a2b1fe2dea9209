/** Tests of the `acr` of an approval: a name for each way of capture, listed in the SDK and in the guide. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ACR_VALUES, ACTIVE_ACR, PASSKEY_ACR } from '../../clients/node/index.js'
import { acrOf } from '../../src/contract/acr.js'
import { activeMethodOf, drawSteps, type Mode, modesOf } from '../../src/features/challenges/film/steps.js'
import { packageFile } from '../../src/lib/package-root.js'
import { livenessStatement } from '../../src/verification/liveness.js'

/** Steps of each way of capture; null for photos without a challenge. */
const WAYS: Record<string, readonly Mode[] | null> = {
  photos: null,
  '[]': [],
  "['nod']": ['nod'],
  "['turn']": ['turn'],
  "['turn', 'nod']": ['turn', 'nod'],
}
const PASSIVE = { checked: true, score: 0.99, passed: true }
const NO_PASSIVE = { checked: false, score: null, passed: null }

function nameOf(modes: readonly Mode[] | null, hasPassive: boolean, possession: 'hwk' | 'swk' | null = null) {
  const challenge = modes && { method: activeMethodOf(modesOf(drawSteps(modes, () => 0))), fault: null }
  const statement = livenessStatement(hasPassive ? PASSIVE : NO_PASSIVE, 'pack@1', challenge)
  return { methods: statement.methods, acr: acrOf(statement.methods, modes !== null, possession) }
}

it('names each way of capture, with and without a network and a passkey, and the SDK lists exactly these names', () => {
  const names = Object.values(WAYS).flatMap((modes) =>
    [false, true].flatMap((has) =>
      ([null, 'swk', 'hwk'] as const).map((possession) => nameOf(modes, has, possession).acr),
    ),
  )
  expect(new Set(names).size).toBe(names.length)
  expect([...names].sort()).toEqual([...ACR_VALUES].sort())
})

it('says active liveness only where both movements were checked', () => {
  const active = [false, true].map((has) => nameOf(['turn', 'nod'], has).acr)
  expect([...ACTIVE_ACR].sort()).toEqual(active.sort())
})

it('lists for two factors the names with both movements and a passkey', () => {
  const both = [false, true].flatMap((has) =>
    (['swk', 'hwk'] as const).map((possession) => nameOf(['turn', 'nod'], has, possession).acr),
  )
  expect([...PASSKEY_ACR].sort()).toEqual(both.sort())
})

it('claims no liveness for a challenge without a movement', () => {
  expect(nameOf([], false)).toEqual({ methods: [], acr: 'urn:countersign:acr:face-no-motion' })
})

it('documents each way of capture in the guide, with its methods and its name', () => {
  const guide = readFileSync(packageFile('docs', 'guides', 'liveness.md'), 'utf8')
  const rows = guide
    .split('\n')
    .filter((line) => line.startsWith('| ') && line.includes('`…:face'))
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| /, '')))
  const expected = Object.entries(WAYS).map(([way, modes]) => {
    const { methods, acr } = nameOf(modes, false)
    return [
      way === 'photos' ? 'photos, no challenge' : `\`modes: ${way}\``,
      methods.map((method) => `\`${method}\``).join() || 'none',
      `\`${acr.replace('urn:countersign:acr', '…')}\``,
    ]
  })
  expect(rows.map((cells) => cells.slice(0, 3))).toEqual(expected)
})
