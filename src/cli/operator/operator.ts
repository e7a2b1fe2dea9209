/** `countersign operator`: the people who operate the installation through the dashboard, each with a name and a role. */
import type { Command } from 'commander'
import type { PersonRecord, PersonRole } from '../../admin/accounts/account-tables.js'
import { SIGN_IN_LINK_MS } from '../../admin/people-operations.js'
import { UNNAMED_OPERATOR } from '../../admin/session-operations.js'
import { operatorView } from '../../admin/views.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { MINUTE_MS } from '../../lib/clock.js'
import { action, note, type OutputOptions, print, UsageError } from '../lib/output.js'
import { listing } from '../lib/style.js'
import { servedAdminUrl } from '../serve/served-urls.js'
import { withCore } from '../with-core.js'
import { registerOperatorSessions } from './sessions.js'

export const ROLES = 'admin, who may do everything, or viewer, who may only read'

export function registerOperatorCommands(operator: Command): void {
  operator
    .command('list')
    .description('list the named operators')
    .option('--json', 'print JSON')
    .action(
      action(async (options: OutputOptions) => {
        const views = (await withCore(({ operations }) => operations.operators.list())).map(operatorView)
        print(options, views, () =>
          views.length === 0
            ? 'There are no named operators yet: anyone who has the operator password is the operator. Add one with: countersign operator add <name> --role admin'
            : listing(
                ['NAME', 'ROLE', 'CREATED', 'LAST SIGN-IN'],
                views.map(({ name, role, created_at, last_sign_in_at, last_sign_in_by }) => [
                  name,
                  role,
                  created_at,
                  last_sign_in_at ? `${last_sign_in_at} by ${last_sign_in_by}` : 'never',
                ]),
              ),
        )
      }),
    )

  operator
    .command('add <name>')
    .description('add an operator, who signs in with this name; prints the password, once')
    .requiredOption('--role <role>', ROLES)
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions & { role: string }) => {
        const role = parseRole(options.role)
        const made = await withCore(({ operations }) => operations.operators.add(name, role, COMMAND_LINE))
        showPassword(options, made)
      }),
    )

  operator
    .command('set-role <name>')
    .description('change the role of an operator, effective at once')
    .requiredOption('--role <role>', ROLES)
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions & { role: string }) => {
        const role = parseRole(options.role)
        const changed = await withCore(({ operations }) =>
          operations.operators.setRole(name, role, COMMAND_LINE),
        )
        print(options, operatorView(changed), () => `${name} is ${role} now.`)
      }),
    )

  operator
    .command('reset-password <name>')
    .description("generate a new password for an operator, print it once, and end the operator's sessions")
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions) => {
        showPassword(
          options,
          await withCore(({ operations }) => operations.operators.resetPassword(name, COMMAND_LINE)),
        )
      }),
    )

  operator
    .command('reset-second-factor <name>')
    .description(
      `remove the second factor of an operator who has lost it (${UNNAMED_OPERATOR}: of the one without a name)`,
    )
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions) => {
        await withCore(({ operations }) => operations.secondFactors.reset(name, COMMAND_LINE))
        print(
          options,
          { name, second_factor: false },
          () => `${name} signs in with only the password from now on.`,
        )
      }),
    )

  operator
    .command('sign-in-link [name]')
    .description(
      'print a link that signs an operator in once, without password or OpenID provider (default: the unnamed one)',
    )
    .option('--json', 'print JSON')
    .action(
      action(async (name: string | undefined, options: OutputOptions) => {
        const link = await withCore(async ({ operations, store }, config) =>
          operations.operators.createSignInLink(
            name ?? UNNAMED_OPERATOR,
            await servedAdminUrl(store, config),
            COMMAND_LINE,
          ),
        )
        print(options, { dashboard_url: link }, () => link)
        if (!options.json) note(`The link works once, within ${SIGN_IN_LINK_MS / MINUTE_MS} minutes.`)
      }),
    )

  operator
    .command('remove <name>')
    .description("remove an operator and end the operator's sessions")
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions) => {
        const removed = await withCore(({ operations }) => operations.operators.remove(name, COMMAND_LINE))
        print(options, operatorView(removed), () => `${name} can no longer sign in.`)
      }),
    )

  registerOperatorSessions(operator)
}

function showPassword(
  options: OutputOptions,
  { operator, password }: { operator: PersonRecord; password: string },
): void {
  print(options, { ...operatorView(operator), password }, () => password)
  if (!options.json) note(`The password of ${operator.name}, shown only now.`)
}

export function parseRole(text: string): PersonRole {
  if (text === 'admin' || text === 'viewer') return text
  throw new UsageError('invalid_option', `--role is "${text}"; expected ${ROLES}.`)
}
