/** The settings of the hosted capture page at the dashboard: who may read and change them, and which values are refused. */

import sharp from 'sharp'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { type DashboardClient, loginToken, signIn } from '../support/dashboard.js'
import { operationsOf } from '../support/operations.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

let running: TestService
let tenant: TestTenant
let own: DashboardClient

beforeAll(async () => {
  running = await startService()
  tenant = await running.tenant()
  own = await signIn(running, { login_token: await loginToken(running, tenant.id) })
})
afterAll(() => running?.stop())

const path = () => `/tenants/${tenant.id}/capture-page`
const SETTINGS = {
  company: 'Beispielbank',
  return_origins: ['https://shop.example.com'],
  frame_ancestors: ['https://app.example.com'],
  consent: { version: '2026-11', text: 'We compare your face.' },
  color: '#003366',
}
const NOTHING_SET = {
  company: null,
  return_origins: [],
  frame_ancestors: [],
  consent: null,
  color: null,
  logo: null,
}
const logoOf = async (width: number, height: number) =>
  (
    await sharp({ create: { width, height, channels: 3, background: '#003366' } })
      .png()
      .toBuffer()
  ).toString('base64')

it('an admin of the tenant changes the settings of the capture page, with an audit entry that names the admin', async () => {
  expect((await own.call('GET', path())).body).toEqual({ tenant_name: tenant.name, ...NOTHING_SET })
  const saved = { tenant_name: tenant.name, ...SETTINGS, logo: null }
  expect((await own.call('POST', path(), SETTINGS)).body).toEqual(saved)
  expect((await own.call('GET', path())).body).toEqual(saved)
  const { store } = running.service.core
  expect(JSON.parse((await store.read.auditEntries(tenant.id, 0, 1000)).at(-1)!.entry)).toMatchObject({
    event: 'capture_page_changed',
    company: 'Beispielbank',
    return_origins: ['https://shop.example.com'],
    consent_version: '2026-11',
    color: '#003366',
    actor: 'dashboard:tenant',
  })
})

it('the capture page takes a logo, keeps it when the field is absent, and loses it when the field is null', async () => {
  const shown = (await own.call('POST', path(), { ...SETTINGS, logo: await logoOf(960, 200) })).body.logo
  expect(await sharp(Buffer.from(shown, 'base64')).metadata()).toMatchObject({ format: 'png', width: 480 })
  expect((await own.call('POST', path(), SETTINGS)).body.logo).toBe(shown)
  expect((await own.call('GET', path())).body.logo).toBe(shown)
  expect((await own.call('POST', path(), { ...SETTINGS, logo: null })).body.logo).toBeNull()
})

it('the capture page keeps its logo when another setting of the same request is refused', async () => {
  const body = { ...SETTINGS, logo: await logoOf(20, 20), company: 'Bank\u202e' }
  expect((await own.call('POST', path(), body)).body.code).toBe('invalid_company')
  expect((await own.call('GET', path())).body.logo).toBeNull()
})

it.each([
  [
    'an address with a path',
    { ...SETTINGS, return_origins: ['https://shop.example.com/back'] },
    'invalid_origin',
  ],
  ['another scheme', { ...SETTINGS, frame_ancestors: ['javascript:alert(1)'] }, 'invalid_origin'],
  ['a name that turns the direction of writing', { ...SETTINGS, company: 'Bank\u202e' }, 'invalid_company'],
  ['a color that is a word', { ...SETTINGS, color: 'red' }, 'invalid_color'],
  [
    'a logo that is no picture',
    { ...SETTINGS, company: 'Other', logo: Buffer.from('<svg/>').toString('base64') },
    'invalid_logo',
  ],
  ['a consent without a version', { ...SETTINGS, consent: { version: '', text: 'Yes.' } }, 'invalid_consent'],
] as const)('the settings of the capture page refuse %s and stay unchanged', async (_, body, code) => {
  const before = (await own.call('GET', path())).body
  const refused = await own.call('POST', path(), body)
  expect([refused.status, refused.body.code]).toEqual([400, code])
  expect((await own.call('GET', path())).body).toEqual(before)
})

it('a viewer sees the settings of the capture page but cannot change them', async () => {
  const { password } = await operationsOf(running.service).operators.add('vera', 'viewer', COMMAND_LINE)
  const viewer = await signIn(running, { name: 'vera', password })
  expect((await viewer.call('GET', path())).status).toBe(200)
  expect((await viewer.call('POST', path(), SETTINGS)).body.code).toBe('not_permitted')
})
