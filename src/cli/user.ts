/** `countersign user`: a tenant's users. Commands change the database, and a running service sees it at once. */
import type { Command } from 'commander'
import { COMMAND_LINE } from '../audit/audited-unit-of-work.js'
import { subcommand } from './lib/command.js'
import { CommandError } from './lib/output.js'
import { environmentOf } from './lib/sandbox-option.js'
import { counted, fields } from './lib/style.js'
import { onTenant } from './with-core.js'

const SANDBOX = { '--sandbox': 'look in the sandbox' } as const

export function registerUserCommands(user: Command): void {
  subcommand(user, 'export <tenant> <user>', {
    does: 'print all that is kept about a user as JSON, except templates; the audit log records it',
    options: SANDBOX,
    json: 'print JSON in one line',
    answer: ({ tenant, user: userId, ...options }) =>
      onTenant(tenant, ({ operations }, found) =>
        operations.exports.run(found, COMMAND_LINE, { environment: environmentOf(options), userId }),
      ),
    text: (facts) => JSON.stringify(facts, null, 2),
  })

  subcommand(user, 'show <tenant> <user>', {
    does: 'show whether a user is enrolled, and locked out',
    options: SANDBOX,
    answer: ({ tenant, user: userId, ...options }) =>
      onTenant(tenant, async ({ operations }, of) => {
        const environment = environmentOf(options)
        const found = await operations.users.find(of, { environment, userId })
        if (found) return found
        throw new CommandError('user_not_found', `No user ${userId} is enrolled in ${environment}.`)
      }),
    text: ({ user_id, status: _status, enrolled_at, reference, lockout, ...credentials }) =>
      fields([
        ['User', user_id],
        ['Enrolled', enrolled_at],
        ['Reference', `${reference.reference_id}, of ${reference.created_at}`],
        ['Photos', String(reference.views)],
        ['Model', reference.model],
        [
          'Consent',
          reference.consent ? `${reference.consent.id}, ${reference.consent.agreed_at}` : 'not recorded',
        ],
        ['Lockout', lockout.ends_at ? `${lockout.status} until ${lockout.ends_at}` : lockout.status],
        ['Rejections', `${lockout.rejections} in a row`],
        ...Object.entries(credentials).map(([name, count]): [string, string] => [
          `${name[0]!.toUpperCase()}${name.slice(1)}`,
          String(count),
        ]),
      ]),
  })

  subcommand(user, 'unlock <tenant> <user>', {
    does: 'end the lockout of a user; a disabled reference needs a new enrollment',
    answer: ({ tenant, user: user_id }) =>
      onTenant(tenant, async ({ operations }, found) => ({
        user_id,
        status: 'unlocked',
        rejections: await operations.users.unlock(found, COMMAND_LINE, user_id),
      })),
    text: ({ user_id, rejections }, { tenant }) =>
      `Unlocked ${user_id} of ${tenant}: ${counted(rejections, 'rejection')} in a row forgotten.`,
  })
}
