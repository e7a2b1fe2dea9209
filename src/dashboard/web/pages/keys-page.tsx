/** The page of a tenant's API keys, with one-time reveal and reissue, and of the rotation of the signing secret. */
import { useState } from 'preact/hooks'
import type { Environment, InputOf, KeyView, TenantOverview, TenantRoutes } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { Button, Choice } from '../base/form.js'
import { Badge, Card, Confirm, Empty, Problem, Waiting } from '../base/parts.js'
import { Reveal, type Revealed } from '../base/reveal.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { useAction } from '../base/use-action.js'
import { useData } from '../base/use-data.js'
import { NewKeyDialog } from '../cards/new-key-dialog.js'
import { SigningSecretCard } from '../cards/signing-secret-card.js'

const REFRESH_MS = 5000
const TONES = { active: 'good', grace: 'warn', expired: 'plain', revoked: 'plain' } as const
const COLUMNS = [
  { name: 'Environment' },
  { name: 'Key' },
  { name: 'May' },
  { name: 'State' },
  { name: 'Created' },
  { name: 'Valid until' },
  { name: 'Actions', isSilent: true },
]
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
  const { problem, run } = useAction()
  if (!tenant.value) return <Waiting data={tenant} />

  const change = (work: () => Promise<Revealed | null>) =>
    run(async () => {
      try {
        setShown(await work())
      } finally {
        tenant.reload()
      }
    })
  const rotate = (force: boolean) =>
    change(async () => {
      const { signing_secret } = await callTenant(tenantId, 'POST /rotate-signing', { force })
      return {
        label: 'New signing secret',
        value: signing_secret.secret,
        details: [
          ['Id (kid)', signing_secret.id],
          ['Tenant id (aud)', tenantId],
        ],
      }
    })
  return (
    <>
      <Problem message={problem ?? tenant.error} />
      {shown && <Reveal {...shown} key={shown.value} onDone={() => setShown(null)} />}
      <SigningSecretCard tenant={tenant.value} traffic={traffic.value} onRotate={rotate} />
      <KeysCard tenant={tenant.value} onChange={change} />
    </>
  )
}

/** The pending question, about a key by environment and name; the name is null for the first key and its successors. */
type Asking = { what: 'reissue' | 'revoke'; type: Environment; name: string | null } | { what: 'create' }

const called = ({ type, name }: { type: Environment; name: string | null }) =>
  name === null ? `${type} key` : `${type} key ${name}`

function KeysCard(props: {
  tenant: TenantOverview
  onChange: (work: () => Promise<Revealed | null>) => void
}) {
  const { tenant, onChange } = props
  const [asking, setAsking] = useState<Asking | null>(null)
  const [grace, setGrace] = useState(GRACES[0]![0])
  const reveal = (newSecret: boolean) =>
    onChange(async () => {
      const { key, signing_secret } = await callTenant(tenant.id, 'POST /keys/reveal', {
        new_secret: newSecret,
      })
      return {
        label: 'Production key',
        value: key,
        details: [
          ...(signing_secret
            ? ([
                ['New signing secret', signing_secret.secret],
                ['Its id (kid)', signing_secret.id],
              ] as Array<[string, string]>)
            : []),
          ['Tenant id (aud)', tenant.id],
        ],
      }
    })
  const create = (key: InputOf<TenantRoutes['POST /keys']>) =>
    onChange(async () => ({
      label: `New ${called(key)}`,
      value: (await callTenant(tenant.id, 'POST /keys', key)).key,
      details: [['Tenant id (aud)', tenant.id]],
    }))
  const reissue = (type: Environment, name: string | null) =>
    onChange(async () => {
      const grace_seconds = Number(grace)
      const answer =
        name === null
          ? callTenant(tenant.id, 'POST /keys/reissue', { type, grace_seconds })
          : callTenant(tenant.id, 'POST /keys/named/reissue', { type, name, grace_seconds })
      return { label: `New ${called({ type, name })}`, value: (await answer).key }
    })
  const revoke = (type: Environment, name: string | null) =>
    onChange(async () => {
      if (name === null) await callTenant(tenant.id, 'POST /keys/revoke', { type })
      else await callTenant(tenant.id, 'POST /keys/named/revoke', { type, name })
      return null
    })
  const { keys } = tenant
  const may = useRights().tenant
  const isSame = (a: KeyView, b: KeyView) => a.type === b.type && a.name === b.name
  // The newest key of each environment and name has the buttons.
  const newest = (key: KeyView) => keys.find((other) => isSame(other, key)) === key
  const isLive = ({ state }: KeyView) => state === 'active' || state === 'grace'
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
        columns={COLUMNS}
        rows={keys.map((key) => ({
          key: key.id,
          cells: [
            key.type,
            <>
              {key.name && <strong>{key.name} </strong>}
              <code>…{key.hint}</code>
            </>,
            <>
              {key.scopes?.join(', ') ?? 'everything'}
              {key.certificate && <span class="muted small"> with certificate {key.certificate}</span>}
              {key.networks && <span class="muted small"> from {key.networks.join(', ')}</span>}
            </>,
            <Badge tone={TONES[key.state]}>{key.state === 'grace' ? 'in grace' : key.state}</Badge>,
            <Time at={key.created_at} />,
            key.valid_until ? <Time at={key.valid_until} /> : '–',
            newest(key) && (key.name === null || isLive(key)) && (
              <span class="buttons">
                {may(key.name === null ? 'POST /keys/reissue' : 'POST /keys/named/reissue') && (
                  <Button
                    text="Reissue"
                    about={called(key)}
                    onClick={() => setAsking({ what: 'reissue', type: key.type, name: key.name })}
                  />
                )}
                {may(key.name === null ? 'POST /keys/revoke' : 'POST /keys/named/revoke') &&
                  (key.name !== null || keys.some((other) => other.type === key.type && isLive(other))) && (
                    <Button
                      text="Revoke"
                      about={key.name === null ? `${key.type} keys` : called(key)}
                      class="danger"
                      onClick={() => setAsking({ what: 'revoke', type: key.type, name: key.name })}
                    />
                  )}
              </span>
            ),
          ],
        }))}
      />
      {may('POST /keys') && (
        <p>
          <Button text="New key with scopes" onClick={() => setAsking({ what: 'create' })} />
        </p>
      )}
      {asking?.what === 'create' && (
        <NewKeyDialog
          hasProduction={tenant.production_key !== 'not issued'}
          onClose={() => setAsking(null)}
          onCreate={create}
        />
      )}
      {asking?.what === 'reissue' && (
        <Confirm
          title={`Reissue the ${called(asking)}`}
          confirm="Reissue"
          onClose={() => setAsking(null)}
          onConfirm={() => reissue(asking.type, asking.name)}
        >
          <p>
            A new key is made and shown once. A key that is already in its grace period stops working now.
          </p>
          <Choice
            id="grace"
            label="The current key stays valid"
            options={GRACES}
            value={grace}
            onChoose={setGrace}
          />
        </Confirm>
      )}
      {asking?.what === 'revoke' && (
        <Confirm
          title={asking.name === null ? `Revoke every ${asking.type} key?` : `Revoke the ${called(asking)}?`}
          confirm="Revoke"
          isDanger
          onClose={() => setAsking(null)}
          onConfirm={() => revoke(asking.type, asking.name)}
        >
          <p>
            {asking.name === null
              ? 'All calls with these keys fail immediately, including keys in their grace period and named keys. Reissue makes a new key.'
              : 'All calls with this key fail immediately, including those with its predecessor in the grace period.'}
          </p>
        </Confirm>
      )}
    </Card>
  )
}
