/** `countersign tenant person`: the people who sign in to the dashboard for a tenant, each with a name and a role. */
import type { Command } from 'commander'
import { INVITATION_MS, type Invitation } from '../../admin/people-operations.js'
import { personView } from '../../admin/views.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { adminUrl } from '../../config/config.js'
import { HOUR_MS } from '../../lib/clock.js'
import { action, note, type OutputOptions, print } from '../lib/output.js'
import { counted, listing } from '../lib/style.js'
import { parseRole, ROLES } from '../operator/operator.js'
import { operate } from './tenant-options.js'

export function registerTenantPerson(tenant: Command): void {
  const person = tenant.command('person').description('the people who sign in to the dashboard for a tenant')

  person
    .command('add <tenant> <name>')
    .description('add a person and print, once, a link to sign in and choose a password')
    .requiredOption('--role <role>', ROLES)
    .option('--json', 'print JSON')
    .action(
      action(async (tenantName: string, name: string, options: OutputOptions & { role: string }) => {
        const role = parseRole(options.role)
        const invited = await operate(tenantName, ({ peopleOf }, { id }, config) =>
          peopleOf(id).invite(name, role, adminUrl(config), COMMAND_LINE),
        )
        showLink(options, invited)
      }),
    )

  person
    .command('list <tenant>')
    .description('list the people who sign in for a tenant')
    .option('--json', 'print JSON')
    .action(
      action(async (tenantName: string, options: OutputOptions) => {
        const people = await operate(tenantName, ({ peopleOf }, { id }) => peopleOf(id).list())
        const views = people.map(personView)
        print(options, views, () =>
          views.length === 0
            ? `There are none yet. Add one with: countersign tenant person add ${tenantName} <name> --role admin`
            : listing(
                ['NAME', 'ROLE', 'STATE', 'CREATED', 'LAST SIGN-IN'],
                views.map(({ name, role, state, created_at, last_sign_in_at, last_sign_in_by }) => [
                  name,
                  role,
                  state,
                  created_at,
                  last_sign_in_at ? `${last_sign_in_at} by ${last_sign_in_by}` : 'never',
                ]),
              ),
        )
      }),
    )

  person
    .command('set-role <tenant> <name>')
    .description('change the role of a person, effective at once')
    .requiredOption('--role <role>', ROLES)
    .option('--json', 'print JSON')
    .action(
      action(async (tenantName: string, name: string, options: OutputOptions & { role: string }) => {
        const role = parseRole(options.role)
        const changed = await operate(tenantName, ({ peopleOf }, { id }) =>
          peopleOf(id).setRole(name, role, COMMAND_LINE),
        )
        print(options, personView(changed), () => `${name} is ${role} now.`)
      }),
    )

  person
    .command('reset-password <tenant> <name>')
    .description('end the password and the sessions of a person, and print a new link once')
    .option('--json', 'print JSON')
    .action(
      action(async (tenantName: string, name: string, options: OutputOptions) => {
        const invited = await operate(tenantName, ({ peopleOf }, { id }, config) =>
          peopleOf(id).inviteAgain(name, adminUrl(config), COMMAND_LINE),
        )
        showLink(options, invited)
      }),
    )

  person
    .command('reset-second-factor <tenant> <name>')
    .description('remove the second factor of a person who has lost it')
    .option('--json', 'print JSON')
    .action(
      action(async (tenantName: string, name: string, options: OutputOptions) => {
        await operate(tenantName, ({ secondFactors }, { id }) => secondFactors.reset(name, COMMAND_LINE, id))
        print(options, { name, second_factor: false }, () => `${name} signs in with only the password now.`)
      }),
    )

  person
    .command('sign-out <tenant> <name>')
    .description('end every session of a person')
    .option('--json', 'print JSON')
    .action(
      action(async (tenantName: string, name: string, options: OutputOptions) => {
        const sessions = await operate(tenantName, (operations, { id }) =>
          operations.sessions.endOfPerson(name, COMMAND_LINE, id),
        )
        print(options, { sessions }, () => `${counted(sessions, 'session')} ended.`)
      }),
    )

  person
    .command('remove <tenant> <name>')
    .description('remove a person and end every session of the person')
    .option('--json', 'print JSON')
    .action(
      action(async (tenantName: string, name: string, options: OutputOptions) => {
        const removed = await operate(tenantName, ({ peopleOf }, { id }) =>
          peopleOf(id).remove(name, COMMAND_LINE),
        )
        print(options, personView(removed), () => `${name} can no longer sign in.`)
      }),
    )
}

function showLink(options: OutputOptions, { person, link }: Invitation): void {
  print(options, { ...personView(person), dashboard_url: link }, () => link)
  if (!options.json)
    note(`Give the link to ${person.name}. It works once, within ${INVITATION_MS / HOUR_MS} hours.`)
}
