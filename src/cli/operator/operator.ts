/** `countersign operator`: the people who operate the installation through the dashboard, each with a name and a role. */
import type { Command } from 'commander'
import type { PersonRole } from '../../admin/accounts/account-tables.js'
import { type NewPassword, SIGN_IN_LINK_MS } from '../../admin/people-operations.js'
import { UNNAMED_OPERATOR } from '../../admin/session-operations.js'
import { operatorView } from '../../admin/views.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { MINUTE_MS } from '../../lib/clock.js'
import { answers, UsageError } from '../lib/output.js'
import { listing } from '../lib/style.js'
import { servedAdminUrl } from '../serve/served-urls.js'
import { withCore } from '../with-core.js'
import { registerOperatorSessions } from './sessions.js'

export const ROLES = 'admin, who may do everything, or viewer, who may only read'

export function registerOperatorCommands(operator: Command): void {
  answers(
    operator.command('list').description('list the named operators'),
    async () => (await withCore(({ operations }) => operations.operators.list())).map(operatorView),
    (views) =>
      views.length === 0
        ? 'There are no named operators yet: anyone who has the operator password is the operator. Add one with: countersign operator add <name> --role admin'
        : listing(
            ['NAME', 'ROLE', 'CREATED', 'LAST SIGN-IN'],
            views.map((view) => [view.name, view.role, view.created_at, lastSignIn(view)]),
          ),
  )

  answers(
    operator
      .command('add <name>')
      .description('add an operator, who signs in with this name; prints the password, once')
      .requiredOption('--role <role>', ROLES),
    async (name: string, { role }: { role: string }) => {
      const parsed = parseRole(role)
      return passwordView(
        await withCore(({ operations }) => operations.operators.add(name, parsed, COMMAND_LINE)),
      )
    },
    passwordOf,
    remarkOnPassword,
  )

  answers(
    operator
      .command('set-role <name>')
      .description('change the role of an operator, effective at once')
      .requiredOption('--role <role>', ROLES),
    async (name: string, { role }: { role: string }) => {
      const parsed = parseRole(role)
      return operatorView(
        await withCore(({ operations }) => operations.operators.setRole(name, parsed, COMMAND_LINE)),
      )
    },
    ({ name, role }) => `${name} is ${role} now.`,
  )

  answers(
    operator
      .command('reset-password <name>')
      .description("generate a new password for an operator, print it once, and end the operator's sessions"),
    async (name: string) =>
      passwordView(
        await withCore(({ operations }) => operations.operators.resetPassword(name, COMMAND_LINE)),
      ),
    passwordOf,
    remarkOnPassword,
  )

  answers(
    operator
      .command('reset-second-factor <name>')
      .description(
        `remove the second factor of an operator who has lost it (${UNNAMED_OPERATOR}: of the one without a name)`,
      ),
    async (name: string) => {
      await withCore(({ operations }) => operations.secondFactors.reset(name, COMMAND_LINE))
      return { name, second_factor: false }
    },
    ({ name }) => `${name} signs in with only the password from now on.`,
  )

  answers(
    operator
      .command('sign-in-link [name]')
      .description(
        'print a link that signs an operator in once, without password or OpenID provider (default: the unnamed one)',
      ),
    (name: string | undefined) =>
      withCore(async ({ operations: { operators }, store }, config) => ({
        dashboard_url: await operators.createSignInLink(
          name ?? UNNAMED_OPERATOR,
          await servedAdminUrl(store, config),
          COMMAND_LINE,
        ),
      })),
    ({ dashboard_url: link }) => link,
    () => `The link works once, within ${SIGN_IN_LINK_MS / MINUTE_MS} minutes.`,
  )

  answers(
    operator.command('remove <name>').description("remove an operator and end the operator's sessions"),
    async (name: string) =>
      operatorView(await withCore(({ operations }) => operations.operators.remove(name, COMMAND_LINE))),
    ({ name }) => `${name} can no longer sign in.`,
  )

  registerOperatorSessions(operator)
}

const passwordView = ({ operator, password }: NewPassword) => ({ ...operatorView(operator), password })
const passwordOf = ({ password }: { password: string }) => password
const remarkOnPassword = ({ name }: { name: string }) => `The password of ${name}, shown only now.`

export function lastSignIn(view: ReturnType<typeof operatorView>): string {
  return view.last_sign_in_at ? `${view.last_sign_in_at} by ${view.last_sign_in_by}` : 'never'
}

export function parseRole(text: string): PersonRole {
  if (text === 'admin' || text === 'viewer') return text
  throw new UsageError('invalid_option', `--role is "${text}"; expected ${ROLES}.`)
}
