/** Who signs in for a tenant: people with names and roles, whom an admin invites by a link. */
import { useState } from 'preact/hooks'
import type { InvitedPerson, PersonList, PersonRole, PersonView } from '../contract.js'
import { callTenant, tenantAddress } from './api.js'
import { Badge, Card, Confirm, Empty, Problem, Reveal, type Revealed, Table, Time, Waiting } from './parts.js'
import { AddPersonCard, LastSignIn, RoleDialog } from './person-parts.js'
import { useRights, useSession } from './session.js'
import { useAction } from './use-action.js'
import { useData } from './use-data.js'

const COLUMNS = [
  { name: 'Name' },
  { name: 'Role' },
  { name: 'Last sign-in', isText: true },
  { name: 'Added' },
  { name: 'Actions', isSilent: true },
]
const STATES: Record<PersonView['state'], string> = {
  invited: ' has not chosen a password yet',
  active: '',
  provider: " by the provider's groups",
}

type Listed = PersonList['people'][number]
type What = 'role' | 'reset' | 'sign-out' | 'second-factor' | 'remove'

export function PeoplePage({ tenantId }: { tenantId: string }) {
  const list = useData(tenantAddress(tenantId, 'GET /people'))
  const [shown, setShown] = useState<Revealed | null>(null)
  const [asking, setAsking] = useState<{ what: What; person: Listed } | null>(null)
  const { tenant_id: own, person: self } = useSession()
  const mayAct = useRights().tenant('POST /people')
  const { problem, isBusy, run } = useAction()
  const change = (work: () => Promise<Revealed | null>) => {
    setAsking(null)
    return run(async () => {
      setShown(await work())
      list.reload()
    })
  }
  const add = (name: string, role: PersonRole, onAdded: () => void) =>
    change(async () => {
      const invited = await callTenant(tenantId, 'POST /people', { name, role })
      onAdded()
      return revealed(invited)
    })
  const act = async ({ what, person: { name } }: { what: What; person: Listed }) => {
    if (what === 'reset') return revealed(await callTenant(tenantId, 'POST /people/reset', { name }))
    if (what === 'sign-out') await callTenant(tenantId, 'POST /people/sign-out', { name })
    if (what === 'second-factor') await callTenant(tenantId, 'POST /people/second-factor/remove', { name })
    if (what === 'remove') await callTenant(tenantId, 'POST /people/remove', { name })
    return null
  }
  const people = list.value?.people
  return (
    <>
      <Problem message={problem ?? (list.value && list.error)} />
      {shown && <Reveal {...shown} key={shown.value} onDone={() => setShown(null)} />}
      <Card title="Who signs in for this tenant" hint={list.value && <SignInHint {...list.value} />}>
        {!people ? (
          <Waiting data={list} />
        ) : people.length === 0 ? (
          <Empty title="Nobody with a name yet">
            Anyone who opens a login link is an admin of the tenant. With names, the audit log says who acted.
          </Empty>
        ) : (
          <Table
            label="People"
            columns={COLUMNS}
            rows={people.map((person) => ({
              key: person.name,
              cells: [
                <span>
                  {person.name}
                  {own !== null && person.name === self.name && <span class="muted"> (you)</span>}
                  <span class="muted">{STATES[person.state]}</span>
                  {person.second_factor && <span class="muted"> with a second factor</span>}
                </span>,
                <Badge tone={person.role === 'admin' ? 'good' : 'plain'}>{person.role}</Badge>,
                <LastSignIn {...person} />,
                <Time at={person.created_at} day />,
                mayAct && (
                  <Acts person={person} isBusy={isBusy} onAsk={(what) => setAsking({ what, person })} />
                ),
              ],
            }))}
          />
        )}
      </Card>
      {mayAct && (
        <AddPersonCard
          title="Invite a person"
          hint="A link is made and shown once. It signs the person in once, within a day, and asks for a password."
          isBusy={isBusy}
          onAdd={add}
        />
      )}
      {asking?.what === 'role' && (
        <RoleDialog
          person={asking.person}
          onCancel={() => setAsking(null)}
          onSave={(role) =>
            change(async () => {
              await callTenant(tenantId, 'POST /people/role', { name: asking.person.name, role })
              return null
            })
          }
        />
      )}
      {asking && asking.what !== 'role' && (
        <Confirm
          {...ASKED[asking.what](asking.person.name)}
          isDanger
          onCancel={() => setAsking(null)}
          onConfirm={() => void change(() => act(asking))}
        >
          <p>{CONSEQUENCES[asking.what]}</p>
        </Confirm>
      )}
    </>
  )
}

const ASKED: Record<Exclude<What, 'role'>, (name: string) => { title: string; confirm: string }> = {
  reset: (name) => ({ title: `Make a new link for ${name}?`, confirm: 'Make a new link' }),
  'sign-out': (name) => ({ title: `End every session of ${name}?`, confirm: 'End the sessions' }),
  'second-factor': (name) => ({ title: `Remove the second factor of ${name}?`, confirm: 'Remove it' }),
  remove: (name) => ({ title: `Remove ${name}?`, confirm: 'Remove' }),
}
const CONSEQUENCES: Record<Exclude<What, 'role'>, string> = {
  reset:
    'The password and every session of this person end now. The link is shown once; it signs in once, within a day, and asks for another password.',
  'sign-out': 'The person is signed out everywhere, at once. The password stays as it is.',
  'second-factor':
    'This is for a person who has lost the phone and the recovery codes. The password then signs in by itself.',
  remove:
    'The person is signed out everywhere, at once. What was done under this name stays in the audit log.',
}

function revealed({ person: { name }, sign_in_link }: InvitedPerson): Revealed {
  return {
    label: `Link for ${name}`,
    value: sign_in_link,
    hint: `Give it to ${name} over a way that nobody else reads. It works once, within a day.`,
    beside: [['Name', name]],
  }
}

function SignInHint({ provider }: PersonList) {
  return provider ? (
    <>
      Each signs in with the name and a password, or by the provider <code>{provider.issuer}</code>, whose
      claim <code>{provider.claim}</code> is then the name.
    </>
  ) : (
    <>Each signs in with the name and a password.</>
  )
}

function Acts(props: { person: Listed; isBusy: boolean; onAsk: (what: What) => void }) {
  const { person, isBusy, onAsk } = props
  const ofWhom = <span class="for-readers"> of {person.name}</span>
  return (
    <span class="buttons">
      <button type="button" disabled={isBusy} onClick={() => onAsk('role')}>
        Change role…{ofWhom}
      </button>
      <button type="button" disabled={isBusy} onClick={() => onAsk('reset')}>
        New link…<span class="for-readers"> for {person.name}</span>
      </button>
      <button type="button" disabled={isBusy} onClick={() => onAsk('sign-out')}>
        End sessions…{ofWhom}
      </button>
      {person.second_factor && (
        <button type="button" disabled={isBusy} onClick={() => onAsk('second-factor')}>
          Remove second factor…{ofWhom}
        </button>
      )}
      <button type="button" class="danger" disabled={isBusy} onClick={() => onAsk('remove')}>
        Remove…<span class="for-readers"> {person.name}</span>
      </button>
    </span>
  )
}
