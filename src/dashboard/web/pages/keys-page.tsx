/** The page of a tenant's API keys, with one-time reveal and reissue, and of the rotation of the signing secret. */
import { useState } from 'preact/hooks'
import type { KeyView, TenantOverview } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { useData } from '../base/data.js'
import { Button, Choice } from '../base/form.js'
import { type Actions, Badge, Card, Empty, useActions, Waiting } from '../base/parts.js'
import { Reveal, type Revealed } from '../base/reveal.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { givenKey, NewKeyFields } from '../cards/new-key-fields.js'
import { SigningSecretCard } from '../cards/signing-secret-card.js'

const REFRESH_MS = 5000
const TONES = { active: 'good', grace: 'warn', expired: 'plain', revoked: 'plain' } as const
/** How many seconds a key stays valid that another replaces. */
const GRACES: Array<[seconds: string, text: string]> = [
  ['3600', 'for 1 hour'],
  ['86400', 'for 1 day'],
  ['604800', 'for 7 days'],
  ['0', 'not at all: it stops working now'],
]

export function KeysPage({ tenantId }: { tenantId: string }) {
  const tenant = useData(tenantAddress(tenantId, 'GET /'), REFRESH_MS)
  const hasTraffic = useRights().tenant('GET /traffic')
  const traffic = useData(hasTraffic ? tenantAddress(tenantId, 'GET /traffic') : null, REFRESH_MS)
  const [shown, setShown] = useState<Revealed | null>(null)
  const actions = useActions(tenant.reload, tenant)
  if (!tenant.value) return <Waiting data={tenant} />
  const rotate = async (force: boolean) => {
    const { signing_secret } = await callTenant(tenantId, 'POST /rotate-signing', { force })
    setShown({
      label: 'New signing secret',
      value: signing_secret.secret,
      details: [
        ['Id (kid)', signing_secret.id],
        ['Tenant id (aud)', tenantId],
      ],
    })
  }
  return (
    <>
      {actions.feedback}
      {shown && <Reveal {...shown} key={shown.value} onDone={() => setShown(null)} />}
      <SigningSecretCard tenant={tenant.value} traffic={traffic.value} actions={actions} rotate={rotate} />
      <KeysCard tenant={tenant.value} actions={actions} onShow={setShown} />
    </>
  )
}

/** A key's environment and name; the name is null for the first key and its successors. */
type Named = Pick<KeyView, 'type' | 'name'>

const called = ({ type, name }: Named) => (name === null ? `${type} key` : `${type} key ${name}`)
const isLive = ({ state }: KeyView) => state === 'active' || state === 'grace'

