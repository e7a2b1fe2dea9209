/** `countersign tenant person`: the people who sign in to the dashboard for a tenant, each with a name and a role. */
import type { Command } from 'commander'
import { INVITATION_MS, type Invitation } from '../../admin/people-operations.js'
import { personView } from '../../admin/views.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { adminUrl } from '../../config/config.js'
import { HOUR_MS } from '../../lib/clock.js'
import { subcommand } from '../lib/command.js'
import { counted, listing } from '../lib/style.js'
import { lastSignIn, ROLE } from '../operator/operator.js'
import { onLiveTenant } from '../with-core.js'

export function registerTenantPerson(tenant: Command): void {
  const person = tenant.command('person').description('the people who sign in to the dashboard for a tenant')

  subcommand(person, 'add <tenant> <name>', {
    does: 'add a person and print, once, a link to sign in and choose a password',
    options: ROLE,
    answer: ({ tenant, name, role }) =>
      onLiveTenant(tenant, async ({ operations }, { id }, config) =>
        invitedView(await operations.peopleOf(id).invite(name, role, adminUrl(config), COMMAND_LINE)),
      ),
    text: linkOf,
    remark: remarkOnLink,
  })

  subcommand(person, 'list <tenant>', {
    does: 'list the people who sign in for a tenant',
    answer: ({ tenant }) =>
      onLiveTenant(tenant, async ({ operations }, { id }) =>
        (await operations.peopleOf(id).list()).map(personView),
      ),
    text: (views, { tenant }) =>
      views.length === 0
        ? `There are none yet. Add one with: countersign tenant person add ${tenant} <name> --role admin`
        : listing(
            ['NAME', 'ROLE', 'STATE', 'CREATED', 'LAST SIGN-IN'],
            views.map((view) => [view.name, view.role, view.state, view.created_at, lastSignIn(view)]),
          ),
  })

  subcommand(person, 'set-role <tenant> <name>', {
    does: 'change the role of a person, effective at once',
    options: ROLE,
    answer: ({ tenant, name, role }) =>
      onLiveTenant(tenant, async ({ operations }, { id }) =>
        personView(await operations.peopleOf(id).setRole(name, role, COMMAND_LINE)),
      ),
    text: ({ name, role }) => `${name} is ${role} now.`,
  })

  subcommand(person, 'reset-password <tenant> <name>', {
    does: 'end the password and the sessions of a person, and print a new link once',
    answer: ({ tenant, name }) =>
      onLiveTenant(tenant, async ({ operations }, { id }, config) =>
        invitedView(await operations.peopleOf(id).inviteAgain(name, adminUrl(config), COMMAND_LINE)),
      ),
    text: linkOf,
    remark: remarkOnLink,
  })

  subcommand(person, 'reset-second-factor <tenant> <name>', {
    does: 'remove the second factor of a person who has lost it',
    answer: ({ tenant, name }) =>
      onLiveTenant(tenant, async ({ operations }, { id }) => {
        await operations.secondFactors.reset(name, COMMAND_LINE, id)
        return { name, second_factor: false }
      }),
    text: ({ name }) => `${name} signs in with only the password now.`,
  })

  subcommand(person, 'sign-out <tenant> <name>', {
    does: 'end every session of a person',
    answer: ({ tenant, name }) =>
      onLiveTenant(tenant, async ({ operations }, { id }) => ({
        sessions: await operations.sessions.endOfPerson(name, COMMAND_LINE, id),
      })),
    text: ({ sessions }) => `${counted(sessions, 'session')} ended.`,
  })

  subcommand(person, 'remove <tenant> <name>', {
    does: 'remove a person and end every session of the person',
    answer: ({ tenant, name }) =>
      onLiveTenant(tenant, async ({ operations }, { id }) =>
        personView(await operations.peopleOf(id).remove(name, COMMAND_LINE)),
      ),
    text: ({ name }) => `${name} can no longer sign in.`,
  })
}

const invitedView = ({ person, link }: Invitation) => ({ ...personView(person), dashboard_url: link })
const linkOf = ({ dashboard_url: link }: { dashboard_url: string }) => link
const remarkOnLink = ({ name }: { name: string }) =>
  `Give the link to ${name}. It works once, within ${INVITATION_MS / HOUR_MS} hours.`
