/** Checks after all faults have ended that everything acknowledged exists once, and that every audit log is intact. */
import type { Core } from '../../src/admin/core.js'
import type { Caller } from './caller.js'
import { type ChaosTenant, type Effect, type Journal, NAMED_BY } from './journal.js'
import { atEveryNode } from './scenarios.js'

const PAGE = 1000
/** Number of erased users that are asked for at every node; the last ones are taken. */
const MAX_ASKED = 200

export interface Entry {
  event: string
  status?: number
  repeated?: boolean
  [fact: string]: unknown
}

/** @param ledger core of this process, whose connections pass no proxy */
export async function examine(
  { store, audit }: Core,
  caller: Caller,
  tenants: readonly ChaosTenant[],
): Promise<void> {
  const { journal } = caller
  for (const tenant of tenants) {
    const { brokenAt } = await audit.verify(store.read, tenant.id)
    if (brokenAt !== null) journal.brokenChains.push(`the chain of ${tenant.name} is broken at ${brokenAt}`)
    const entries: Entry[] = []
    for (;;) {
      const page = await store.read.auditEntries(tenant.id, entries.length, PAGE)
      entries.push(...page.map(({ entry }) => JSON.parse(entry) as Entry))
      if (page.length < PAGE) break
    }
    compare(tenant, entries, journal)
  }
  const insistently: Parameters<typeof atEveryNode>[3] = async (node, request) => {
    for (;;) {
      const answer = await caller.ask(node, request)
      if (answer) return answer
    }
  }
  for (const user of journal.living) await atEveryNode(caller, user, 200, insistently)
  for (const user of journal.erased.slice(-MAX_ASKED)) await atEveryNode(caller, user, 404, insistently)
}

/** Compares the audit log of production with the answers that callers got. Every call was answered in the end, so both must be the same. */
export function compare(tenant: ChaosTenant, entries: readonly Entry[], journal: Journal): void {
  const told = new Map<string, Effect>()
  for (const effect of journal.effects)
    if (effect.tenantId === tenant.id) told.set(`${effect.event} ${effect.id}`, effect)
  const logged = new Map<string, number>()
  for (const entry of entries) {
    if (!isEffect(entry)) {
      // No caller has asked for anything that the service had to refuse.
      if (entry.event in NAMED_BY && entry.status !== 200)
        journal.broken.push(`${tenant.name} logs ${entry.event} ${entry.status} ${entry.code}`)
      continue
    }
    const name = `${entry.event} ${entry[NAMED_BY[entry.event]]}`
    logged.set(name, (logged.get(name) ?? 0) + 1)
  }
  for (const name of told.keys())
    if (!logged.has(name)) journal.lost.push(`${tenant.name} has no entry of ${name}`)
  for (const [name, times] of logged)
    if (times > 1) journal.executedTwice.push(`${tenant.name} logs ${name} ${times} times`)
    else if (!told.has(name))
      journal.executedTwice.push(`${tenant.name} logs ${name}, of which no caller knows`)
  const unlocks = entries.filter(({ event }) => event === 'user_unlocked').length
  const known = journal.unlocked.get(tenant.id) ?? 0
  // The command has no idempotency key, so it is repeated when its answer was lost.
  if (unlocks < known) journal.lost.push(`${tenant.name} logs ${unlocks} of ${known} unlocks`)
}

function isEffect(entry: Entry): entry is Entry & { event: Effect['event'] } {
  const { event, status = 0, repeated } = entry
  return event in NAMED_BY && status >= 200 && status < 300 && repeated !== true
}
