/** The house's ranks: imports run downward only, so that every part can be read, tested and lifted out by itself. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../src/package-root.js'

/** From the top. A room imports from lower ranks; inside a rank, in one direction only. */
const RANKS = [
  ['cli'],
  ['service'],
  ['dashboard'],
  ['ledger', 'housekeeping'],
  ['server'],
  ['v1'],
  ['tenancy', 'idempotency', 'subjects', 'audit', 'biometrics'],
  ['storage', 'crypto'],
  ['config', 'clock', 'errors', 'log', 'durable-file', 'version', 'package-root'],
]
/** Each could be a package of its own: they know nothing of the rest of src. */
const APART = ['biometrics', 'client']
/** Rooms that may use the scripts beside src which build model packs. */
const MAY_BUILD_MODELS = ['cli', 'service']

const SRC = packageFile('src')
const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*'(\.[^']+)'/g

interface Import {
  file: string
  target: string
  from: string
  to: string
}

/** `src/v1/verify.ts` is in room `v1`; `src/config.ts` is room `config`; what is outside src has none. */
function roomOf(path: string): string {
  const inside = relative(SRC, path)
  return inside.startsWith('..') ? '' : inside.split('/')[0]!.replace(/\.(ts|js|mjs)$/, '')
}

const imports: Import[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .flatMap((name) => {
    const file = resolve(SRC, name)
    return [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, specifier]) => {
      const target = resolve(dirname(file), specifier!)
      return { file, target, from: roomOf(file), to: roomOf(target) }
    })
  })

const show = ({ file, target }: Import) =>
  `${relative(packageFile(), file)} imports ${relative(packageFile(), target)}`
const rankOf = (room: string) => RANKS.findIndex((rooms) => rooms.includes(room))
const between = imports.filter(({ from, to }) => from !== to && to !== '')

describe('imports', () => {
  it('are found at all', () => {
    expect(between.length).toBeGreaterThan(50)
    expect(new Set(between.map(({ from }) => from))).toContain('v1')
  })

  it('lie in rooms whose rank is known', () => {
    const rooms = new Set(imports.flatMap(({ from, to }) => [from, to]).filter(Boolean))
    expect([...rooms].filter((room) => rankOf(room) < 0 && !APART.includes(room))).toEqual([])
  })

  it('never run upward', () => {
    const upward = between.filter(({ from, to }) => rankOf(from) >= 0 && rankOf(to) < rankOf(from))
    expect(upward.map(show)).toEqual([])
  })

  it('never run in a circle between rooms', () => {
    const lower = new Map<string, Set<string>>()
    for (const { from, to } of between) lower.set(from, (lower.get(from) ?? new Set()).add(to))
    const reaches = (from: string, goal: string, seen = new Set<string>()): boolean =>
      [...(lower.get(from) ?? [])].some((to) => {
        if (to === goal) return true
        if (seen.has(to)) return false
        seen.add(to)
        return reaches(to, goal, seen)
      })
    expect(between.filter(({ from, to }) => reaches(to, from)).map(show)).toEqual([])
  })

  for (const room of APART)
    it(`of ${room} stay inside it`, () => {
      expect(imports.filter(({ from, to }) => from === room && to !== room).map(show)).toEqual([])
    })

  it('reach the model scripts from the command line and the composition root alone', () => {
    const outside = imports.filter(({ to }) => to === '')
    expect(
      outside.filter(({ target }) => !relative(packageFile('models'), target).match(/^[^.]/)).map(show),
    ).toEqual([])
    expect(outside.filter(({ from }) => !MAY_BUILD_MODELS.includes(from)).map(show)).toEqual([])
  })
})
