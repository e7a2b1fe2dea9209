/** The operator's page of the tenants, with their state and login links. */
import { useState } from 'preact/hooks'
import type { TenantView } from '../../contract.js'
import { callOperator, callTenant, operatorAddress } from '../base/api.js'
import { useAction, useData } from '../base/data.js'
import { Button, Field, type Given, NAME, RATE, REQUESTS } from '../base/form.js'
import { AddCard, Badge, Card, Empty, Loaded, Problem } from '../base/parts.js'
import { Reveal, type Revealed } from '../base/reveal.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { TenantDetails } from '../cards/tenant-details.js'

const LINK = {
  label: 'Login link',
  hint: 'Open it, or send it to the person who manages the tenant: it signs in once, within an hour.',
}
const TONES = { active: 'good', suspended: 'warn', deleted: 'bad' } as const

export function TenantsPage() {
  const tenants = useData(operatorAddress('GET /tenants'))
  const [shown, setShown] = useState<Revealed[]>([])
  const [opened, setOpened] = useState<string | null>(null)
  const may = useRights()
  const { problem, run } = useAction(tenants.reload)
  const create = async (given: Given) => {
    const name = given.text('name')
    const [rate_per_second, fmr] = [given.number('rate'), given.number('fmr')]
    const created = await callOperator('POST /tenants', {
      name,
      ...(rate_per_second !== null && { rate_per_second }),
      ...(fmr !== null && { fmr }),
    })
    const { id, secret } = created.signing_secret
    setShown([
      {
        label: `Sandbox key of ${name}`,
        value: created.sandbox_key,
        details: [['Tenant id (aud)', created.tenant.id]],
      },
      { label: `Signing secret of ${name}`, value: secret, details: [['Id (kid)', id]] },
      { ...LINK, value: created.login_link },
    ])
    tenants.reload()
  }
  const link = ({ id, name }: TenantView) =>
    run(async () => {
      const { login_link } = await callTenant(id, 'POST /login-link')
      setShown([{ ...LINK, label: `Login link for ${name}`, value: login_link }])
    })
  return (
    <>
      <Problem message={problem} />
      {shown.map((one) => (
        <Reveal key={one.value} {...one} onDone={() => setShown(shown.filter((other) => other !== one))} />
      ))}
      <Card title="All tenants">
        <Loaded data={tenants}>
          {(list) => (
            <Table
              label="Tenants"
              rows={list.tenants}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Name', cell: ({ id, name }) => <a href={`#/tenants/${id}/overview`}>{name}</a> },
                { name: 'State', cell: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge> },
                {
                  name: 'Production key',
                  cell: ({ status, production_key }) => (status === 'deleted' ? '–' : production_key),
                },
                { name: 'Requests per second', isNumber: true, cell: (tenant) => tenant.rate_per_second },
                { name: 'False match rate', isNumber: true, cell: ({ fmr }) => fmr ?? 'default' },
                { name: 'Created', cell: ({ created_at }) => <Time at={created_at} day /> },
              ]}
              actions={(tenant) => (
                <>
                  {tenant.status !== 'deleted' && may.tenant('POST /login-link') && (
                    <Button text="Login link" about={`of ${tenant.name}`} onClick={() => link(tenant)} />
                  )}
                  <Button
                    text="Details"
                    about={`of ${tenant.name}`}
                    aria-expanded={opened === tenant.id}
                    onClick={() => setOpened(opened === tenant.id ? null : tenant.id)}
                  />
                </>
              )}
              below={(tenant) =>
                opened === tenant.id && <TenantDetails tenant={tenant} onChanged={tenants.reload} />
              }
              empty={
                <Empty title="No tenants yet">
                  Each backend that calls this service is one. Create the first below.
                </Empty>
              }
            />
          )}
        </Loaded>
      </Card>
      {may.operator('POST /tenants') && (
        <AddCard
          title="New tenant"
          hint="Its keys, its signing secret and a login link are shown once."
          submit="Create"
          isRow
          add={create}
        >
          <Field id="name" {...NAME} maxLength={64} />
          <Field id="rate" {...REQUESTS} placeholder="default" />
          <Field id="fmr" label="False match rate" {...RATE} placeholder="default" />
        </AddCard>
      )}
    </>
  )
}
