/** For the operator: tenants, their contracts, and links to sign in. */
import { useState } from 'preact/hooks'
import { call, post, type TenantView } from './api.js'
import { Card, Loading, Problem, Reveal } from './parts.js'
import { useData } from './use-data.js'

interface Created {
  sandbox_key: string
  signing_secret: { secret: string }
  login_link: string
}

export function TenantsPage() {
  const tenants = useData<{ tenants: TenantView[] }>('/tenants')
  const [shown, setShown] = useState<Array<[string, string]>>([])
  const [problem, setProblem] = useState<string | null>(null)
  const attempt = async (work: () => Promise<Array<[string, string]>>) => {
    setProblem(null)
    try {
      setShown(await work())
    } catch (error) {
      setProblem((error as Error).message)
    }
    tenants.reload()
  }
  const create = (name: string, rate: string, fmr: string) =>
    attempt(async () => {
      const created = await post<Created>('/tenants', {
        name,
        ...(rate ? { rate_per_second: Number(rate) } : {}),
        ...(fmr ? { fmr: Number(fmr) } : {}),
      })
      return [
        ['Sandbox key', created.sandbox_key],
        ['Signing secret', created.signing_secret.secret],
        ['Login link, for one use within an hour', created.login_link],
      ]
    })
  const link = (id: string) =>
    attempt(async () => {
      const { login_link } = await post<{ login_link: string }>(`/tenants/${id}/login-link`)
      return [['Login link, for one use within an hour', login_link]]
    })
  const save = (id: string, rate: string, fmr: string) =>
    attempt(async () => {
      await call('PATCH', `/tenants/${id}`, { rate_per_second: Number(rate), fmr: fmr ? Number(fmr) : null })
      return []
    })
  return (
    <>
      <Problem message={problem ?? tenants.error} />
      {shown.map(([label, value]) => (
        <Reveal key={value} label={label} value={value} />
      ))}
      <Card title="Tenants">
        {!tenants.value ? (
          <Loading />
        ) : tenants.value.tenants.length === 0 ? (
          <p class="muted">There are none yet.</p>
        ) : (
          <section class="wide" tabIndex={0} aria-label="Tenants">
            <table>
              <thead>
                <tr>
                  <th>Name</th>
                  <th>Production key</th>
                  <th>Requests/s</th>
                  <th>False match rate</th>
                  <th>Actions</th>
                </tr>
              </thead>
              <tbody>
                {tenants.value.tenants.map((tenant) => (
                  <TenantRow key={tenant.id} tenant={tenant} onLink={link} onSave={save} />
                ))}
              </tbody>
            </table>
          </section>
        )}
      </Card>
      <Card title="New tenant">
        <form
          class="fields"
          onSubmit={(event) => {
            event.preventDefault()
            const form = new FormData(event.currentTarget)
            const text = (name: string) => String(form.get(name) ?? '')
            void create(text('name'), text('rate'), text('fmr'))
          }}
        >
          <div>
            <label for="name">Name</label>
            <input id="name" name="name" required maxLength={64} pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" />
          </div>
          <div>
            <label for="rate">Requests per second</label>
            <input id="rate" name="rate" inputMode="decimal" placeholder="default" />
          </div>
          <div>
            <label for="fmr">False match rate</label>
            <input id="fmr" name="fmr" inputMode="decimal" placeholder="default" />
          </div>
          <button type="submit" class="primary">
            Create
          </button>
        </form>
      </Card>
    </>
  )
}

function TenantRow(props: {
  tenant: TenantView
  onLink: (id: string) => void
  onSave: (id: string, rate: string, fmr: string) => void
}) {
  const { tenant, onLink, onSave } = props
  const [rate, setRate] = useState(String(tenant.rate_per_second))
  const [fmr, setFmr] = useState(tenant.fmr === null ? '' : String(tenant.fmr))
  return (
    <tr>
      <td>
        <a href={`#/tenants/${tenant.id}/overview`}>{tenant.name}</a>
      </td>
      <td>{tenant.production_key}</td>
      <td>
        <input
          class="narrow"
          aria-label={`Requests per second of ${tenant.name}`}
          value={rate}
          onInput={(event) => setRate(event.currentTarget.value)}
        />
      </td>
      <td>
        <input
          class="narrow"
          aria-label={`False match rate of ${tenant.name}`}
          placeholder="default"
          value={fmr}
          onInput={(event) => setFmr(event.currentTarget.value)}
        />
      </td>
      <td class="buttons">
        <button type="button" onClick={() => onSave(tenant.id, rate, fmr)}>
          Save
        </button>
        <button type="button" onClick={() => onLink(tenant.id)}>
          Login link
        </button>
      </td>
    </tr>
  )
}
