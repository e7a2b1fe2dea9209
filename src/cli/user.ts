/** `countersign user`: a tenant's users. Commands change the database, and a running service sees it at once. */
import type { Command } from 'commander'
import { COMMAND_LINE } from '../audit/audited-unit-of-work.js'
import { answers, CommandError } from './lib/output.js'
import { environmentOf, type SandboxOption } from './lib/sandbox-option.js'
import { counted, fields } from './lib/style.js'
import { withCore } from './with-core.js'

export function registerUserCommands(user: Command): void {
  answers(
    user
      .command('export <tenant> <user>')
      .description('print all that is kept about a user as JSON, except templates; the audit log records it')
      .option('--sandbox', 'look in the sandbox')
      .option('--json', 'print JSON in one line'),
    (tenant: string, userId: string, options: SandboxOption) =>
      withCore(async ({ tenancy, operations }) => {
        const address = { environment: environmentOf(options), userId }
        return operations.exports.run(await tenancy.find(tenant), COMMAND_LINE, address)
      }),
    (facts) => JSON.stringify(facts, null, 2),
  )

  answers(
    user
      .command('show <tenant> <user>')
      .description('show whether a user is enrolled, and locked out')
      .option('--sandbox', 'look in the sandbox'),
    (tenant: string, userId: string, options: SandboxOption) =>
      withCore(async ({ tenancy, operations }) => {
        const environment = environmentOf(options)
        const found = await operations.users.find(await tenancy.find(tenant), { environment, userId })
        if (found) return found
        throw new CommandError('user_not_found', `No user ${userId} is enrolled in ${environment}.`)
      }),
    ({ user_id, status: _status, enrolled_at, reference, lockout, ...credentials }) =>
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
  )

  answers(
    user
      .command('unlock <tenant> <user>')
      .description('end the lockout of a user; a disabled reference needs a new enrollment'),
    (tenant: string, userId: string) =>
      withCore(async ({ tenancy, operations }) => ({
        user_id: userId,
        status: 'unlocked',
        rejections: await operations.users.unlock(await tenancy.find(tenant), COMMAND_LINE, userId),
      })),
    ({ user_id, rejections }, tenant) =>
      `Unlocked ${user_id} of ${tenant}: ${counted(rejections, 'rejection')} in a row forgotten.`,
  )
}
