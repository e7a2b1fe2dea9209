/** When the effect of a call must not come about: its time is over, or its caller is gone. */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Endpoint } from '../../src/api/endpoint.js'
import type { Environment } from '../../src/config/config.js'
import { EndpointRunner } from '../../src/http/endpoint-runner.js'
import type { StoreTransaction } from '../../src/storage/store.js'
import type { Call } from '../../src/verification/call.js'
import { descriptionOf } from '../support/descriptions.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile()
const { store, audit, tenancy, vault } = running.service.core
const tenant = await tenancy.find((await running.tenant()).id)
const runner = new EndpointRunner({ environment: 'production', store, audit, vault })
/** How often the effect came about. */
let effects = 0
beforeEach(() => {
  effects = 0
})

const entries = async () => (await store.read.auditEntries(tenant.id, 0, 1000)).length

function callWith(changes: Partial<Call<unknown>>): Call<unknown> {
  return {
    input: {},
    environment: 'production',
    tenant,
    keyId: 'key_1',
    requestId: 'req_1',
    deadlineMs: performance.now() + 60_000,
    signal: new AbortController().signal,
    timings: {},
    ...changes,
  } as Call<unknown>
}

/** Does its slow work, then has an effect inside the transaction, as every endpoint does. */
function endpoint(work: () => Promise<void> = async () => {}): Endpoint<unknown> {
  return {
    ...descriptionOf('verify'),
    async handle() {
      await work()
      return async () => {
        effects++
        return { status: 200, body: {} }
      }
    },
  }
}

/** A transaction that notes the names of what is asked of it. */
const noting = (tx: StoreTransaction, names: string[]) =>
  new Proxy(tx, {
    get(target, name) {
      names.push(String(name))
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

const until = async (ms: number) => {
  while (performance.now() <= ms) await sleep(5)
}

describe('the effect of a call', () => {
  it('commits the effect of a call with its audit entry before the deadline', async () => {
    const before = await entries()
    expect((await runner.run(endpoint(), callWith({}), undefined)).status).toBe(200)
    expect([effects, await entries()]).toEqual([1, before + 1])
  })

  it('reads the end of the audit log only for a call that is recorded there', async () => {
    const read: string[] = []
    const transaction: typeof store.transaction = (scope, work, deadlineMs) =>
      store.transaction(scope, (tx) => work(noting(tx, read)), deadlineMs)
    const endsOf = async (environment: Environment, called: Endpoint<unknown>) => {
      read.length = 0
      const watched = new EndpointRunner({
        environment,
        store: Object.create(store, { transaction: { value: transaction } }),
        audit,
        vault,
      })
      await watched.run(called, callWith({ environment }), undefined)
      return read.filter((name) => name === 'auditEnd').length
    }
    const { auditEvent: _, ...unrecorded } = endpoint()
    expect([
      await endsOf('production', endpoint()),
      await endsOf('production', unrecorded),
      await endsOf('sandbox', endpoint()),
    ]).toEqual([1, 0, 0])
  })

  it('commits nothing after the deadline, and does not hold a locked database responsible', async () => {
    const before = await entries()
    const holder = new Database(join(running.dataDir, 'countersign.db'))
    holder.exec('BEGIN IMMEDIATE')
    try {
      const deadlineMs = performance.now() + 20
      const late = runner.run(
        endpoint(() => until(deadlineMs)),
        callWith({ deadlineMs }),
        undefined,
      )
      await expect(late).rejects.toMatchObject({ code: 'deadline_exceeded' })
    } finally {
      holder.close()
    }
    expect([effects, await entries()]).toEqual([0, before])
  })

  it('commits nothing where the deadline passes while it waits for other transactions', async () => {
    const before = await entries()
    const deadlineMs = performance.now() + 100
    const other = store.transaction('installation', () => until(deadlineMs))
    const late = runner.run(endpoint(), callWith({ deadlineMs }), undefined)
    await expect(late).rejects.toMatchObject({ code: 'deadline_exceeded' })
    await other
    expect([effects, await entries()]).toEqual([0, before])
  })

  it('commits nothing once the caller has hung up', async () => {
    const before = await entries()
    const caller = new AbortController()
    const cancelled = runner.run(
      endpoint(async () => caller.abort()),
      callWith({ signal: caller.signal }),
      undefined,
    )
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' })
    expect([effects, await entries()]).toEqual([0, before])
  })
})
