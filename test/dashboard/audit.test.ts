/** The audit log in the dashboard's API: filters, and exports of a long log. */
import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { capturePageWriter } from '../../src/features/capture-sessions/capture-tables.js'
import { MINUTE_MS } from '../../src/lib/clock.js'
import { base64, face } from '../support/faces.js'
import { openConsole } from './console.js'

/** Number of further entries: more than several pages of any search. */
const FILLER = 2_500

const desk = await openConsole()
let verifiedAt: string
const get = (query: string) => desk.call('GET', `/audit${query}`)
const events = async (query: string) =>
  (await get(`?${query}`)).body.entries.map(({ event }: { event: string }) => event)

beforeAll(async () => {
  const { running, tenant } = desk
  await get('')
  const production = await running.production(tenant)
  const image = base64(await face('ada'))
  await production.enroll({ user_id: 'ada', image })
  running.clock.advance(MINUTE_MS)
  verifiedAt = new Date(running.clock.now()).toISOString()
  await production.verify({ user_id: 'ada', image: base64(await face('adaToday')), action: 'x' })
  await production.verify({ user_id: 'ada', image: base64(await face('grace')), action: 'x' })
  await production.verify({ user_id: 'nobody', image, action: 'x' })
  running.clock.advance(MINUTE_MS)
  const { store, audit } = running.service.core
  await store.transaction('installation', async (tx) => {
    for (let i = 0; i < FILLER; i++)
      await audit.append(tx, tenant.id, {
        ...{ event: 'contract_changed', actor: '=cmd()', request_id: null, note: 'a, "b"' },
      })
  })
})

describe('the audit log', () => {
  it('is filtered by event, outcome and time, also far back', async () => {
    expect(await events('event=enroll')).toEqual(['enroll'])
    expect(await events('outcome=approved')).toEqual(['verify'])
    expect(await events('outcome=rejected')).toEqual(['verify'])
    expect(await events('outcome=failed')).toEqual(['verify'])
    expect(await events('outcome=done&event=enroll')).toEqual(['enroll'])
    expect(await events(`until=${verifiedAt}`)).toEqual(['enroll', 'signed_in'])
    const minute = new Date(Date.parse(verifiedAt) + 1000).toISOString()
    expect(await events(`from=${verifiedAt}&until=${minute}`)).toEqual(['verify', 'verify', 'verify'])
  })

  it('finds a user by id, but not an erased user', async () => {
    const subjectOf = async (user_id: string) =>
      (await desk.call('POST', '/audit/subject', { user_id })).body.subject
    expect(await events(`subject=${await subjectOf('ada')}`)).toEqual(['verify', 'verify', 'enroll'])
    expect(await subjectOf('nobody')).toBeNull()
    const erase = { user_id: 'ada', environment: 'production' }
    expect((await desk.call('POST', '/erase', erase)).status).toBe(200)
    expect(await subjectOf('ada')).toBeNull()
  })

  it('has pages without gaps', async () => {
    const first = (await get('')).body
    expect(first.entries).toHaveLength(20)
    const second = (await get(`?before=${first.next_before}`)).body
    expect(second.entries[0].sequence).toBe(first.entries.at(-1).sequence - 1)
  })

  it('shows the consent text that belongs to a hash', async () => {
    const text = { version: '2026-11', language: 'en', text: 'We compare your face.' }
    const sha256 = createHash('sha256').update(text.text).digest()
    const firstAgreedAt = desk.running.clock.now()
    await desk.store.transaction('installation', (tx) =>
      tx.statements(capturePageWriter).keepText({ tenantId: desk.tenant.id, sha256, ...text, firstAgreedAt }),
    )
    const shown = await get(`/consent-text?sha256=${sha256.toString('hex')}`)
    expect(shown.body).toEqual({
      texts: [
        { ...text, sha256: sha256.toString('hex'), first_agreed_at: new Date(firstAgreedAt).toISOString() },
      ],
    })
    expect((await get(`/consent-text?sha256=${'0'.repeat(64)}`)).outcome).toBe('404 consent_text_not_found')
    expect((await get('/consent-text?sha256=x')).body.code).toBe('invalid_request')
  })

  it('explains an invalid filter', async () => {
    for (const query of ['outcome=good', 'from=yesterday', 'until=x', 'before=-1', 'before=1e3'])
      expect((await get(`?${query}`)).body.code, query).toBe('invalid_request')
    expect((await get('/export?format=xml')).body.code).toBe('invalid_request')
  })

  it('is exported completely as JSON Lines with the chain values of the log', async () => {
    const { text, headers } = await get('/export?format=jsonl')
    expect(headers.get('content-disposition')).toBe(`attachment; filename="audit-${desk.tenant.name}.jsonl"`)
    const lines = text.trim().split('\n')
    const entries = lines.map((line) => JSON.parse(line))
    const { body } = await get('/chain')
    expect(entries.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: body.entries }, (_, i) => i + 1),
    )
    const { audit, store } = desk.running.service.core
    const end = await audit.anchor(store.read, desk.tenant.id)
    expect(entries.at(-1).hash).toBe(end!.hash.toString('hex'))
  })

  it('is exported by the same filters as CSV without formulas that a spreadsheet would run', async () => {
    const all = (await get('/export?format=csv&event=contract_changed')).text.trim().split('\n')
    expect(all).toHaveLength(1 + FILLER)
    expect(all[0]).toBe('sequence,at,event,actor,subject,status,code,request_id,facts')
    expect(all[1]).toContain(`,contract_changed,'=cmd(),`)
    expect(all[1]).toContain(String.raw`"{""note"":""a, \""b\""""}"`)
    const enrolled = (await get('/export?format=csv&outcome=done&event=enroll')).text.trim().split('\n')
    expect(enrolled).toHaveLength(2)
  })

  it('finds an entry by request id, verification id or time beyond the part that one page searches', async () => {
    const [verified] = (await get('?outcome=approved')).body.entries
    const { running, tenant } = desk
    const { store, audit } = running.service.core
    running.clock.advance(10 * MINUTE_MS)
    await store.transaction('installation', async (tx) => {
      for (let i = 0; i < 2 * FILLER; i++)
        await audit.append(tx, tenant.id, { event: 'contract_changed', actor: 'operator', request_id: null })
    })
    expect(await events('outcome=approved')).toEqual([])
    for (const id of [verified.request_id, verified.verification_id])
      expect((await get(`?id=${id}`)).body).toEqual({ entries: [verified], next_before: null })
    expect(await events(`until=${verifiedAt}`)).toEqual(['enroll', 'signed_in'])
    const elsewhere = verified.request_id.replace(/.$/, (last: string) => (last === '0' ? '1' : '0'))
    expect((await get(`?id=${elsewhere}`)).body).toEqual({ entries: [], next_before: null })
    expect((await get('?id=ada')).body.details).toMatchObject([{ path: 'id' }])
  })
})