function KeysCard(props: {
  tenant: TenantOverview
  actions: Actions
  onShow: (revealed: Revealed | null) => void
}) {
  const { tenant, onShow } = props
  const { ask, run } = props.actions
  const { id, keys } = tenant
  const may = useRights().tenant
  const reveal = (new_secret: boolean) =>
    run(async () => {
      const { key, signing_secret } = await callTenant(id, 'POST /keys/reveal', { new_secret })
      const details: Revealed['details'] = [['Tenant id (aud)', id]]
      if (signing_secret)
        details.unshift(['New signing secret', signing_secret.secret], ['Its id (kid)', signing_secret.id])
      onShow({ label: 'Production key', value: key, details })
    })
  const create = () =>
    ask({
      title: 'New key with scopes',
      confirm: 'Create',
      children: <NewKeyFields hasProduction={tenant.production_key !== 'not issued'} />,
      act: async (given) => {
        const key = givenKey(given)
        const made = await callTenant(id, 'POST /keys', key)
        onShow({ label: `New ${called(key)}`, value: made.key, details: [['Tenant id (aud)', id]] })
      },
    })
  const reissue = ({ type, name }: Named) =>
    ask({
      title: `Reissue the ${called({ type, name })}`,
      confirm: 'Reissue',
      children: (
        <>
          <p>
            A new key is made and shown once. A key that is already in its grace period stops working now.
          </p>
          <Choice id="grace" label="The current key stays valid" options={GRACES} />
        </>
      ),
      act: async (given) => {
        const grace_seconds = Number(given.text('grace'))
        const made =
          name === null
            ? await callTenant(id, 'POST /keys/reissue', { type, grace_seconds })
            : await callTenant(id, 'POST /keys/named/reissue', { type, name, grace_seconds })
        onShow({ label: `New ${called({ type, name })}`, value: made.key })
      },
    })
  const revoke = ({ type, name }: Named) =>
    ask({
      title: name === null ? `Revoke every ${type} key?` : `Revoke the ${called({ type, name })}?`,
      confirm: 'Revoke',
      isDanger: true,
      children:
        name === null
          ? 'All calls with these keys fail immediately, including keys in their grace period and named keys. Reissue makes a new key.'
          : 'All calls with this key fail immediately, including those with its predecessor in the grace period.',
      act: async () => {
        if (name === null) await callTenant(id, 'POST /keys/revoke', { type })
        else await callTenant(id, 'POST /keys/named/revoke', { type, name })
        onShow(null)
      },
    })
  const buttonsOf = (key: KeyView) => {
    const { type, name } = key
    // The newest key of each environment and name has the buttons.
    const isNewest = keys.find((other) => other.type === type && other.name === name) === key
    if (!isNewest || (name !== null && !isLive(key))) return null
    const isRevocable = name !== null || keys.some((other) => other.type === type && isLive(other))
    return (
      <>
        {may(name === null ? 'POST /keys/reissue' : 'POST /keys/named/reissue') && (
          <Button text="Reissue" about={called(key)} onClick={() => reissue(key)} />
        )}
        {isRevocable && may(name === null ? 'POST /keys/revoke' : 'POST /keys/named/revoke') && (
          <Button
            text="Revoke"
            about={name === null ? `${type} keys` : called(key)}
            class="danger"
            onClick={() => revoke(key)}
          />
        )}
      </>
    )
  }
  return (
    <Card
      title="API keys"
      hint="A key is shown only once, when it is made. Afterwards you recognize it by its last four characters."
    >
      {tenant.production_key === 'not issued' && (
        <Empty title="No production key yet">
          It is issued by the first approved verification in the sandbox.
        </Empty>
      )}
      {tenant.production_key === 'issued, not revealed yet' && (
        <Empty title="Your production key is issued">
          {may('POST /keys/reveal') && (
            <>
              <p>
                Sandbox and production share one signing secret: anybody who has had it can sign production
                verdicts. Make a new one now. The old one stops working at once, in the sandbox too.
              </p>
              <span class="buttons">
                <Button
                  text="Reveal it with a new signing secret"
                  class="primary"
                  onClick={() => reveal(true)}
                />
                <Button text="Reveal it, once" onClick={() => reveal(false)} />
              </span>
            </>
          )}
        </Empty>
      )}
      <Table
        label="API keys"
        rows={keys}
        keyOf={(key) => key.id}
        columns={[
          { name: 'Environment', cell: ({ type }) => type },
          {
            name: 'Key',
            cell: ({ name, hint }) => (
              <>
                {name && <strong>{name} </strong>}
                <code>…{hint}</code>
              </>
            ),
          },
          {
            name: 'May',
            cell: ({ scopes, certificate, networks }) => (
              <>
                {scopes?.join(', ') ?? 'everything'}
                {certificate && <span class="muted small"> with certificate {certificate}</span>}
                {networks && <span class="muted small"> from {networks.join(', ')}</span>}
              </>
            ),
          },
          {
            name: 'State',
            cell: ({ state }) => <Badge tone={TONES[state]}>{state === 'grace' ? 'in grace' : state}</Badge>,
          },
          { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          { name: 'Valid until', cell: ({ valid_until }) => <Time at={valid_until} /> },
        ]}
        actions={buttonsOf}
      />
      {may('POST /keys') && (
        <p>
          <Button text="New key with scopes" onClick={create} />
        </p>
      )}
    </Card>
  )
}
