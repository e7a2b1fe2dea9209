/** Tests of tables that features declare, in every store. */
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { accountReader, accountWriter } from '../../../src/admin/accounts/account-statements.js'
import { ACCOUNT_TABLES } from '../../../src/admin/accounts/account-tables.js'
import { RetentionJob } from '../../../src/jobs/retention.js'
import { DAY_MS, ManualClock } from '../../../src/lib/clock.js'
import type { Connection, ReadConnection } from '../../../src/storage/connection.js'
import type { Store } from '../../../src/storage/store.js'
import {
  bytes as bytesColumn,
  declareTable,
  integer,
  ofSubject,
  ofTenant,
  type Row,
  real,
  type Table,
  text,
} from '../../../src/storage/table.js'
import { AT, bytes, operator, session, subject, tenant } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

const NOTE_COLUMNS = {
  subjectId: ofSubject,
  noteId: text,
  words: bytesColumn,
  weight: real,
  readAt: integer.orNull,
}
const OF_USER = {
  name: 'note',
  key: ['noteId'],
  atErasure: 'deleted by foreign key',
  atTenantEnd: 'kept',
  expires: null,
  withoutRowId: true,
  sealedUnder: 'data key',
} as const
const NOTE = declareTable({ ...OF_USER, columns: NOTE_COLUMNS })
type Note = Row<typeof NOTE>
/** The table in a later version, which has a further column and a further index. */
const LATER_NOTE = declareTable({
  ...OF_USER,
  columns: { ...NOTE_COLUMNS, answer: text.orNull },
  indexes: { note_subject_id: '(subject_id)', note_answer: '(answer, note_id)' },
})
const [MARK, KEPT_MARK] = (['deleted', 'kept'] as const).map((atTenantEnd) =>
  declareTable({
    name: `mark_${atTenantEnd}`,
    columns: { tenantId: ofTenant, name: text, endsAt: integer },
    key: ['tenantId', 'name'],
    atErasure: 'kept',
    atTenantEnd,
    expires: { at: 'endsAt', keptMs: 1000 },
    withoutRowId: true,
    sealedUnder: 'nothing',
  }),
) as [Table<Mark>, Table<Mark>]
interface Mark {
  tenantId: string
  name: string
  endsAt: number
}

const noteReader = (database: ReadConnection) => {
  const sql = database.prepare<[], Note>(`SELECT ${NOTE.fields} FROM note ORDER BY note_id`)
  return { all: async () => sql.all() }
}
const noteWriter = (database: Connection) => {
  const sql = database.prepare(NOTE.insert)
  return { insert: async (note: Note) => void sql.run(note) }
}
const markWriter = (database: Connection) => {
  const sql = [MARK, KEPT_MARK].map(({ insert }) => database.prepare(insert))
  return { insert: async (mark: Mark) => void sql.map((one) => one.run(mark)) }
}
const markReader = (database: ReadConnection) => {
  const [marks, kept] = [MARK, KEPT_MARK].map(({ name, fields }) =>
    database.prepare<[], Mark>(`SELECT ${fields} FROM ${name} ORDER BY tenant_id, name`),
  )
  return { all: async () => [await marks!.all(), await kept!.all()] }
}

const note = (name: string, more: Partial<Note> = {}): Note => ({
  ...{ subjectId: `sub_${name}`, noteId: `note_${name}`, words: bytes(name), weight: 0.5, readAt: null },
  ...more,
})

function retentionOf(store: Store): RetentionJob {
  const leaderLease = { current: () => ({ id: 'ours', signal: new AbortController().signal }) }
  const options = { sandboxRetentionMs: DAY_MS }
  return new RetentionJob(store, new ManualClock(AT), pino({ level: 'silent' }), leaderLease, options)
}

