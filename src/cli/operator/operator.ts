/** `countersign operator`: the people who operate the installation through the dashboard, each with a name and a role. */
import type { Command } from 'commander'
import type { PersonRole } from '../../admin/accounts/account-tables.js'
import { type NewPassword, SIGN_IN_LINK_MS } from '../../admin/people-operations.js'
import { UNNAMED_OPERATOR } from '../../admin/session-operations.js'
import { operatorView } from '../../admin/views.js'
import { MINUTE_MS } from '../../lib/clock.js'
import { oneOf } from '../lib/command.js'
import { listing } from '../lib/style.js'
import { servedAdminUrl } from '../serve/served-urls.js'
import { coreCommand } from '../with-core.js'
import { registerOperatorSessions } from './sessions.js'

const ROLES = 'admin, who may do everything, or viewer, who may only read'
export const ROLE = {
  '--role <role>': { does: ROLES, required: true, parse: oneOf<PersonRole>(['admin', 'viewer'], ROLES) },
} as const

export function registerOperatorCommands(operator: Command): void {
  coreCommand(operator, 'list', {
    does: 'list the named operators',
    answer: async ({ operations }) => (await operations.operators.list()).map(operatorView),
    text: (views) =>
      views.length === 0
        ? 'There are no named operators yet: anyone who has the operator password is the operator. Add one with: countersign operator add <name> --role admin'
        : listing(
            ['NAME', 'ROLE', 'CREATED', 'LAST SIGN-IN'],
            views.map((view) => [view.name, view.role, view.created_at, lastSignIn(view)]),
          ),
  })

  coreCommand(operator, 'add <name>', {
    does: 'add an operator, who signs in with this name; prints the password, once',
    options: ROLE,
    answer: async ({ operations, actor }, { name, role }) =>
      passwordView(await operations.operators.add(name, role, actor)),
    text: passwordOf,
    remark: remarkOnPassword,
  })

  coreCommand(operator, 'set-role <name>', {
    does: 'change the role of an operator, effective at once',
    options: ROLE,
    answer: async ({ operations, actor }, { name, role }) =>
      operatorView(await operations.operators.setRole(name, role, actor)),
    text: ({ name, role }) => `${name} is ${role} now.`,
  })

  coreCommand(operator, 'reset-password <name>', {
    does: "generate a new password for an operator, print it once, and end the operator's sessions",
    answer: async ({ operations, actor }, { name }) =>
      passwordView(await operations.operators.resetPassword(name, actor)),
    text: passwordOf,
    remark: remarkOnPassword,
  })

  coreCommand(operator, 'reset-second-factor <name>', {
    does: `remove the second factor of an operator who has lost it (${UNNAMED_OPERATOR}: of the one without a name)`,
    async answer({ operations, actor }, { name }) {
      await operations.secondFactors.reset(name, actor)
      return { name, second_factor: false }
    },
    text: ({ name }) => `${name} signs in with only the password from now on.`,
  })

  coreCommand(operator, 'sign-in-link [name]', {
    does: 'print a link that signs an operator in once, without password or OpenID provider (default: the unnamed one)',
    async answer({ operations: { operators }, store, config, actor }, { name = UNNAMED_OPERATOR }) {
      const url = await servedAdminUrl(store, config)
      return { dashboard_url: await operators.createSignInLink(name, url, actor) }
    },
    text: ({ dashboard_url: link }) => link,
    remark: () => `The link works once, within ${SIGN_IN_LINK_MS / MINUTE_MS} minutes.`,
  })

  coreCommand(operator, 'remove <name>', {
    does: "remove an operator and end the operator's sessions",
    answer: async ({ operations, actor }, { name }) =>
      operatorView(await operations.operators.remove(name, actor)),
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
