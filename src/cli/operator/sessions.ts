/** `countersign operator sessions | sign-out` and `countersign tenant sessions | sign-out`: lists and ends dashboard sessions. */
import type { Command } from 'commander'
import { type NamedSession, UNNAMED_OPERATOR } from '../../admin/session-operations.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { isoTime, optionalTime } from '../../lib/clock.js'
import { action, type OutputOptions, print, UsageError } from '../lib/output.js'
import { counted, listing } from '../lib/style.js'
import { operate } from '../tenant/tenant-options.js'
import { withCore } from '../with-core.js'

interface SignOutOptions extends OutputOptions {
  all?: boolean
  session?: string
}

export function registerOperatorSessions(operator: Command): void {
  operator
    .command('sessions')
    .description('list the dashboard sessions: person, start, last use, address and browser')
    .option('--json', 'print JSON')
    .action(
      action(async (options: OutputOptions) => {
        showSessions(options, await withCore(({ operations }) => operations.sessions.list()))
      }),
    )

  operator
    .command('sign-out [name]')
    .description(
      `end the sessions of an operator (${UNNAMED_OPERATOR}: of the unnamed one) or of all operators, or any single session`,
    )
    .option('--all', 'sessions of all operators')
    .option('--session <id>', 'id of one session, from countersign operator sessions')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string | undefined, options: SignOutOptions) => {
        if ([name, options.all, options.session].filter((one) => one !== undefined).length !== 1)
          throw new UsageError('wrong_usage', 'Give exactly one of: an operator, --all, --session <id>.')
        const ended = await withCore(async ({ operations: { sessions } }) => {
          if (options.session !== undefined) {
            await sessions.end(options.session, COMMAND_LINE)
            return 1
          }
          return name === undefined
            ? sessions.endOfOperators(COMMAND_LINE)
            : sessions.endOfPerson(name, COMMAND_LINE)
        })
        print(options, { sessions: ended }, () => `${counted(ended, 'session')} ended.`)
      }),
    )
}

export function registerTenantSessions(tenant: Command): void {
  tenant
    .command('sessions <tenant>')
    .description('list the dashboard sessions of a tenant')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions) => {
        const sessions = await operate(name, async (operations, { id }) =>
          (await operations.sessions.list()).filter(({ tenantId }) => tenantId === id),
        )
        showSessions(options, sessions)
      }),
    )

  tenant
    .command('sign-out <tenant>')
    .description('end every dashboard session of a tenant, and its unused login links')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions) => {
        const ended = await operate(name, ({ sessions }, { id }) => sessions.endOfTenant(id, COMMAND_LINE))
        print(
          options,
          ended,
          () => `${counted(ended.sessions, 'session')} and ${counted(ended.links, 'login link')} ended.`,
        )
      }),
    )
}

function showSessions(options: OutputOptions, sessions: NamedSession[]): void {
  const views = sessions.map((session) => ({
    id: session.id,
    operator: session.operator,
    tenant: session.tenant,
    person: session.person,
    method: session.method,
    created_at: optionalTime(session.createdAt),
    last_used_at: optionalTime(session.lastUsedAt),
    ends_at: isoTime(session.expiresAt),
    address: session.address,
    browser: session.browser,
  }))
  print(options, views, () =>
    views.length === 0
      ? 'Nobody is signed in.'
      : listing(
          ['SESSION', 'WHO', 'BY', 'SINCE', 'LAST USED', 'FROM', 'BROWSER'],
          views.map((view) => [
            view.id,
            view.operator ??
              (view.person === null ? `tenant ${view.tenant}` : `${view.person} of ${view.tenant}`),
            view.method ?? '',
            view.created_at ?? '',
            view.last_used_at ?? '',
            view.address ?? '',
            view.browser ?? '',
          ]),
        ),
  )
}