overStores((stores) => {
  describe('a table of a feature', () => {
    it('is made in a database that exists, keeps its rows, and gets what a later version adds', async () => {
      await stores.insert({ tenants: ['a'], subjects: ['a'] })
      const first = await stores.open({ tables: [NOTE] })
      await first.transaction('installation', (tx) => tx.statements(noteWriter).insert(note('a')))
      const later = await stores.open({ tables: [LATER_NOTE] })
      expect(await later.read.statements(noteReader).all()).toEqual([note('a')])
      await stores.execute("UPDATE note SET answer = 'yes'")
      // The version before goes on writing.
      const before = await stores.open({ tables: [NOTE] })
      await before.transaction('installation', (tx) =>
        tx.statements(noteWriter).insert(note('a', { noteId: 'other', readAt: AT })),
      )
      expect(await before.read.statements(noteReader).all()).toEqual([
        note('a'),
        note('a', { noteId: 'other', readAt: AT }),
      ])
      expect(await before.check()).toEqual([])
    })

    it.each([
      ['by a service with the feature', [NOTE]],
      ['by one that does not know the table', []],
    ])('loses the rows of a user with the user, erased %s', async (_, tables: Table[]) => {
      const knowing = await stores.open({ tables: [NOTE] })
      await knowing.transaction('installation', async (tx) => {
        await tx.insertTenant(tenant('a'))
        for (const name of ['a', 'b']) {
          await tx.insertSubject(subject(name, { tenantId: 'ten_a' }))
          await tx.statements(noteWriter).insert(note(name))
        }
      })
      const erasing = await stores.open({ tables })
      await erasing.transaction('installation', (tx) => tx.eraseSubject(subject('a').blindIndex))
      expect(await knowing.read.statements(noteReader).all()).toEqual([note('b')])
    })

    it('loses or keeps the rows of a tenant at its end, and loses those that time ends', async () => {
      const store = await stores.open({ tables: [MARK, KEPT_MARK] })
      const mark = (name: string, endsAt: number): Mark => ({ tenantId: `ten_${name}`, name, endsAt })
      await store.transaction('installation', async (tx) => {
        for (const name of ['a', 'b']) await tx.insertTenant(tenant(name))
        for (const one of [mark('a', AT), mark('b', AT), { ...mark('b', AT - 1), name: 'old' }])
          await tx.statements(markWriter).insert(one)
        await tx.closeTenant('ten_a', AT)
      })
      const old = { ...mark('b', AT - 1), name: 'old' }
      expect(await store.read.statements(markReader).all()).toEqual([
        [mark('b', AT), old],
        [mark('a', AT), mark('b', AT), old],
      ])
      await store.transaction('rows', (tx) => tx.deleteExpired(AT + 999))
      expect(await store.read.statements(markReader).all()).toEqual([
        [mark('b', AT)],
        [mark('a', AT), mark('b', AT)],
      ])
    })

    it('loses the rows of a tenant that a version without the feature has deleted, at the next round of retention', async () => {
      const store = await stores.open({ tables: [MARK, KEPT_MARK] })
      const without = await stores.open({ tables: [] })
      // More than a batch, none of which time ends.
      const names = Array.from({ length: 300 }, (_, i) => `mark ${i}`)
      await store.transaction('installation', async (tx) => {
        for (const owner of ['a', 'b', 'c']) {
          await tx.insertTenant(tenant(owner))
          for (const name of names)
            await tx.statements(markWriter).insert({ tenantId: `ten_${owner}`, name, endsAt: AT + DAY_MS })
        }
      })
      const close = (id: string) => without.transaction('installation', (tx) => tx.closeTenant(id, AT))
      const retention = retentionOf(store)
      const left = async () => {
        await retention.run()
        const found = await store.read.statements(markReader).all()
        return found.map((marks) => [...new Set(marks.map(({ tenantId }) => tenantId))])
      }
      const all = ['ten_a', 'ten_b', 'ten_c']
      await close('ten_a')
      expect(await left()).toEqual([['ten_b', 'ten_c'], all])
      // During an upgrade a service of the version before may still delete tenants.
      await close('ten_c')
      expect(await left()).toEqual([['ten_b'], all])
      expect(await left()).toEqual([['ten_b'], all])
    })

    it('loses rows that others refer to after those, however many there are', async () => {
      const store = await stores.open({ tables: ACCOUNT_TABLES })
      const without = await stores.open({ tables: [] })
      const person = operator('pia', { id: 'per_pia', tenantId: 'ten_a' })
      await store.transaction('installation', async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.statements(accountWriter).putPerson(person)
        // More than a batch.
        for (let i = 0; i < 300; i++)
          await tx.statements(accountWriter).insertDashboardSession(session(`${i}`, { personId: person.id }))
        await tx.statements(accountWriter).putPerson(operator('olga'))
      })
      await without.transaction('installation', (tx) => tx.closeTenant('ten_a', AT))
      await retentionOf(store).run()
      const accounts = store.read.statements(accountReader)
      expect(await accounts.dashboardSessions(AT)).toEqual([])
      expect((await accounts.everyone()).map(({ name }) => name)).toEqual(['olga'])
    })

    it('fails as the store does where a statement cannot be run', async () => {
      const broken = (database: ReadConnection) => ({
        read: async () => database.prepare('SELECT 1 FROM no_such_table').all(),
      })
      await expect(stores.store.read.statements(broken).read()).rejects.toThrow(/no_such_table/)
    })
  })
})
