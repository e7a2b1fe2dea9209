/** `countersign operator sessions | sign-out` and `countersign tenant sessions | sign-out`: lists and ends dashboard sessions. */
import type { Command } from 'commander'
import { UNNAMED_OPERATOR } from '../../admin/session-operations.js'
import { sessionView } from '../../admin/views.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { answers, UsageError } from '../lib/output.js'
import { counted, listing } from '../lib/style.js'
import { operate } from '../tenant/tenant-options.js'
import { withCore } from '../with-core.js'

interface SignOutOptions {
  all?: boolean
  session?: string
}

export function registerOperatorSessions(operator: Command): void {
  answers(
    operator
      .command('sessions')
      .description('list the dashboard sessions: person, start, last use, address and browser'),
    async () => (await withCore(({ operations }) => operations.sessions.list())).map(sessionView),
    sessionTable,
  )

  answers(
    operator
      .command('sign-out [name]')
      .description(
        `end the sessions of an operator (${UNNAMED_OPERATOR}: of the unnamed one) or of all operators, or any single session`,
      )
      .option('--all', 'sessions of all operators')
      .option('--session <id>', 'id of one session, from countersign operator sessions'),
    async (name: string | undefined, { all, session }: SignOutOptions) => {
      if ([name, all, session].filter((one) => one !== undefined).length !== 1)
        throw new UsageError('wrong_usage', 'Give exactly one of: an operator, --all, --session <id>.')
      return withCore(async ({ operations: { sessions } }) => {
        if (session !== undefined) {
          await sessions.end(session, COMMAND_LINE)
          return { sessions: 1 }
        }
        const ended =
          name === undefined
            ? await sessions.endOfOperators(COMMAND_LINE)
            : await sessions.endOfPerson(name, COMMAND_LINE)
        return { sessions: ended }
      })
    },
    ({ sessions }) => `${counted(sessions, 'session')} ended.`,
  )
}

export function registerTenantSessions(tenant: Command): void {
  answers(
    tenant.command('sessions <tenant>').description('list the dashboard sessions of a tenant'),
    (name: string) =>
      operate(name, async ({ sessions }, { id }) =>
        (await sessions.list()).filter(({ tenantId }) => tenantId === id).map(sessionView),
      ),
    sessionTable,
  )

  answers(
    tenant
      .command('sign-out <tenant>')
      .description('end every dashboard session of a tenant, and its unused login links'),
    (name: string) => operate(name, ({ sessions }, { id }) => sessions.endOfTenant(id, COMMAND_LINE)),
    ({ sessions, links }) => `${counted(sessions, 'session')} and ${counted(links, 'login link')} ended.`,
  )
}

function sessionTable(views: Array<ReturnType<typeof sessionView>>): string {
  if (views.length === 0) return 'Nobody is signed in.'
  return listing(
    ['SESSION', 'WHO', 'BY', 'SINCE', 'LAST USED', 'FROM', 'BROWSER'],
    views.map((view) => [
      view.id,
      view.operator ?? (view.person === null ? `tenant ${view.tenant}` : `${view.person} of ${view.tenant}`),
      view.method ?? '',
      view.created_at ?? '',
      view.last_used_at ?? '',
      view.address ?? '',
      view.browser ?? '',
    ]),
  )
}
