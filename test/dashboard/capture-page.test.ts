/** The settings of the hosted capture page at the dashboard: who may read and change them, and which values are refused. */

import sharp from 'sharp'
import { expect, it } from 'vitest'
import { openConsole } from './console.js'

const desk = await openConsole()
const read = async () => (await desk.call('GET', '/capture-page')).body
const save = (body: unknown, by = desk.own) => desk.call('POST', '/capture-page', body, by)
const SETTINGS = {
  company: 'Beispielbank',
  return_origins: ['https://shop.example.com'],
  frame_ancestors: ['https://app.example.com'],
  consent: { version: '2026-11', text: 'We compare your face.' },
  color: '#003366',
}
const NOTHING_SET = {
  ...{ company: null, return_origins: [], frame_ancestors: [], consent: null, color: null, logo: null },
}
const logoOf = async (width: number, height: number) =>
  (
    await sharp({ create: { width, height, channels: 3, background: '#003366' } })
      .png()
      .toBuffer()
  ).toString('base64')

it('an admin of the tenant changes the settings of the capture page, with an audit entry that names the admin', async () => {
  expect(await read()).toEqual({ tenant_name: desk.tenant.name, ...NOTHING_SET })
  const saved = { tenant_name: desk.tenant.name, ...SETTINGS, logo: null }
  expect((await save(SETTINGS)).body).toEqual(saved)
  expect(await read()).toEqual(saved)
  expect((await desk.entries()).at(-1)).toMatchObject({
    event: 'capture_page_changed',
    company: 'Beispielbank',
    return_origins: ['https://shop.example.com'],
    consent_version: '2026-11',
    color: '#003366',
    actor: 'dashboard:tenant',
  })
})

it('the capture page takes a logo, keeps it when the field is absent, and loses it when the field is null', async () => {
  const shown = (await save({ ...SETTINGS, logo: await logoOf(960, 200) })).body.logo
  expect(await sharp(Buffer.from(shown, 'base64')).metadata()).toMatchObject({ format: 'png', width: 480 })
  expect((await save(SETTINGS)).body.logo).toBe(shown)
  expect((await read()).logo).toBe(shown)
  expect((await save({ ...SETTINGS, logo: null })).body.logo).toBeNull()
})

it('the capture page keeps its logo when another setting of the same request is refused', async () => {
  const body = { ...SETTINGS, logo: await logoOf(20, 20), company: 'Bank\u202e' }
  expect((await save(body)).body.code).toBe('invalid_company')
  expect((await read()).logo).toBeNull()
})

it.each([
  ['an address with a path', { return_origins: ['https://shop.example.com/back'] }, 'invalid_origin'],
  ['another scheme', { frame_ancestors: ['javascript:alert(1)'] }, 'invalid_origin'],
  ['a name that turns the direction of writing', { company: 'Bank\u202e' }, 'invalid_company'],
  ['a color that is a word', { color: 'red' }, 'invalid_color'],
  ['a logo that is no picture', { company: 'Other', logo: 'PHN2Zy8+' }, 'invalid_logo'],
  ['a consent without a version', { consent: { version: '', text: 'Yes.' } }, 'invalid_consent'],
])('the settings of the capture page refuse %s and stay unchanged', async (_, change, code) => {
  const before = await read()
  expect((await save({ ...SETTINGS, ...change })).outcome).toBe(`400 ${code}`)
  expect(await read()).toEqual(before)
})

it('a viewer sees the settings of the capture page but cannot change them', async () => {
  expect((await desk.call('GET', '/capture-page', undefined, desk.viewer)).status).toBe(200)
  expect((await save(SETTINGS, desk.viewer)).outcome).toBe('403 not_permitted')
})
