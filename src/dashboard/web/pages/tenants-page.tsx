/** The operator's page of the tenants, with their state and login links. */
import { useState } from 'preact/hooks'
import type { TenantView } from '../../contract.js'
import { callOperator, callTenant, operatorAddress } from '../base/api.js'
import { Button, sending } from '../base/form.js'
import { Badge, Card, Empty, Problem, Waiting } from '../base/parts.js'
import { Reveal, type Revealed } from '../base/reveal.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { useAction } from '../base/use-action.js'
import { useData } from '../base/use-data.js'
import { TenantDetails } from '../cards/tenant-details.js'

const LINK = {
  label: 'Login link',
  hint: 'Open it, or send it to the person who manages the tenant: it signs in once, within an hour.',
}
const NAME = '[A-Za-z0-9][A-Za-z0-9._\\-]*'
const TONES = { active: 'good', suspended: 'warn', deleted: 'bad' } as const
const COLUMNS = [
  { name: 'Name' },
  { name: 'State' },
  { name: 'Production key' },
  { name: 'Requests per second', isNumber: true },
  { name: 'False match rate', isNumber: true },
  { name: 'Created' },
  { name: 'Actions', isSilent: true },
]

export function TenantsPage() {
  const tenants = useData(operatorAddress('GET /tenants'))
  const [shown, setShown] = useState<Revealed[]>([])
  const [opened, setOpened] = useState<string | null>(null)
  const may = useRights()
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
          details: [['Tenant id (aud)', created.tenant.id]],
        },
        { label: `Signing secret of ${name}`, value: secret, details: [['Id (kid)', id]] },
        { ...LINK, value: created.login_link },
      ]
    })
  const link = ({ id, name }: TenantView) =>
    change(async () => {
      const { login_link } = await callTenant(id, 'POST /login-link')
      return [{ ...LINK, label: `Login link for ${name}`, value: login_link }]
    })
  return (
    <>
      <Problem message={problem ?? (tenants.value && tenants.error)} />
      {shown.map((one) => (
        <Reveal key={one.value} {...one} onDone={() => setShown(shown.filter((other) => other !== one))} />
      ))}
      <Card title="All tenants">
        {!tenants.value ? (
          <Waiting data={tenants} />
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
                <Badge tone={TONES[tenant.status]}>{tenant.status}</Badge>,
                tenant.status === 'deleted' ? '–' : tenant.production_key,
                tenant.rate_per_second,
                tenant.fmr ?? 'default',
                <Time at={tenant.created_at} day />,
                <span class="buttons">
                  {tenant.status !== 'deleted' && may.tenant('POST /login-link') && (
                    <Button text="Login link" about={`of ${tenant.name}`} onClick={() => link(tenant)} />
                  )}
                  <Button
                    text="Details"
                    about={`of ${tenant.name}`}
                    aria-expanded={opened === tenant.id}
                    onClick={() => setOpened(opened === tenant.id ? null : tenant.id)}
                  />
                </span>,
              ],
              below: opened === tenant.id && <TenantDetails tenant={tenant} onChanged={tenants.reload} />,
            }))}
          />
        )}
      </Card>
      {may.operator('POST /tenants') && <CreateCard isBusy={isBusy} onCreate={create} />}
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
        onSubmit={sending((form) => {
          const given = new FormData(form)
          const text = (name: string) => String(given.get(name) ?? '').trim()
          props.onCreate({ name: text('name'), rate: text('rate'), fmr: text('fmr') }, () => form.reset())
        })}
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
        <Button text="Create" type="submit" class="primary" disabled={props.isBusy} />
      </form>
    </Card>
  )
}
