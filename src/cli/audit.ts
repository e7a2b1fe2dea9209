/** `countersign audit`: prints, exports, anchors and verifies the audit logs. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { Core } from '../admin/core.js'
import type { AuditAnchor } from '../audit/audit-log.js'
import { declare } from './lib/command.js'
import { CommandError, EXIT } from './lib/output.js'
import { progressBar } from './lib/progress.js'
import { type Cell, listing } from './lib/style.js'
import { coreCommand, withCore } from './with-core.js'

export function registerAuditCommands(audit: Command): void {
  declare(audit, 'verify', {
    does: 'check the hash chain of every tenant',
    options: {
      '--anchor <file>': 'file with the output of `audit anchor`, which the logs must still contain',
    },
    async answer({ anchor }) {
      const anchors = anchor ? readAnchors(anchor) : []
      const views = await withCore((core) => chainsOf(core, anchors))
      const isBad = ({ broken_at, anchored }: ChainView) => broken_at !== null || anchored === false
      if (views.some(isBad)) process.exitCode = EXIT.failed
      return views
    },
    text: (views) =>
      listing(
        ['TENANT', 'ENTRIES', 'CHAIN'],
        views.map((view) => [view.name, String(view.entries), describeChain(view)]),
      ),
  })

  coreCommand(audit, 'anchor', {
    does: 'print the end of every log; keep it away from the database',
    async answer({ store, audit: log }) {
      const views: Array<{ tenant_id: string; sequence: number; hash: string }> = []
      for (const { id, name } of await store.read.tenants()) {
        // Verify before making an anchor: an anchor of a changed log would vouch for the change.
        if (!(await log.endsAsSealed(store.read, id)))
          throw new CommandError(
            'audit_log_broken',
            `The log of ${name} does not end as it was sealed, so no anchor is made. Run countersign audit verify to see where it breaks.`,
          )
        const anchor = await log.anchor(store.read, id)
        if (anchor)
          views.push({ tenant_id: id, sequence: anchor.sequence, hash: anchor.hash.toString('hex') })
      }
      return views
    },
    text: (views) =>
      views.map(({ tenant_id, sequence, hash }) => `${tenant_id}:${sequence}:${hash}`).join('\n'),
  })
}

/** Checks every log. @throws CommandError tenant_not_found for an anchor of an unknown tenant */
async function chainsOf({ store, audit: log }: Core, anchors: AuditAnchor[]): Promise<ChainView[]> {
  const views: ChainView[] = []
  const tenants = await store.read.tenants()
  const progress = progressBar('Verifying')
  try {
    for (const { id, name } of tenants) {
      progress.update(views.length, tenants.length, name)
      const { entries, brokenAt } = await log.verify(store.read, id)
      views.push({ tenant_id: id, name, entries, broken_at: brokenAt })
    }
  } finally {
    progress.stop()
  }
  for (const anchor of anchors) {
    const view = views.find(({ tenant_id }) => tenant_id === anchor.tenantId)
    if (!view) throw new CommandError('tenant_not_found', `There is no tenant ${anchor.tenantId}.`)
    view.anchored = (view.anchored ?? true) && (await log.holds(store.read, anchor))
  }
  return views
}

interface ChainView {
  tenant_id: string
  name: string
  entries: number
  broken_at: number | null
  /** Whether the log contains the entry of every anchor that was given. */
  anchored?: boolean
}

function describeChain({ broken_at, anchored }: ChainView): Cell {
  if (broken_at !== null) return { text: `broken at entry ${broken_at}`, style: 'red' }
  if (anchored === false) return { text: 'intact, but without an entry that was anchored', style: 'red' }
  return { text: 'intact', style: 'green' }
}

const ANCHOR = /^(ten_[0-9A-Za-z]+):([1-9]\d*):([0-9a-f]{64})$/

/** @throws CommandError unreadable_anchor */
function readAnchors(file: string): AuditAnchor[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandError('unreadable_anchor', `Cannot read ${file}: ${(error as Error).message}`)
  }
  return text
    .split(/\r?\n/)
    .filter(Boolean)
    .map((line) => {
      const [, tenantId, sequence, hash] = ANCHOR.exec(line) ?? []
      if (!hash)
        throw new CommandError(
          'unreadable_anchor',
          `${file} contains a line that is not an anchor: ${line.slice(0, 80)}`,
        )
      return { tenantId: tenantId!, sequence: Number(sequence), hash: Buffer.from(hash, 'hex') }
    })
}
