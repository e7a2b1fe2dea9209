/** `countersign models shadow`: prints what the candidate in shadow would have decided, by tenant and day. */
import type { Command } from 'commander'
import { commandsOn, wholeNumberTo } from '../../../cli/lib/command.js'
import type { CommandHost } from '../../../cli/lib/feature-command.js'
import { type Cell, listing } from '../../../cli/lib/style.js'
import { DAY_MS, systemClock } from '../../../lib/clock.js'
import { type Histogram, totalOf } from '../histogram.js'
import { type ShadowView, shadowViews } from './shadow-view.js'

interface TenantShadow extends ShadowView {
  tenant: string
}

/** The counts are kept for 100 days. */
const MOST_DAYS = 100

export function registerShadowCommand(shadow: Command, host: CommandHost): void {
  commandsOn(host).coreCommand(shadow, '[tenant]', {
    options: {
      '--days <days>': {
        does: 'days to show, 1 to 100, with today',
        default: '30',
        parse: wholeNumberTo(MOST_DAYS),
      },
    },
    json: 'print JSON, with histograms of the scores',
    async answer({ store, tenancy }, { tenant: name, days }) {
      const since = (Math.floor(systemClock.now() / DAY_MS) - days + 1) * DAY_MS
      const tenants = name === undefined ? await store.read.tenants() : [await tenancy.find(name)]
      const all: TenantShadow[] = []
      for (const { id, name: tenant, deletedAt } of tenants)
        if (deletedAt === null)
          for (const view of await shadowViews(store.read, id, since)) all.push({ tenant, ...view })
      return all
    },
    text: (views, { days }) =>
      views.length === 0 ? `No candidate saw a verification within ${days} days.` : textOf(views),
  })
}

function textOf(views: readonly TenantShadow[]): string {
  return listing(
    ['TENANT', 'DAY', 'CANDIDATE', 'COMPARED', 'WOULD APPROVE', 'WOULD REJECT', 'NO TEMPLATE', 'DROPPED'],
    views.map((view) => [
      ...[view.tenant, view.day, view.candidate, String(view.compared)],
      ...[changes(view.would_approve), changes(view.would_reject), String(view.no_template)],
      String(view.dropped + view.not_comparable + view.failed),
    ]),
  )
}

/** The total, and the reasons or codes behind it, the most frequent first. */
function changes(byCode: Histogram): Cell {
  const codes = Object.entries(byCode).sort(([, a], [, b]) => b - a)
  if (codes.length === 0) return '0'
  const each = codes.map(([code, count]) => `${code} ${count}`).join(', ')
  return { text: `${totalOf(byCode)} (${each})`, style: 'yellow' }
}
