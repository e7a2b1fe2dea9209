/** Every name that a page has in code is one that the product has: settings, options, codes, fields, metrics, endpoints, files. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../src/lib/package-root.js'
import { unknownNamesIn, wrongSettingsIn, wrongStatusesIn } from './support/documented-names.js'
import { linkingPages } from './support/page-links.js'

/** The changelog also names what an earlier version had. */
const pages = linkingPages()
  .filter((page) => page !== 'CHANGELOG.md')
  .map((page) => [page, readFileSync(packageFile(page), 'utf8')] as const)

describe('the pages', () => {
  it('name nothing that the product does not have', async () => {
    const found = await Promise.all(pages.map(([page, text]) => unknownNamesIn(page, text)))
    expect(found.flat()).toEqual([])
  })

  it('give each error the status that it has', () => {
    expect(pages.flatMap(([page, text]) => wrongStatusesIn(page, text))).toEqual([])
  })
})

describe('the settings of the pages', () => {
  it('have values that the service takes, and its defaults', () => {
    expect(pages.flatMap(([page, text]) => wrongSettingsIn(page, text))).toEqual([])
  })

  it.each([
    'COUNTERSIGN_FMR=high',
    "COUNTERSIGN_PRODUCTION_LISTEN='8080'",
    '`COUNTERSIGN_REQUEST_LOG_DAYS` (8; 0 turns the log off)',
    '`COUNTERSIGN_CAPTURE_SESSION_TTL_SECONDS` (10 minutes)',
  ])('are refused in "%s"', (text) => {
    expect(wrongSettingsIn('a.md', text)).toHaveLength(1)
  })

  it.each([
    'Set COUNTERSIGN_FMR=5e-5.',
    'COUNTERSIGN_FMR=<rate>',
    'COUNTERSIGN_PRODUCTION_LISTEN=127.0.0.1:9080 npm start',
    '`COUNTERSIGN_REQUEST_LOG_ENTRIES` (10,000)',
    '`COUNTERSIGN_CAPTURE_SESSION_TTL_SECONDS` (15 minutes)',
  ])('are right in "%s"', (text) => {
    expect(wrongSettingsIn('a.md', text)).toEqual([])
  })
})

describe('a name', () => {
  it.each([
    ['a setting', 'COUNTERSIGN_FMT'],
    ['an error', 'reference_not_fund'],
    ['a metric', 'countersign_verify_total_seconds'],
    ['a method', 'verifyVerdikt'],
    ['an option', '--no-such-option'],
    ['a file', 'src/api/verifi.ts'],
    ['a script', 'npm run tests'],
    ['a method of an endpoint', 'GET /v1/enroll'],
    ['an endpoint', 'POST /v1/verifications'],
  ])('is refused where it is that of no %s', async (_kind, code) => {
    const name = code.replace('npm run ', '')
    expect(await unknownNamesIn('a.md', `One.\n\nSet \`${code}\`.`)).toEqual([`a.md:3: ${name}`])
  })

  it.each([
    'COUNTERSIGN_FMR',
    'COUNTERSIGN_…_LISTEN',
    'reference_not_found',
    'verifyVerdict',
    'countersign config --json',
    'src/api/endpoints/verify.ts',
    'npm run docs:site',
    'GET /v1/users/{user_id}',
    'GET /v1/users/ada',
    'cap_01a20284d6ac',
    'pg_last_wal_receive_lsn',
  ])('may be `%s`', async (code) => {
    expect(await unknownNamesIn('a.md', `Set \`${code}\`.`)).toEqual([])
  })

  it('is not looked for in blocks of code', async () => {
    expect(await unknownNamesIn('a.md', '```sh\necho `no_such_name`\n```\n')).toEqual([])
  })
})

describe('the status of an error', () => {
  it.each([
    '400 `reference_not_found`',
    '`reference_not_found` (409)',
    'It answers 403, `reference_not_found`',
    '403 `unknown_host`',
  ])('is refused in "%s"', (text) => {
    expect(wrongStatusesIn('a.md', text)).toHaveLength(1)
  })

  it.each(['404 `reference_not_found`', '`unknown_host` (421)', '503 `database_lost`'])(
    'is right in "%s"',
    (text) => {
      expect(wrongStatusesIn('a.md', text)).toEqual([])
    },
  )
})
