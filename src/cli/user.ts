/** `countersign user`: a tenant's users. Commands change the database, and a running service sees it at once. */
import type { Command } from 'commander'
import { COMMAND_LINE } from '../audit/audited-unit-of-work.js'
import type { Environment } from '../config/config.js'
import { action, CommandError, type OutputOptions, print } from './lib/output.js'
import { counted, fields } from './lib/style.js'
import { withCore } from './with-core.js'

export function registerUserCommands(user: Command): void {
  registerExport(user)
  user
    .command('show <tenant> <user>')
    .description('show whether a user is enrolled, and locked out')
    .option('--sandbox', 'look in the sandbox')
    .option('--json', 'print JSON')
    .action(
      action(async (tenant: string, userId: string, options: OutputOptions & { sandbox?: boolean }) => {
        const view = await lookUp(tenant, userId, options.sandbox ? 'sandbox' : 'production')
        const { user_id: _id, status: _status, enrolled_at, reference, lockout, ...credentials } = view
        print(options, view, () =>
          fields([
            ['User', userId],
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
        )
      }),
    )

  user
    .command('unlock <tenant> <user>')
    .description('end the lockout of a user; a disabled reference needs a new enrollment')
    .option('--json', 'print JSON')
    .action(
      action(async (tenant: string, userId: string, options: OutputOptions) => {
        const rejections = await withCore(async ({ tenancy, operations }) =>
          operations.users.unlock(await tenancy.find(tenant), COMMAND_LINE, userId),
        )
        print(
          options,
          { user_id: userId, status: 'unlocked', rejections },
          () => `Unlocked ${userId} of ${tenant}: ${counted(rejections, 'rejection')} in a row forgotten.`,
        )
      }),
    )
}

function registerExport(user: Command): void {
  user
    .command('export <tenant> <user>')
    .description('print all that is kept about a user as JSON, except templates; the audit log records it')
    .option('--sandbox', 'look in the sandbox')
    .option('--json', 'print JSON in one line')
    .action(
      action(async (tenant: string, userId: string, options: OutputOptions & { sandbox?: boolean }) => {
        const environment = options.sandbox ? 'sandbox' : 'production'
        const facts = await withCore(async ({ tenancy, operations }) =>
          operations.exports.run(await tenancy.find(tenant), COMMAND_LINE, { environment, userId }),
        )
        print(options, facts, () => JSON.stringify(facts, null, 2))
      }),
    )
}

/** @throws CommandError user_not_found */
async function lookUp(tenant: string, userId: string, environment: Environment) {
  const user = await withCore(async ({ tenancy, operations }) =>
    operations.users.find(await tenancy.find(tenant), { environment, userId }),
  )
  if (!user) throw new CommandError('user_not_found', `No user ${userId} is enrolled in ${environment}.`)
  return user
}
