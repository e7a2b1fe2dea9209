/** Tests of transactions in every store: atomic, isolated, consistent with reads, and durable. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type Store, StoreUnavailableError } from '../../../src/storage/store.js'
import { leash } from '../../support/leash.js'
import { auditEntry, bytes, insertUser, signingSecret, subject, tenant } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

/** Commits tenants as fast as it can, many at a time and each with an audit entry, and prints which are acknowledged. */
const WRITER = `
  const tenant = (name) => ({ ...${JSON.stringify(tenant('any'))}, id: 'ten_' + name, name })
  const run = process.argv[1]
  if (run === 'first') await store.transaction('installation', (tx) => tx.insertTenant(tenant('log')))
  let next = 0
  async function lane() {
    for (;;) {
      const name = run + '-' + next++
      await store.transaction('installation', async (tx) => {
        const head = await tx.auditHead('ten_log')
        await tx.insertTenant(tenant(name))
        await tx.appendAudit({ tenantId: 'ten_log', sequence: (head?.sequence ?? 0) + 1, entry: '{}', hash: Buffer.alloc(32) })
      })
      process.stdout.write(name + '\\n')
      // Without a turn of the loop of events, what a full pipe could not take is never sent.
      await new Promise(setImmediate)
    }
  }
  for (let i = 0; i < 8; i++) lane()
`

