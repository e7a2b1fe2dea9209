/** `countersign tenant person`: the people who sign in to the dashboard for a tenant, each with a name and a role. */
import type { Command } from 'commander'
import { INVITATION_MS, type Invitation } from '../../admin/people-operations.js'
import { personView } from '../../admin/views.js'
import { adminUrl } from '../../config/config.js'
import { HOUR_MS } from '../../lib/clock.js'
import { counted, listing } from '../lib/style.js'
import { lastSignIn, ROLE } from '../operator/operator.js'
import { liveTenantCommand } from '../with-core.js'

export function registerTenantPerson(tenant: Command): void {
  const person = tenant.command('person').description('the people who sign in to the dashboard for a tenant')

  liveTenantCommand(person, 'add <tenant> <name>', {
    does: 'add a person and print, once, a link to sign in and choose a password',
    options: ROLE,
    answer: async ({ operations, tenant, config, actor }, { name, role }) =>
      invitedView(await operations.peopleOf(tenant.id).invite(name, role, adminUrl(config), actor)),
    text: linkOf,
    remark: remarkOnLink,
  })

  liveTenantCommand(person, 'list <tenant>', {
    does: 'list the people who sign in for a tenant',
    answer: async ({ operations, tenant }) => (await operations.peopleOf(tenant.id).list()).map(personView),
    text: (views, { tenant }) =>
      views.length === 0
        ? `There are none yet. Add one with: countersign tenant person add ${tenant} <name> --role admin`
        : listing(
            ['NAME', 'ROLE', 'STATE', 'CREATED', 'LAST SIGN-IN'],
            views.map((view) => [view.name, view.role, view.state, view.created_at, lastSignIn(view)]),
          ),
  })

  liveTenantCommand(person, 'set-role <tenant> <name>', {
    does: 'change the role of a person, effective at once',
    options: ROLE,
    answer: async ({ operations, tenant, actor }, { name, role }) =>
      personView(await operations.peopleOf(tenant.id).setRole(name, role, actor)),
    text: ({ name, role }) => `${name} is ${role} now.`,
  })

  liveTenantCommand(person, 'reset-password <tenant> <name>', {
    does: 'end the password and the sessions of a person, and print a new link once',
    answer: async ({ operations, tenant, config, actor }, { name }) =>
      invitedView(await operations.peopleOf(tenant.id).inviteAgain(name, adminUrl(config), actor)),
    text: linkOf,
    remark: remarkOnLink,
  })

  liveTenantCommand(person, 'reset-second-factor <tenant> <name>', {
    does: 'remove the second factor of a person who has lost it',
    async answer({ operations, tenant, actor }, { name }) {
      await operations.secondFactors.reset(name, actor, tenant.id)
      return { name, second_factor: false }
    },
    text: ({ name }) => `${name} signs in with only the password now.`,
  })

  liveTenantCommand(person, 'sign-out <tenant> <name>', {
    does: 'end every session of a person',
    answer: async ({ operations, tenant, actor }, { name }) => ({
      sessions: await operations.sessions.endOfPerson(name, actor, tenant.id),
    }),
    text: ({ sessions }) => `${counted(sessions, 'session')} ended.`,
  })

  liveTenantCommand(person, 'remove <tenant> <name>', {
    does: 'remove a person and end every session of the person',
    answer: async ({ operations, tenant, actor }, { name }) =>
      personView(await operations.peopleOf(tenant.id).remove(name, actor)),
    text: ({ name }) => `${name} can no longer sign in.`,
  })
}

const invitedView = ({ person, link }: Invitation) => ({ ...personView(person), dashboard_url: link })
const linkOf = ({ dashboard_url: link }: { dashboard_url: string }) => link
const remarkOnLink = ({ name }: { name: string }) =>
  `Give the link to ${name}. It works once, within ${INVITATION_MS / HOUR_MS} hours.`
