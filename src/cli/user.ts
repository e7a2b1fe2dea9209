/** `countersign user`: a tenant's users. Commands change the database, and a running service sees it at once. */
import type { Command } from 'commander'
import { CommandError } from './lib/output.js'
import { environmentOf } from './lib/sandbox-option.js'
import { counted, fields } from './lib/style.js'
import { tenantCommand } from './with-core.js'

const SANDBOX = { '--sandbox': 'look in the sandbox' } as const

export function registerUserCommands(user: Command): void {
  tenantCommand(user, 'export <tenant> <user>', {
    does: 'print all that is kept about a user as JSON, except templates; the audit log records it',
    options: SANDBOX,
    json: 'print JSON in one line',
    answer: ({ operations, tenant, actor }, { user: userId, ...options }) =>
      operations.exports.run(tenant, actor, { environment: environmentOf(options), userId }),
    text: (facts) => JSON.stringify(facts, null, 2),
  })

  tenantCommand(user, 'show <tenant> <user>', {
    does: 'show whether a user is enrolled, and locked out',
    options: SANDBOX,
    async answer({ operations, tenant }, { user: userId, ...options }) {
      const environment = environmentOf(options)
      const found = await operations.users.find(tenant, { environment, userId })
      if (found) return found
      throw new CommandError('user_not_found', `No user ${userId} is enrolled in ${environment}.`)
    },
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

  tenantCommand(user, 'unlock <tenant> <user>', {
    does: 'end the lockout of a user; a disabled reference needs a new enrollment',
    answer: async ({ operations, tenant, actor }, { user: user_id }) => ({
      user_id,
      status: 'unlocked',
      rejections: await operations.users.unlock(tenant, actor, user_id),
    }),
    text: ({ user_id, rejections }, { tenant }) =>
      `Unlocked ${user_id} of ${tenant}: ${counted(rejections, 'rejection')} in a row forgotten.`,
  })
}
