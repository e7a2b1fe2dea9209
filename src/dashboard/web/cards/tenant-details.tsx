/** The operator's view of one tenant: its state and contract, suspension and deletion. */
import { useState } from 'preact/hooks'
import type { TenantErasureView, TenantOverview, TenantView } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { useData } from '../base/data.js'
import { Button, Choice, Field, RATE, REQUESTS } from '../base/form.js'
import { entryCount, type Fact, Facts, useActions, Waiting } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Time } from '../base/times.js'
import { ReceiptCard } from './receipt-card.js'

const LIVENESS = [
  ['', 'as configured'],
  ['none', 'none'],
  ['passive', 'passive: by the network of the pack'],
  ['active', 'active: by a challenge'],
  ['both', 'both'],
] as const

/** @param onChanged called when the list of tenants is out of date */
export function TenantDetails({ tenant, onChanged }: { tenant: TenantView; onChanged: () => void }) {
  const { id, name } = tenant
  const overview = useData(tenantAddress(id, 'GET /'))
  const [receipt, setReceipt] = useState<TenantErasureView | null>(null)
  const may = useRights().tenant
  const { isBusy, ask, feedback } = useActions(() => {
    overview.reload()
    onChanged()
  }, overview)
  if (!overview.value) return <Waiting data={overview} />
  const { status, references } = overview.value
  const editContract = () =>
    ask({
      title: `Contract of ${name}`,
      confirm: 'Save',
      children: <ContractFields tenant={overview.value!} />,
      act: (given) =>
        callTenant(id, 'PATCH /', {
          rate_per_second: given.number('edit-rate')!,
          fmr: given.number('edit-fmr'),
          require_liveness: given.text<NonNullable<TenantView['require_liveness']>>('edit-liveness') || null,
          replace_verdict_minutes: given.number('edit-replace'),
        }),
    })
  const suspend = () =>
    ask({
      title: `Suspend ${name}?`,
      confirm: 'Suspend',
      isDanger: true,
      children: (
        <p>
          All calls with its keys are refused immediately, with 403 <code>tenant_suspended</code>. Everybody
          who is signed in for it is signed out, and unused login links stop working. Everything else is kept,
          and the tenant can be resumed.
        </p>
      ),
      act: () => callTenant(id, 'POST /suspend'),
    })
  const resume = () =>
    ask({
      title: `Resume ${name}?`,
      confirm: 'Resume',
      children: 'Its keys work again immediately.',
      act: () => callTenant(id, 'POST /resume'),
    })
  const remove = () =>
    ask({
      title: `Delete ${name}?`,
      confirm: 'Delete forever',
      isDanger: true,
      typed: name,
      children: `All its users (${inBoth(references)}), keys and secrets are erased permanently. Its audit log stays, and its name stays taken. This cannot be undone.`,
      act: async () => setReceipt(await callTenant(id, 'DELETE /', { name })),
    })
  return (
    <>
      {feedback}
      {receipt ? (
        <ReceiptCard
          receipt={receipt}
          of={['Tenant', receipt.name]}
          toDo="Make a backup now: the keys of older backups can still decrypt the erased data."
        />
      ) : (
        <Facts rows={tenantFacts(overview.value)} />
      )}
      {status !== 'deleted' && !receipt && (
        <div class="toolbar">
          {may('PATCH /') && <Button text="Edit the contract" disabled={isBusy} onClick={editContract} />}
          {status === 'active' && may('POST /suspend') && (
            <Button text="Suspend" class="danger" disabled={isBusy} onClick={suspend} />
          )}
          {status === 'suspended' && may('POST /resume') && (
            <Button text="Resume" disabled={isBusy} onClick={resume} />
          )}
          {may('DELETE /') && <Button text="Delete…" class="danger" disabled={isBusy} onClick={remove} />}
        </div>
      )}
    </>
  )
}

function inBoth({ production, sandbox }: TenantOverview['references']): string {
  return `${production.toLocaleString()} in production, ${sandbox.toLocaleString()} in the sandbox`
}

function tenantFacts(tenant: TenantOverview): Fact[] {
  const { references, status } = tenant
  const since = tenant.deleted_at ?? tenant.suspended_at
  return [
    ['Tenant id (aud)', <code>{tenant.id}</code>],
    [
      'State',
      since ? (
        <>
          {status} since <Time at={since} />
        </>
      ) : (
        status
      ),
    ],
    ['Created', <Time at={tenant.created_at} />],
    ['Requests per second', `${tenant.rate_per_second}, and ${tenant.burst} at once`],
    [
      'False match rate',
      `${tenant.fmr ?? `${tenant.fmr_in_force}, as configured`}; a match from a score of ${tenant.threshold}`,
    ],
    ['Liveness required', tenant.require_liveness ?? 'as configured'],
    [
      'Verdict to replace a reference',
      tenant.replace_verdict_minutes === null
        ? 'not needed'
        : `at most ${tenant.replace_verdict_minutes} minutes old`,
    ],
    ['Production key', tenant.production_key],
    ['References', inBoth(references)],
    ['Audit log', <a href={`#/tenants/${tenant.id}/audit`}>{entryCount(tenant.audit_entries)}</a>],
  ]
}

function ContractFields({ tenant }: { tenant: TenantView }) {
  return (
    <>
      <Field id="edit-rate" {...REQUESTS} required defaultValue={tenant.rate_per_second} />
      <Field
        id="edit-fmr"
        label="False match rate"
        {...RATE}
        placeholder="as configured"
        defaultValue={tenant.fmr ?? ''}
      />
      <Choice
        id="edit-liveness"
        label="Liveness required"
        options={LIVENESS}
        initial={tenant.require_liveness ?? ''}
      />
      <Field
        id="edit-replace"
        label="Minutes that a verdict is good for replacing a reference"
        type="number"
        min="1"
        max="1440"
        placeholder="no verdict needed"
        defaultValue={tenant.replace_verdict_minutes ?? ''}
      />
      <p class="muted small">
        The false match rate decides the threshold: how similar two faces must be. Twice the rate per second
        may come at once.
      </p>
    </>
  )
}
