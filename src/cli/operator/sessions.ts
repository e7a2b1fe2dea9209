/** `countersign operator sessions | sign-out` and `countersign tenant sessions | sign-out`: lists and ends dashboard sessions. */
import type { Command } from 'commander'
import { UNNAMED_OPERATOR } from '../../admin/session-operations.js'
import { sessionView } from '../../admin/views.js'
import { declare } from '../lib/command.js'
import { UsageError } from '../lib/output.js'
import { counted, listing } from '../lib/style.js'
import { coreCommand, liveTenantCommand, withCore } from '../with-core.js'

export function registerOperatorSessions(operator: Command): void {
  coreCommand(operator, 'sessions', {
    does: 'list the dashboard sessions: person, start, last use, address and browser',
    answer: async ({ operations }) => (await operations.sessions.list()).map(sessionView),
    text: sessionTable,
  })

  declare(operator, 'sign-out [name]', {
    does: `end the sessions of an operator (${UNNAMED_OPERATOR}: of the unnamed one) or of all operators, or any single session`,
    options: {
      '--all': 'sessions of all operators',
      '--session <id>': 'id of one session, from countersign operator sessions',
    },
    async answer({ name, all, session }) {
      if ([name !== undefined, all, session !== undefined].filter(Boolean).length !== 1)
        throw new UsageError('wrong_usage', 'Give exactly one of: an operator, --all, --session <id>.')
      return withCore(async ({ operations: { sessions }, actor }) => {
        if (name !== undefined) return { sessions: await sessions.endOfPerson(name, actor) }
        if (session === undefined) return { sessions: await sessions.endOfOperators(actor) }
        await sessions.end(session, actor)
        return { sessions: 1 }
      })
    },
    text: ({ sessions }) => `${counted(sessions, 'session')} ended.`,
  })
}

export function registerTenantSessions(tenant: Command): void {
  liveTenantCommand(tenant, 'sessions <tenant>', {
    does: 'list the dashboard sessions of a tenant',
    answer: async ({ operations, tenant: { id } }) =>
      (await operations.sessions.list()).filter(({ tenantId }) => tenantId === id).map(sessionView),
    text: sessionTable,
  })

  liveTenantCommand(tenant, 'sign-out <tenant>', {
    does: 'end every dashboard session of a tenant, and its unused login links',
    answer: ({ operations, tenant, actor }) => operations.sessions.endOfTenant(tenant.id, actor),
    text: ({ sessions, links }) =>
      `${counted(sessions, 'session')} and ${counted(links, 'login link')} ended.`,
  })
}

function sessionTable(views: Array<ReturnType<typeof sessionView>>): string {
  if (views.length === 0) return 'Nobody is signed in.'
  return listing(
    ['SESSION', 'WHO', 'BY', 'SINCE', 'LAST USED', 'FROM', 'BROWSER'],
    views.map((view) => [
      view.id,
      view.operator ?? (view.person === null ? `tenant ${view.tenant}` : `${view.person} of ${view.tenant}`),
      ...[view.method, view.created_at, view.last_used_at, view.address, view.browser].map(
        (one) => one ?? '',
      ),
    ]),
  )
}
