/** For the operator: tenants, their contracts, and links to sign in. */
import { useState } from 'preact/hooks'
import type { TenantView } from '../contract.js'
import { callOperator, callTenant, operatorAddress } from './api.js'
import { Badge, Card, Confirm, Empty, Loading, Problem, Reveal, type Revealed, Table, Time } from './parts.js'
import { useAction } from './use-action.js'
import { useData } from './use-data.js'

const LINK = {
  label: 'Login link',
  hint: 'Open it, or send it to whoever looks after the tenant: it signs in once, within an hour.',
}
const NAME = '[A-Za-z0-9][A-Za-z0-9._\\-]*'
const COLUMNS = [
  { name: 'Name' },
  { name: 'Production key' },
  { name: 'Requests per second', isNumber: true },
  { name: 'False match rate', isNumber: true },
  { name: 'Created' },
  { name: 'Actions', isSilent: true },
]

export function TenantsPage() {
  const tenants = useData(operatorAddress('GET /tenants'))
  const [shown, setShown] = useState<Revealed[]>([])
  const [editing, setEditing] = useState<TenantView | null>(null)
  const { problem, isBusy, run } = useAction()
  const change = (work: () => Promise<Revealed[]>) =>
    run(async () => {
      setShown(await work())
      tenants.reload()
    })
  const create = ({ name, rate, fmr }: Contract & { name: string }, onCreated: () => void) =>
    change(async () => {
      const created = await callOperator('POST /tenants', {
        name,
        ...(rate ? { rate_per_second: Number(rate) } : {}),
        ...(fmr ? { fmr: Number(fmr) } : {}),
      })
      onCreated()
      const { id, secret } = created.signing_secret
      return [
        {
          label: `Sandbox key of ${name}`,
          value: created.sandbox_key,
          beside: [['Tenant id (aud)', created.tenant.id]],
        },
        { label: `Signing secret of ${name}`, value: secret, beside: [['Id (kid)', id]] },
        { ...LINK, value: created.login_link },
      ]
    })
  const link = ({ id, name }: TenantView) =>
    change(async () => {
      const { login_link } = await callTenant(id, 'POST /login-link')
      return [{ ...LINK, label: `Login link, to ${name}`, value: login_link }]
    })
  const save = ({ id }: TenantView, { rate, fmr }: Contract) => {
    setEditing(null)
    return change(async () => {
      await callTenant(id, 'PATCH /', { rate_per_second: Number(rate), fmr: fmr ? Number(fmr) : null })
      return []
    })
  }
  return (
    <>
      <Problem message={problem ?? tenants.error} />
      {shown.map((one) => (
        <Reveal key={one.value} {...one} onDone={() => setShown(shown.filter((other) => other !== one))} />
      ))}
      <Card title="Tenants">
        {!tenants.value ? (
          <Loading />
        ) : tenants.value.tenants.length === 0 ? (
          <Empty title="No tenants yet">
            Each backend that calls this service is one. Create the first below.
          </Empty>
        ) : (
          <Table
            label="Tenants"
            columns={COLUMNS}
            rows={tenants.value.tenants.map((tenant) => ({
              key: tenant.id,
              cells: [
                <a href={`#/tenants/${tenant.id}/overview`}>{tenant.name}</a>,
                tenant.status === 'active' ? (
                  <Badge tone={tenant.production_key === 'revealed' ? 'good' : 'plain'}>
                    {tenant.production_key}
                  </Badge>
                ) : (
                  <Badge tone="bad">{tenant.status}</Badge>
                ),
                tenant.rate_per_second,
                tenant.fmr ?? 'default',
                <Time at={tenant.created_at} day />,
                <span class="buttons">
                  <button type="button" onClick={() => setEditing(tenant)}>
                    Edit<span class="for-readers"> {tenant.name}</span>
                  </button>
                  <button type="button" onClick={() => link(tenant)}>
                    Login link<span class="for-readers"> of {tenant.name}</span>
                  </button>
                </span>,
              ],
            }))}
          />
        )}
      </Card>
      <CreateCard isBusy={isBusy} onCreate={create} />
      {editing && (
        <Edit
          tenant={editing}
          onSave={(contract) => save(editing, contract)}
          onCancel={() => setEditing(null)}
        />
      )}
    </>
  )
}

interface Contract {
  rate: string
  fmr: string
}

function CreateCard(props: {
  isBusy: boolean
  onCreate: (contract: Contract & { name: string }, onCreated: () => void) => void
}) {
  return (
    <Card title="New tenant" hint="Its keys, its signing secret and a login link are shown once.">
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault()
          const form = event.currentTarget
          const given = new FormData(form)
          const text = (name: string) => String(given.get(name) ?? '').trim()
          props.onCreate({ name: text('name'), rate: text('rate'), fmr: text('fmr') }, () => form.reset())
        }}
      >
        <div>
          <label for="name">Name</label>
          <input
            id="name"
            name="name"
            required
            autocomplete="off"
            maxLength={64}
            pattern={NAME}
            title="Letters, digits, dots, dashes and underscores"
          />
        </div>
        <div>
          <label for="rate">Requests per second</label>
          <input id="rate" name="rate" type="number" min="0.1" step="any" placeholder="default" />
        </div>
        <div>
          <label for="fmr">False match rate</label>
          <input id="fmr" name="fmr" type="number" min="1e-9" max="0.5" step="any" placeholder="default" />
        </div>
        <button type="submit" class="primary" disabled={props.isBusy}>
          Create
        </button>
      </form>
    </Card>
  )
}

function Edit(props: { tenant: TenantView; onSave: (contract: Contract) => void; onCancel: () => void }) {
  const { tenant } = props
  const [rate, setRate] = useState(String(tenant.rate_per_second))
  const [fmr, setFmr] = useState(tenant.fmr === null ? '' : String(tenant.fmr))
  return (
    <Confirm
      title={`Contract of ${tenant.name}`}
      confirm="Save"
      onCancel={props.onCancel}
      onConfirm={() => props.onSave({ rate, fmr })}
    >
      <label for="edit-rate">Requests per second</label>
      <input
        id="edit-rate"
        type="number"
        required
        min="0.1"
        step="any"
        value={rate}
        onInput={(event) => setRate(event.currentTarget.value)}
      />
      <label for="edit-fmr">False match rate</label>
      <input
        id="edit-fmr"
        type="number"
        min="1e-9"
        max="0.5"
        step="any"
        placeholder="default"
        value={fmr}
        onInput={(event) => setFmr(event.currentTarget.value)}
      />
      <p class="muted small">
        The false match rate decides the threshold: how similar two faces must be. Twice the rate per second
        may come at once.
      </p>
    </Confirm>
  )
}
