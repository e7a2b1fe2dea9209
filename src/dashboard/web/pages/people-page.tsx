/** The page of the people who sign in for a tenant, with names and roles. An admin invites them by a link. */
import type { InvitedPerson, PersonView } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { useData } from '../base/data.js'
import { Empty } from '../base/parts.js'
import type { Revealed } from '../base/reveal.js'
import { useRights, useSession } from '../base/session.js'
import { PeopleList } from '../cards/people-list.js'

const STATES: Record<PersonView['state'], string> = {
  invited: ' has not chosen a password yet',
  active: '',
  provider: " by the provider's groups",
}

export function PeoplePage({ tenantId }: { tenantId: string }) {
  const data = useData(tenantAddress(tenantId, 'GET /people'))
  const { tenant_id: ownTenant, person: self } = useSession()
  return (
    <PeopleList
      title="Who signs in for this tenant"
      label="People"
      noun="person"
      data={data}
      people={data.value?.people}
      empty={
        <Empty title="Nobody with a name yet">
          Anyone who opens a login link acts as an admin of the tenant. Invite people by name so that the
          audit log shows who did what.
        </Empty>
      }
      self={ownTenant === null ? null : self.name}
      stateOf={({ state }) => STATES[state]}
      mayChange={useRights().tenant('POST /people')}
      add={{
        title: 'Invite a person',
        hint: 'A link is made and shown once. It signs the person in once, within a day, and asks for a password.',
        run: async (name, role) => revealed(await callTenant(tenantId, 'POST /people', { name, role })),
      }}
      reset={{
        button: 'New link…',
        questionOn: (name) => ({
          title: `Make a new link for ${name}?`,
          confirm: 'Make a new link',
          children:
            'The password and every session of this person end now. The link is shown once; it signs in once, within a day, and asks for another password.',
        }),
        run: async (name) => revealed(await callTenant(tenantId, 'POST /people/reset', { name })),
      }}
      changeRole={(name, role) => callTenant(tenantId, 'POST /people/role', { name, role })}
      change={(act, name) => callTenant(tenantId, `POST /people/${act}`, { name })}
    />
  )
}

function revealed({ person: { name }, sign_in_link }: InvitedPerson): Revealed {
  return {
    label: `Link for ${name}`,
    value: sign_in_link,
    hint: `Give it to ${name} by a channel that nobody else reads. It works once, within a day.`,
    details: [['Name', name]],
  }
}
