import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { commandsWith } from '../../../src/cli/commands.js'
import type { ListedFeature } from '../../../src/features/feature.js'
import { FEATURES } from '../../../src/features/index.js'
import { workplaceForEach } from '../../support/command.js'

const place = workplaceForEach()

interface LineView {
  id: string
  status: string
  by_title: boolean
  why: string
  broken_by: string[]
}

/** The lines that `evidence --json` prints. */
async function judge(env: Record<string, string> = {}) {
  const { code, stdout, stderr, json } = await place.ask('evidence', env)
  const lines: LineView[] = json.standards.flatMap(({ lines }: { lines: LineView[] }) => lines)
  return { code, stdout, stderr, json, of: (id: string) => lines.find((line) => line.id === id)! }
}

it('is no command of a program without its feature, and stands before `doctor` of one with it', () => {
  const namesWith = (features: readonly ListedFeature[]) => commandsWith(features).map(({ usage }) => usage)
  expect(namesWith(FEATURES.filter(({ name }) => name !== 'evidence'))).not.toContain('evidence')
  const names = namesWith(FEATURES)
  expect(names[names.indexOf('evidence') + 1]).toBe('doctor')
})

describe('evidence', () => {
  it('prints Markdown with every standard, creates nothing and ends with 0', async () => {
    const { code, stdout, stderr } = await place.run(['evidence'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^# Evidence\n/)
    expect(stdout.match(/^## /gm)!.length).toBeGreaterThan(10)
    expect(stdout).toContain('| Art. 4(3)(b), `psd2-4-3-b` | At most five failures')
    expect(readdirSync(place.dataDir)).toEqual([])
  })

  it('says how the clauses of laws were checked, and marks those of which only the title was', async () => {
    const { json, of } = await judge()
    const checked = Object.fromEntries(
      json.standards.map(({ id, checked }: { id: string; checked: string | null }) => [id, checked]),
    )
    for (const id of ['gdpr', 'iso-27001', 'soc-2', 'dora', 'ai-act'])
      expect(checked[id], id).toMatch(/compared with .*\.$/)
    expect([of('dora-11').by_title, of('dora-12').by_title]).toEqual([true, false])
    const { stdout } = await place.run(['evidence'])
    expect(stdout).toContain('| Art. 11 (*by title*), `dora-11` |')
    expect(stdout).toContain(checked.dora!)
  })

  it('judges the pack that is configured', async () => {
    const { json, of } = await judge({ COUNTERSIGN_MODEL_PACK: 'baseline' })
    expect(json.model).toMatch(/^baseline@/)
    expect(of('nist-fmr').why).toContain(`${json.model} is of evaluation grade`)
    const without = await judge({ COUNTERSIGN_MODELS_DIR: place.path('none') })
    expect(without.json.model).toBeNull()
    expect(without.of('nist-fmr')).toMatchObject({ status: 'not_met', broken_by: ['pack'] })
  })

  it.each([
    ['psd2-4-3-b', 'met', { COUNTERSIGN_LOCKOUT_ATTEMPTS: '0' }],
    ['psd2-4-3-c', 'partly', { COUNTERSIGN_PRODUCTION_LISTEN: '0.0.0.0:8080' }],
    ['psd2-4-3-d', 'partly', { COUNTERSIGN_JWT_TTL_SECONDS: '900' }],
    ['iso-27001-8-15', 'met', { COUNTERSIGN_LOG_LEVEL: 'silent' }],
  ])('shows that a setting breaks %s, which is %s without it', async (id, status, env) => {
    expect((await judge()).of(id).status).toBe(status)
    expect((await judge(env)).of(id)).toMatchObject({
      status: 'not_met',
      broken_by: expect.arrayContaining(Object.keys(env)),
    })
    const [[name, value]] = Object.entries(env) as [[string, string]]
    expect((await place.run(['evidence'], env)).stdout).toMatch(
      new RegExp(`^\\| \`${name}=${value}\` \\| .*\`${id}\``, 'm'),
    )
  })

  it('reads the contracts of tenants, without the master key', async () => {
    await place.run(['tenant', 'create', 'acme', '--fmr', '1e-3', '--replace-verdict', '10m'])
    const { of, json } = await judge({ COUNTERSIGN_MASTER_KEY_FILE: place.path('another.key') })
    expect(json.unread).toEqual([])
    expect(of('nist-fmr').why).toContain('the tenant acme are signed at a false match rate of 1e-3')
    expect(of('iso-27001-8-3').status).toBe('met')
  })

  it('leaves out a database that it cannot read, and says so', async () => {
    await writeFile(place.path('countersign.db'), 'no database')
    const { code, json } = await judge()
    expect(code).toBe(0)
    expect(json.unread).toHaveLength(1)
    const people = await place.run(['evidence'])
    expect(people.stdout).toContain('Not read: ')
    expect(people.stderr).toMatch(/^warning: /)
  })

  it('shows no password of a database', async () => {
    const env = { COUNTERSIGN_DATABASE: 'postgres://user:battery@127.0.0.1:1/db' }
    const { code, stdout, stderr } = await judge(env)
    expect(code).toBe(0)
    const people = await place.run(['evidence'], env)
    expect(stdout + stderr + people.stdout + people.stderr).not.toContain('battery')
    expect(people.stdout).toContain('`COUNTERSIGN_DATABASE=postgres://********@127.0.0.1:1/db`')
  })

  it('refuses a configuration with problems', async () => {
    const { code, error } = await place.ask('evidence', { COUNTERSIGN_FMR: '2' })
    expect(code).toBe(1)
    expect(error.message).toContain('COUNTERSIGN_FMR is "2"')
  })
})
