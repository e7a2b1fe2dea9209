/** `countersign operator`: the people who operate the installation through the dashboard, each with a name and a role. */
import type { Command } from 'commander'
import type { PersonRole } from '../../admin/accounts/account-tables.js'
import { type NewPassword, SIGN_IN_LINK_MS } from '../../admin/people-operations.js'
import { UNNAMED_OPERATOR } from '../../admin/session-operations.js'
import { operatorView } from '../../admin/views.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { MINUTE_MS } from '../../lib/clock.js'
import { oneOf, subcommand } from '../lib/command.js'
import { listing } from '../lib/style.js'
import { servedAdminUrl } from '../serve/served-urls.js'
import { withCore } from '../with-core.js'
import { registerOperatorSessions } from './sessions.js'

const ROLES = 'admin, who may do everything, or viewer, who may only read'
export const ROLE = {
  '--role <role>': { does: ROLES, required: true, parse: oneOf<PersonRole>(['admin', 'viewer'], ROLES) },
} as const

export function registerOperatorCommands(operator: Command): void {
  subcommand(operator, 'list', {
    does: 'list the named operators',
    answer: async () => (await withCore(({ operations }) => operations.operators.list())).map(operatorView),
    text: (views) =>
      views.length === 0
        ? 'There are no named operators yet: anyone who has the operator password is the operator. Add one with: countersign operator add <name> --role admin'
        : listing(
            ['NAME', 'ROLE', 'CREATED', 'LAST SIGN-IN'],
            views.map((view) => [view.name, view.role, view.created_at, lastSignIn(view)]),
          ),
  })

  subcommand(operator, 'add <name>', {
    does: 'add an operator, who signs in with this name; prints the password, once',
    options: ROLE,
    answer: async ({ name, role }) =>
      passwordView(await withCore(({ operations }) => operations.operators.add(name, role, COMMAND_LINE))),
    text: passwordOf,
    remark: remarkOnPassword,
  })

  subcommand(operator, 'set-role <name>', {
    does: 'change the role of an operator, effective at once',
    options: ROLE,
    answer: async ({ name, role }) =>
      operatorView(
        await withCore(({ operations }) => operations.operators.setRole(name, role, COMMAND_LINE)),
      ),
    text: ({ name, role }) => `${name} is ${role} now.`,
  })

  subcommand(operator, 'reset-password <name>', {
    does: "generate a new password for an operator, print it once, and end the operator's sessions",
    answer: async ({ name }) =>
      passwordView(
        await withCore(({ operations }) => operations.operators.resetPassword(name, COMMAND_LINE)),
      ),
    text: passwordOf,
    remark: remarkOnPassword,
  })

  subcommand(operator, 'reset-second-factor <name>', {
    does: `remove the second factor of an operator who has lost it (${UNNAMED_OPERATOR}: of the one without a name)`,
    async answer({ name }) {
      await withCore(({ operations }) => operations.secondFactors.reset(name, COMMAND_LINE))
      return { name, second_factor: false }
    },
    text: ({ name }) => `${name} signs in with only the password from now on.`,
  })

  subcommand(operator, 'sign-in-link [name]', {
    does: 'print a link that signs an operator in once, without password or OpenID provider (default: the unnamed one)',
    answer: ({ name = UNNAMED_OPERATOR }) =>
      withCore(async ({ operations: { operators }, store }, config) => {
        const url = await servedAdminUrl(store, config)
        return { dashboard_url: await operators.createSignInLink(name, url, COMMAND_LINE) }
      }),
    text: ({ dashboard_url: link }) => link,
    remark: () => `The link works once, within ${SIGN_IN_LINK_MS / MINUTE_MS} minutes.`,
  })

  subcommand(operator, 'remove <name>', {
    does: "remove an operator and end the operator's sessions",
    answer: async ({ name }) =>
      operatorView(await withCore(({ operations }) => operations.operators.remove(name, COMMAND_LINE))),
    text: ({ name }) => `${name} can no longer sign in.`,
  })

  registerOperatorSessions(operator)
}

const passwordView = ({ operator, password }: NewPassword) => ({ ...operatorView(operator), password })
const passwordOf = ({ password }: { password: string }) => password
const remarkOnPassword = ({ name }: { name: string }) => `The password of ${name}, shown only now.`

export function lastSignIn(view: ReturnType<typeof operatorView>): string {
  return view.last_sign_in_at ? `${view.last_sign_in_at} by ${view.last_sign_in_by}` : 'never'
}
