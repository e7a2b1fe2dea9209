/** API keys with one-time reveal and reissue, and the rotation of the signing secret. */
import { useState } from 'preact/hooks'
import type { Environment, KeyView, TenantOverview } from '../contract.js'
import { callTenant, tenantAddress } from './api.js'
import { Badge, Card, Confirm, Empty, Loading, Problem, Reveal, type Revealed, Table, Time } from './parts.js'
import { useRights } from './session.js'
import { SigningSecretCard } from './signing-secret-card.js'
import { useAction } from './use-action.js'
import { useData } from './use-data.js'

const REFRESH_MS = 5000
const TONES = { active: 'good', grace: 'warn', expired: 'plain', revoked: 'plain' } as const
const COLUMNS = [
  { name: 'Environment' },
  { name: 'Key' },
  { name: 'State' },
  { name: 'Created' },
  { name: 'Valid until' },
  { name: 'Actions', isSilent: true },
]
const GRACES: Array<[string, number]> = [
  ['for 1 hour', 3600],
  ['for 1 day', 86_400],
  ['for 7 days', 604_800],
  ['no longer: it ends now', 0],
]

export function KeysPage({ tenantId }: { tenantId: string }) {
  const tenant = useData(tenantAddress(tenantId, 'GET /'), REFRESH_MS)
  const traffic = useData(tenantAddress(tenantId, 'GET /traffic'), REFRESH_MS)
  const [shown, setShown] = useState<Revealed | null>(null)
  const { problem, run } = useAction()
  if (!tenant.value) return tenant.error ? <Problem message={tenant.error} /> : <Loading />

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
        beside: [
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

function KeysCard(props: {
  tenant: TenantOverview
  onChange: (work: () => Promise<Revealed | null>) => void
}) {
  const { tenant, onChange } = props
  const [asking, setAsking] = useState<{ what: 'reissue' | 'revoke'; type: Environment } | null>(null)
  const [graceSeconds, setGraceSeconds] = useState(GRACES[0]![1])
  const reveal = (newSecret: boolean) =>
    onChange(async () => {
      const { key, signing_secret } = await callTenant(tenant.id, 'POST /keys/reveal', {
        new_secret: newSecret,
      })
      return {
        label: 'Production key',
        value: key,
        beside: [
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
  const reissue = (type: Environment) =>
    onChange(async () => ({
      label: `New ${type} key`,
      value: (await callTenant(tenant.id, 'POST /keys/reissue', { type, grace_seconds: graceSeconds })).key,
    }))
  const revoke = (type: Environment) =>
    onChange(async () => {
      await callTenant(tenant.id, 'POST /keys/revoke', { type })
      return null
    })
  const { keys } = tenant
  const may = useRights().tenant
  // The actions stand once for each environment, at its newest key.
  const newest = (key: KeyView) => keys.find(({ type }) => type === key.type) === key
  const isLive = ({ state }: KeyView) => state === 'active' || state === 'grace'
  return (
    <Card
      title="API keys"
      hint="A key is shown once, when it is made; its last four characters tell keys apart."
    >
      {tenant.production_key === 'not issued' && (
        <Empty title="No production key yet">It is issued by the first approved verify in the sandbox.</Empty>
      )}
      {tenant.production_key === 'issued, not revealed yet' && (
        <Empty title="Your production key is issued">
          {may('POST /keys/reveal') && (
            <>
              <p>
                One signing secret signs for sandbox and production: anybody who has held it can sign
                production's verdicts. Make a new one now. The old one ends at once, for the sandbox too.
              </p>
              <span class="buttons">
                <button type="button" class="primary" onClick={() => reveal(true)}>
                  Reveal it with a new signing secret
                </button>
                <button type="button" onClick={() => reveal(false)}>
                  Reveal it, once
                </button>
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
            <code>…{key.hint}</code>,
            <Badge tone={TONES[key.state]}>{key.state === 'grace' ? 'in grace' : key.state}</Badge>,
            <Time at={key.created_at} />,
            key.valid_until ? <Time at={key.valid_until} /> : '–',
            newest(key) && (
              <span class="buttons">
                {may('POST /keys/reissue') && (
                  <button type="button" onClick={() => setAsking({ what: 'reissue', type: key.type })}>
                    Reissue<span class="for-readers"> {key.type} key</span>
                  </button>
                )}
                {may('POST /keys/revoke') &&
                  keys.some((other) => other.type === key.type && isLive(other)) && (
                    <button
                      type="button"
                      class="danger"
                      onClick={() => setAsking({ what: 'revoke', type: key.type })}
                    >
                      Revoke<span class="for-readers"> {key.type} keys</span>
                    </button>
                  )}
              </span>
            ),
          ],
        }))}
      />
      {asking?.what === 'reissue' && (
        <Confirm
          title={`Reissue the ${asking.type} key`}
          confirm="Reissue"
          onCancel={() => setAsking(null)}
          onConfirm={() => {
            setAsking(null)
            reissue(asking.type)
          }}
        >
          <p>A new key is made and shown once. A key that is in grace already ends.</p>
          <label for="grace">The old one stays valid</label>
          <select
            id="grace"
            value={graceSeconds}
            onChange={(event) => setGraceSeconds(Number(event.currentTarget.value))}
          >
            {GRACES.map(([text, seconds]) => (
              <option key={seconds} value={seconds}>
                {text}
              </option>
            ))}
          </select>
        </Confirm>
      )}
      {asking?.what === 'revoke' && (
        <Confirm
          title={`Revoke every ${asking.type} key?`}
          confirm="Revoke"
          isDanger
          onCancel={() => setAsking(null)}
          onConfirm={() => {
            setAsking(null)
            revoke(asking.type)
          }}
        >
          <p>Calls with them fail from this moment on, those in grace too. Reissue makes a new one.</p>
        </Confirm>
      )}
    </Card>
  )
}
