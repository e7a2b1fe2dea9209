/** Runs every command on the database of an earlier release, which only `serve` and `migrate` may change. */
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { SCHEMA_VERSION } from '../../src/storage/sqlite/sqlite-migrations.js'
import { type Workplace, workplace } from '../support/command.js'
import { commandLines } from '../support/command-lines.js'
import type { ReleaseFacts } from './make-database.js'

const RELEASE = packageFile('test', 'releases', 'schema-5')
const facts: ReleaseFacts = JSON.parse(readFileSync(join(RELEASE, 'facts.json'), 'utf8'))

/** Commands that open no database, or that examine an older one. */
const GO_ON = [
  'compare',
  'evaluate',
  'evaluate-pad',
  'jwt',
  'display',
  'fake',
  'models import',
  'models pull',
  'models calibrate',
  'models verify',
  'models list',
  'models build',
  'config show',
  'config check',
  'completion',
  'doctor',
  'evidence',
]
/** Commands that refuse for a reason of their own before they open the database. */
const OTHER_REFUSALS: Record<string, string> = {
  'policy set': 'file_unreadable',
  'policy check': 'file_unreadable',
  restore: 'file_exists',
  'migrate-store': 'source_outdated',
  'keys import': 'no_epochs',
}
const MIGRATING = ['serve', 'migrate']

/** Arguments and options of commands that need some. */
const ARGUMENTS: Record<string, string[]> = {
  'tenant create': ['globex'],
  'tenant update': ['acme', '--rate-limit', '50/s'],
  'tenant keys create': ['acme', '--name', 'shop'],
  'tenant keys reissue': ['acme', '--name', 'shop'],
  'tenant keys revoke': ['acme', '--name', 'shop'],
  'tenant revoke-key': ['acme', '--type', 'sandbox'],
  'tenant reissue-key': ['acme', '--type', 'sandbox'],
  'tenant person add': ['acme', 'ada', '--role', 'admin'],
  'tenant person set-role': ['acme', 'ada', '--role', 'viewer'],
  'tenant person reset-password': ['acme', 'ada'],
  'tenant person reset-second-factor': ['acme', 'ada'],
  'tenant person sign-out': ['acme', 'ada'],
  'tenant person remove': ['acme', 'ada'],
  'user undo-ageing': ['acme', 'ada'],
  'openid add': ['acme', 'portal', '--redirect-uri', 'https://app.example.com/callback'],
  'openid remove': ['acme', 'oic_1'],
  'webhook add': ['acme', 'https://example.com/hook'],
  'webhook remove': ['acme', 'whk_1'],
  'webhook test': ['acme', 'whk_1'],
  'webhook redeliver': ['acme', 'whd_1'],
  jwt: ['e30.e30.e30', '--secret', '00'],
  'keys discard-master': ['0123456789abcdef'],
  'operator add': ['ada', '--role', 'admin'],
  'operator set-role': ['ada', '--role', 'viewer'],
  'operator reset-password': ['ada'],
  'operator reset-second-factor': ['ada'],
  'operator sign-in-link': ['ada'],
  'operator remove': ['ada'],
  'operator sign-out': ['ada'],
  'operator-password': ['--reset'],
  size: ['--rps', '1'],
  completion: ['bash'],
  'models pull': ['none'],
  'models build': ['none'],
  'models migrate': ['--status'],
}

let place: Workplace
beforeEach(async () => {
  place = await workplace({ COUNTERSIGN_MASTER_KEY: facts.masterKey })
  cpSync(join(RELEASE, 'countersign.db'), place.path('countersign.db'))
})
afterEach(() => place?.dispose())

const commands = await commandLines()
/** Names of all commands that do something, as they are typed. */
const leaves = [...commands.keys()].filter((name) => commands.get(name)!.commands.length === 0)
/** Values of arguments by their names. */
const VALUES: Record<string, string> = { tenant: 'acme', user: 'ada' }

function argumentsOf(leaf: string): string[] {
  const given = ARGUMENTS[leaf]
  if (given) return given
  const file = place.path('copy')
  if (leaf === 'backup') return [file]
  if (leaf === 'restore') return [place.path('countersign.db')]
  if (leaf === 'migrate-store')
    return [
      ...['--from', `sqlite:${place.path('countersign.db')}`],
      ...['--to', 'postgres://nobody@127.0.0.1:1/none'],
    ]
  if (/^policy (set|check)/.test(leaf)) return ['acme', leaf === 'policy set' ? '--file' : '--action', file]
  const needed = commands.get(leaf)!.registeredArguments.filter(({ required }) => required)
  return needed.map((one) => VALUES[one.name()] ?? file)
}

function schemaNow() {
  const database = new Database(place.path('countersign.db'), { readonly: true })
  try {
    return {
      version: database.pragma('user_version', { simple: true }),
      statements: database.prepare('SELECT sql FROM sqlite_schema').pluck().all(),
    }
  } finally {
    database.close()
  }
}

describe('the database of an earlier release', () => {
  it.each(leaves.filter((leaf) => !MIGRATING.includes(leaf)))('is left as it is by %s', async (leaf) => {
    const before = schemaNow()
    const isJson = leaf !== 'completion'
    const ended = await place.run([...leaf.split(' '), ...argumentsOf(leaf), ...(isJson ? ['--json'] : [])])
    expect(schemaNow()).toEqual(before)
    expect(ended.code).not.toBe(13)
    if (GO_ON.includes(leaf)) expect(ended.stderr).not.toContain('schema_outdated')
    else expect(ended.error.code).toBe(OTHER_REFUSALS[leaf] ?? 'schema_outdated')
  })

  it('is refused with a message that names both schemas and what to do', async () => {
    const { error } = await place.run(['tenant', 'list', '--json'])
    expect(error.message).toBe(
      `${place.path('countersign.db')} has schema 5, made by an earlier Countersign; the schema of this one is ${SCHEMA_VERSION}. Only \`countersign serve\` and \`countersign migrate\` change a schema: until one of them has, use the commands of the version that serves it.`,
    )
  })

  it('is reported by doctor as a warning about what the next start will do', async () => {
    const { json } = await place.run(['doctor', '--json'])
    expect(json.findings.find(({ check }: { check: string }) => check === 'database')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining(`has schema 5, made by an earlier version`),
    })
    expect(json.ok).toBe(true)
  })

  it('is migrated by migrate, once, and not while a service uses it', async () => {
    const claim = new Database(place.path('countersign.db-serving'))
    claim.exec('BEGIN EXCLUSIVE')
    expect((await place.run(['migrate', '--json'])).error.message).toContain('another Countersign serves')
    claim.close()
    const migrated = await place.run(['migrate', '--json'])
    expect(migrated.json).toMatchObject({ schema_before: 5, schema: SCHEMA_VERSION })
    expect((await place.run(['migrate', '--json'])).json.schema_before).toBe(SCHEMA_VERSION)
    expect((await place.run(['tenant', 'list', '--json'])).json).toHaveLength(1)
  })
})
