/** API keys with one-time reveal and reissue, and the rotation of the signing secret. */
import { useState } from 'preact/hooks'
import { type KeyView, post, type TenantOverview, type TrafficView } from './api.js'
import { Badge, Card, Confirm, Countdown, Loading, Problem, Reveal, Time } from './parts.js'
import { useData } from './use-data.js'

const REFRESH_MS = 5000
const TONES = { active: 'good', grace: 'warn', expired: 'plain', revoked: 'plain' } as const
const GRACES: Array<[string, number]> = [
  ['none, at once', 0],
  ['1 hour', 3600],
  ['1 day', 86_400],
  ['7 days', 604_800],
]

type Environment = KeyView['type']
interface Shown {
  label: string
  value: string
}

export function KeysPage({ tenantId }: { tenantId: string }) {
  const path = `/tenants/${tenantId}`
  const tenant = useData<TenantOverview>(path, REFRESH_MS)
  const traffic = useData<TrafficView>(`${path}/traffic`, REFRESH_MS)
  const [shown, setShown] = useState<Shown | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [asking, setAsking] = useState<'force' | Environment | null>(null)
  const [graceSeconds, setGraceSeconds] = useState(3600)
  if (!tenant.value) return tenant.error ? <Problem message={tenant.error} /> : <Loading />
  const { keys, signing_secrets: secrets, production_key: productionKey } = tenant.value

  const run = async (work: () => Promise<Shown | null>) => {
    setAsking(null)
    setProblem(null)
    try {
      setShown(await work())
    } catch (error) {
      setProblem((error as Error).message)
    }
    tenant.reload()
  }
  const reveal = () =>
    run(async () => ({
      label: 'Production key',
      value: (await post<{ key: string }>(`${path}/keys/reveal`)).key,
    }))
  const reissue = (type: Environment) =>
    run(async () => ({
      label: `New ${type} key`,
      value: (await post<{ key: string }>(`${path}/keys/reissue`, { type, grace_seconds: graceSeconds })).key,
    }))
  const revoke = (type: Environment) =>
    run(async () => {
      await post(`${path}/keys/revoke`, { type })
      return null
    })
  const rotate = (force: boolean) =>
    run(async () => {
      const rotation = await post<{ signing_secret: { secret: string } }>(`${path}/rotate-signing`, { force })
      return { label: 'New signing secret', value: rotation.signing_secret.secret }
    })

  const previous = secrets.find(({ valid_until }) => valid_until !== null)
  const types: Environment[] = productionKey === 'revealed' ? ['sandbox', 'production'] : ['sandbox']
  return (
    <>
      <Problem message={problem} />
      {shown && <Reveal {...shown} key={shown.value} />}
      <Card title="API keys">
        {productionKey === 'not issued' && (
          <p class="muted">The production key is issued by the first approved verify in the sandbox.</p>
        )}
        {productionKey === 'issued, not revealed yet' && (
          <p>
            The production key is issued.{' '}
            <button type="button" class="primary" onClick={reveal}>
              Reveal it, once
            </button>
          </p>
        )}
        <section class="wide" tabIndex={0} aria-label="API keys">
          <table>
            <thead>
              <tr>
                <th>Type</th>
                <th>Key</th>
                <th>State</th>
                <th>Created</th>
                <th>Valid until</th>
              </tr>
            </thead>
            <tbody>
              {keys.map((key) => (
                <tr key={key.id}>
                  <td>{key.type}</td>
                  <td>
                    <code>…{key.hint}</code>
                  </td>
                  <td>
                    <Badge tone={TONES[key.state]}>{key.state === 'grace' ? 'in grace' : key.state}</Badge>
                  </td>
                  <td>
                    <Time at={key.created_at} />
                  </td>
                  <td>{key.valid_until ? <Time at={key.valid_until} /> : '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        <div class="toolbar">
          <label class="inline">
            Old key stays valid{' '}
            <select
              value={graceSeconds}
              onChange={(event) => setGraceSeconds(Number(event.currentTarget.value))}
            >
              {GRACES.map(([text, seconds]) => (
                <option key={seconds} value={seconds}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          {types.map((type) => (
            <>
              <button type="button" onClick={() => reissue(type)}>
                Reissue {type} key
              </button>
              <button type="button" class="danger" onClick={() => setAsking(type)}>
                Revoke {type} keys
              </button>
            </>
          ))}
        </div>
      </Card>
      <Card title="Signing secret">
        {previous ? (
          <div class="overlap">
            <p>
              <Badge tone="warn">Overlap</Badge> Both secrets validate for another{' '}
              <Countdown until={previous.valid_until!} />. Redeploy the backend with the new one in that time.
            </p>
          </div>
        ) : (
          <p class="muted">
            One secret signs responses and JWTs. After a rotation both validate for 30 minutes.
          </p>
        )}
        <section class="wide" tabIndex={0} aria-label="Signing secrets">
          <table>
            <thead>
              <tr>
                <th>Id (kid)</th>
                <th>State</th>
                <th>Created</th>
                <th>Requests of the last hour that named it</th>
              </tr>
            </thead>
            <tbody>
              {secrets.map((secret) => (
                <tr key={secret.id}>
                  <td>
                    <code>{secret.id}</code>
                  </td>
                  <td>
                    <Badge tone={secret.valid_until ? 'warn' : 'good'}>
                      {secret.valid_until ? 'outgoing' : 'current'}
                    </Badge>
                  </td>
                  <td>
                    <Time at={secret.created_at} />
                  </td>
                  <td>{countNamed(traffic.value, secret.id)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        <p class="muted">
          A backend says which secret it holds in <code>X-Svc-Signing-Key-Id</code>;{' '}
          {countNamed(traffic.value, 'unnamed')} requests of the last hour named none, so nobody can tell
          which secret checks them.
        </p>
        <div class="toolbar">
          {previous ? (
            <button type="button" class="danger" onClick={() => setAsking('force')}>
              Rotate again, ending the old secret now
            </button>
          ) : (
            <button type="button" class="primary" onClick={() => rotate(false)}>
              Rotate the signing secret
            </button>
          )}
        </div>
      </Card>
      {asking && (
        <Confirm
          title={asking === 'force' ? 'End the outgoing secret now?' : `Revoke every ${asking} key?`}
          confirm={asking === 'force' ? 'Rotate now' : 'Revoke'}
          onCancel={() => setAsking(null)}
          onConfirm={() => (asking === 'force' ? rotate(true) : revoke(asking))}
        >
          <p>
            {asking === 'force'
              ? 'Backends that still hold it will refuse every response from this moment on.'
              : 'Calls with them fail from this moment on.'}
          </p>
        </Confirm>
      )}
    </>
  )
}

function countNamed(traffic: TrafficView | null, name: string): number {
  return traffic?.slots.reduce((count, { signingKeys }) => count + (signingKeys[name] ?? 0), 0) ?? 0
}