overStores((stores) => {
  const names = async (store: Store = stores.store) =>
    (await store.read.tenants()).map(({ name }) => name).sort()
  const insert = (name: string, store: Store = stores.store) =>
    store.transaction('installation', (tx) => tx.insertTenant(tenant(name)))
  /** Reads the user's failures and adds one, as a lockout does. */
  const countFailure = (store: Store, deadlineMs?: number) =>
    store.transaction(
      'installation',
      async (tx) => {
        const { failures } = (await tx.subject(bytes('ada')))!.subject
        await tx.setLockout('sub_ada', { failures: failures + 1, lockedUntil: null, disabledAt: null })
        return failures + 1
      },
      deadlineMs,
    )
  const insertAda = () => stores.insert({ tenants: ['a'], subjects: ['ada'] })
  /** Begins a transaction of another connection that holds the user's lock. */
  const hold = async () =>
    stores.hold((tx) => tx.setLockout('sub_ada', { failures: 100, lockedUntil: null, disabledAt: null }), {
      store: await stores.open(),
    })

  describe('a transaction', () => {
    it('resolves with the result of its work, and sees its own writes, which others see once it has resolved', async () => {
      let meanwhile: string[] | null = null
      const given = await stores.store.transaction('installation', async (tx) => {
        await tx.insertTenant(tenant('a'))
        meanwhile = await names()
        await tx.insertSubject(subject('ada'))
        await tx.setLockout('sub_ada', { failures: 2, lockedUntil: null, disabledAt: null })
        await tx.appendAudit(auditEntry(1))
        return {
          tenant: await tx.tenantByName('a'),
          failures: (await tx.subject(bytes('ada')))?.subject.failures,
          head: (await tx.auditHead('ten_a'))?.sequence,
        }
      })
      expect(given).toEqual({ tenant: tenant('a'), failures: 2, head: 1 })
      expect(meanwhile).toEqual([])
      expect(await names()).toEqual(['a'])
      expect(await names(await stores.open())).toEqual(['a'])
    })

    it('rejects with the error of its work, and writes nothing', async () => {
      const thrown = new RangeError('after the writes')
      const failing = stores.store.transaction('installation', async (tx) => {
        await tx.insertTenant(tenant('a'))
        await insertUser(tx, 'ada')
        await tx.appendAudit(auditEntry(1))
        throw thrown
      })
      await expect(failing).rejects.toBe(thrown)
      expect(await stores.store.read.counts()).toEqual({
        tenants: 0,
        references: { production: 0, sandbox: 0 },
        auditEntries: 0,
      })
    })

    it('does not affect others of its group when it rejects', async () => {
      const results = await Promise.allSettled([
        insert('before'),
        stores.store.transaction('installation', async (tx) => {
          await tx.insertTenant(tenant('failing'))
          throw new Error('after the write')
        }),
        stores.store.transaction('installation', async (tx) => {
          await tx.insertTenant(tenant('doubled'))
          await tx.insertTenant(tenant('doubled'))
        }),
        insert('after'),
      ])
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
      expect(results[1]).toMatchObject({ reason: { message: 'after the write' } })
      expect(await names()).toEqual(['after', 'before'])
    })

    it('rejects when it inserts a row that exists already, or that refers to a missing one', async () => {
      await insert('a')
      await expect(insert('a')).rejects.toThrow()
      await expect(
        stores.store.transaction('installation', (tx) =>
          insertUser(tx, 'ada').then(() => tx.insertSubject(subject('ada'))),
        ),
      ).rejects.toThrow()
      await expect(
        stores.store.transaction('installation', (tx) =>
          tx.insertSigningSecret(signingSecret('kid', { tenantId: 'ten_nobody' })),
        ),
      ).rejects.toThrow()
      // A caller's mistake must not look as if trying again could help.
      await expect(insert('a')).rejects.not.toBeInstanceOf(StoreUnavailableError)
      expect(await stores.store.read.counts()).toMatchObject({ tenants: 1, references: { production: 0 } })
    })

    it('succeeds when many are begun at once', async () => {
      const every = Array.from({ length: 200 }, (_, i) => `tenant-${`${i}`.padStart(3, '0')}`)
      await Promise.all(every.map((name) => insert(name)))
      expect(await names()).toEqual(every)
    })
  })

  describe('a lock that another connection holds', () => {
    it('is waited for, while reads continue and return committed state', async () => {
      await insertAda()
      const holder = await hold()
      const counting = countFailure(stores.store)
      for (let i = 0; i < 3; i++)
        expect((await stores.store.read.subject(bytes('ada')))?.subject.failures).toBe(0)
      holder.release()
      await holder.done
      expect(await counting).toBe(101)
      expect((await stores.store.read.subject(bytes('ada')))?.subject.failures).toBe(101)
    })

    it('is waited for until the deadline of each transaction, even of queued ones, after which the store works again', async () => {
      await insertAda()
      const holder = await hold()
      const soon = performance.now() + 200
      const count = (deadlineMs: number) => countFailure(stores.store, deadlineMs)
      const patient = count(soon + 600_000)
      const late = [count(soon), count(soon)]
      await sleep(30)
      late.push(count(soon))
      await Promise.all(late.map((one) => expect(one).rejects.toBeInstanceOf(StoreUnavailableError)))
      holder.release()
      await Promise.all([holder.done, patient])
      await countFailure(stores.store)
      expect((await stores.store.read.subject(bytes('ada')))?.subject.failures).toBe(102)
    })
  })

  describe('an open store', () => {
    it('is healthy and writable, reports no damage, and has a size', async () => {
      await insertAda()
      expect(await stores.store.isHealthy()).toBe(true)
      await expect(stores.store.assertWritable()).resolves.toBeUndefined()
      await expect(stores.store.assertWritable(performance.now() + 60_000)).resolves.toBeUndefined()
      expect(await stores.store.check()).toEqual([])
      expect(stores.store.size().database).toBeGreaterThan(0)
    })

    it('reports every commit and how many transactions shared it, to the last observer', async () => {
      const told: number[] = []
      stores.store.observeCommits(() => expect.unreachable('another asked since'))
      stores.store.observeCommits(({ durationMs, transactions }) => {
        expect(durationMs).toBeGreaterThanOrEqual(0)
        told.push(transactions)
      })
      await Promise.all(Array.from({ length: 20 }, (_, i) => insert(`tenant-${i}`)))
      expect(told.reduce((sum, count) => sum + count, 0)).toBe(20)
    })

    it('finishes begun transactions when it is closed, and refuses later ones', async () => {
      const begun = insert('begun')
      const closed = stores.store.close()
      await expect(insert('late')).rejects.toBeInstanceOf(StoreUnavailableError)
      await begun
      await closed
      await stores.store.close()
      expect(await names(await stores.open())).toEqual(['begun'])
    })

    it('returns the same data after it was closed and opened', async () => {
      await insertAda()
      await stores.store.close()
      const again = await stores.open()
      expect(await again.read.subject(bytes('ada'))).toEqual({
        ...{ subject: subject('ada'), reference: null, following: [], aged: null },
      })
      expect(await again.check()).toEqual([])
    })
  })

  it('keeps every acknowledged row when the process that wrote it is killed', {
    timeout: 120_000,
  }, async () => {
    const acknowledged: string[] = []
    for (const run of ['first', 'second', 'third']) {
      const script = `${stores.openingScript}\n${WRITER}`
      const child = spawn(process.execPath, [...leash(), '--input-type=module', '-e', script, run], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let output = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (output.length > 3000) child.kill('SIGKILL')
      })
      const [, signal] = await once(child, 'close')
      expect(signal).toBe('SIGKILL')
      acknowledged.push(...output.slice(0, output.lastIndexOf('\n')).split('\n'))
    }
    expect(acknowledged.length).toBeGreaterThan(300)
    expect(await stores.store.check()).toEqual([])
    const present = new Set(await names())
    expect(acknowledged.filter((name) => !present.has(name))).toEqual([])
    // Each tenant has its entry, and there is no entry without its tenant.
    expect((await stores.store.read.auditHead('ten_log'))?.sequence).toBe(present.size - 1)
  })
})
