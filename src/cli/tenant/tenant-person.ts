/** `countersign tenant person`: the people who sign in to the dashboard for a tenant, each with a name and a role. */
import type { Command } from 'commander'
import { INVITATION_MS, type Invitation } from '../../admin/people-operations.js'
import { personView } from '../../admin/views.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { adminUrl } from '../../config/config.js'
import { HOUR_MS } from '../../lib/clock.js'
import { answers } from '../lib/output.js'
import { counted, listing } from '../lib/style.js'
import { lastSignIn, parseRole, ROLES } from '../operator/operator.js'
import { operate } from './tenant-options.js'

export function registerTenantPerson(tenant: Command): void {
  const person = tenant.command('person').description('the people who sign in to the dashboard for a tenant')

  answers(
    person
      .command('add <tenant> <name>')
      .description('add a person and print, once, a link to sign in and choose a password')
      .requiredOption('--role <role>', ROLES),
    async (tenantName: string, name: string, { role }: { role: string }) => {
      const parsed = parseRole(role)
      return operate(tenantName, async ({ peopleOf }, { id }, config) =>
        invitedView(await peopleOf(id).invite(name, parsed, adminUrl(config), COMMAND_LINE)),
      )
    },
    linkOf,
    remarkOnLink,
  )

  answers(
    person.command('list <tenant>').description('list the people who sign in for a tenant'),
    (tenantName: string) =>
      operate(tenantName, async ({ peopleOf }, { id }) => (await peopleOf(id).list()).map(personView)),
    (views, tenantName) =>
      views.length === 0
        ? `There are none yet. Add one with: countersign tenant person add ${tenantName} <name> --role admin`
        : listing(
            ['NAME', 'ROLE', 'STATE', 'CREATED', 'LAST SIGN-IN'],
            views.map((view) => [view.name, view.role, view.state, view.created_at, lastSignIn(view)]),
          ),
  )

  answers(
    person
      .command('set-role <tenant> <name>')
      .description('change the role of a person, effective at once')
      .requiredOption('--role <role>', ROLES),
    async (tenantName: string, name: string, { role }: { role: string }) => {
      const parsed = parseRole(role)
      return operate(tenantName, async ({ peopleOf }, { id }) =>
        personView(await peopleOf(id).setRole(name, parsed, COMMAND_LINE)),
      )
    },
    ({ name, role }) => `${name} is ${role} now.`,
  )

  answers(
    person
      .command('reset-password <tenant> <name>')
      .description('end the password and the sessions of a person, and print a new link once'),
    (tenantName: string, name: string) =>
      operate(tenantName, async ({ peopleOf }, { id }, config) =>
        invitedView(await peopleOf(id).inviteAgain(name, adminUrl(config), COMMAND_LINE)),
      ),
    linkOf,
    remarkOnLink,
  )

  answers(
    person
      .command('reset-second-factor <tenant> <name>')
      .description('remove the second factor of a person who has lost it'),
    async (tenantName: string, name: string) => {
      await operate(tenantName, ({ secondFactors }, { id }) => secondFactors.reset(name, COMMAND_LINE, id))
      return { name, second_factor: false }
    },
    ({ name }) => `${name} signs in with only the password now.`,
  )

  answers(
    person.command('sign-out <tenant> <name>').description('end every session of a person'),
    (tenantName: string, name: string) =>
      operate(tenantName, async (operations, { id }) => ({
        sessions: await operations.sessions.endOfPerson(name, COMMAND_LINE, id),
      })),
    ({ sessions }) => `${counted(sessions, 'session')} ended.`,
  )

  answers(
    person
      .command('remove <tenant> <name>')
      .description('remove a person and end every session of the person'),
    (tenantName: string, name: string) =>
      operate(tenantName, async ({ peopleOf }, { id }) =>
        personView(await peopleOf(id).remove(name, COMMAND_LINE)),
      ),
    ({ name }) => `${name} can no longer sign in.`,
  )
}

const invitedView = ({ person, link }: Invitation) => ({ ...personView(person), dashboard_url: link })
const linkOf = ({ dashboard_url: link }: { dashboard_url: string }) => link
const remarkOnLink = ({ name }: { name: string }) =>
  `Give the link to ${name}. It works once, within ${INVITATION_MS / HOUR_MS} hours.`
