/** The operator's view of one tenant: its state and contract, suspension and deletion. */
import { useState } from 'preact/hooks'
import type { TenantErasureView, TenantOverview, TenantView } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { Button, Choice } from '../base/form.js'
import { Confirm, entryCount, type Fact, Facts, Problem, Waiting } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Time } from '../base/times.js'
import { useAction } from '../base/use-action.js'
import { useData } from '../base/use-data.js'
import { ReceiptCard } from './receipt-card.js'

type Asking = 'contract' | 'suspend' | 'resume' | 'delete'

/** @param onChanged called when the list of tenants is out of date */
export function TenantDetails({ tenant, onChanged }: { tenant: TenantView; onChanged: () => void }) {
  const { id, name } = tenant
  const overview = useData(tenantAddress(id, 'GET /'))
  const [asking, setAsking] = useState<Asking | null>(null)
  const [receipt, setReceipt] = useState<TenantErasureView | null>(null)
  const may = useRights().tenant
  const { problem, isBusy, run } = useAction()
  const change = (work: () => Promise<unknown>) =>
    run(async () => {
      try {
        await work()
      } finally {
        overview.reload()
        onChanged()
      }
    })
  const close = () => setAsking(null)
  const ask = (what: Asking) => () => setAsking(what)
  if (!overview.value) return <Waiting data={overview} />
  const { status } = overview.value
  return (
    <>
      <Problem message={problem ?? overview.error} />
      {receipt ? (
        <ReceiptCard receipt={receipt} rows={receiptFacts(receipt)} />
      ) : (
        <Facts rows={tenantFacts(overview.value)} />
      )}
      {status !== 'deleted' && !receipt && (
        <div class="toolbar">
          {may('PATCH /') && <Button text="Edit the contract" disabled={isBusy} onClick={ask('contract')} />}
          {status === 'active' && may('POST /suspend') && (
            <Button text="Suspend" class="danger" disabled={isBusy} onClick={ask('suspend')} />
          )}
          {status === 'suspended' && may('POST /resume') && (
            <Button text="Resume" disabled={isBusy} onClick={ask('resume')} />
          )}
          {may('DELETE /') && (
            <Button text="Delete…" class="danger" disabled={isBusy} onClick={ask('delete')} />
          )}
        </div>
      )}
      {asking === 'contract' && (
        <ContractDialog
          tenant={overview.value}
          onClose={close}
          onSave={(contract) => change(() => callTenant(id, 'PATCH /', contract))}
        />
      )}
      {asking === 'suspend' && (
        <Confirm
          title={`Suspend ${name}?`}
          confirm="Suspend"
          isDanger
          onClose={close}
          onConfirm={() => change(() => callTenant(id, 'POST /suspend'))}
        >
          <p>
            All calls with its keys are refused immediately, with 403 <code>tenant_suspended</code>. Everybody
            who is signed in for it is signed out, and unused login links stop working. Everything else is
            kept, and the tenant can be resumed.
          </p>
        </Confirm>
      )}
      {asking === 'resume' && (
        <Confirm
          title={`Resume ${name}?`}
          confirm="Resume"
          onClose={close}
          onConfirm={() => change(() => callTenant(id, 'POST /resume'))}
        >
          <p>Its keys work again immediately.</p>
        </Confirm>
      )}
      {asking === 'delete' && (
        <DeleteDialog
          tenant={overview.value}
          onClose={close}
          onDelete={(typed) =>
            change(async () => setReceipt(await callTenant(id, 'DELETE /', { name: typed })))
          }
        />
      )}
    </>
  )
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
    [
      'References',
      `${references.production.toLocaleString()} in production, ${references.sandbox.toLocaleString()} in the sandbox`,
    ],
    ['Audit log', <a href={`#/tenants/${tenant.id}/audit`}>{entryCount(tenant.audit_entries)}</a>],
  ]
}

function receiptFacts({ name, erasure_id, erased_at, erased }: TenantErasureView): Fact[] {
  return [
    ['Tenant', name],
    ['Erasure id', <code>{erasure_id}</code>],
    ['Erased at', <Time at={erased_at} />],
    ['Users', erased.users],
    ['References', erased.references],
    ['Captures', erased.captures],
    ['Passkeys', erased.passkeys],
    ['Kept responses', erased.idempotency_records],
    ['To do', 'Make a backup now: the keys of older backups can still decrypt the erased data.'],
  ]
}

interface Contract {
  rate_per_second: number
  fmr: number | null
  require_liveness: TenantView['require_liveness']
  replace_verdict_minutes: number | null
}

const LIVENESS: ReadonlyArray<readonly [value: string, text: string]> = [
  ['', 'as configured'],
  ['none', 'none'],
  ['passive', 'passive: by the network of the pack'],
  ['active', 'active: by a challenge'],
  ['both', 'both'],
]

function ContractDialog(props: {
  tenant: TenantView
  onSave: (contract: Contract) => void
  onClose: () => void
}) {
  const { tenant } = props
  const [rate, setRate] = useState(String(tenant.rate_per_second))
  const [fmr, setFmr] = useState(tenant.fmr === null ? '' : String(tenant.fmr))
  const [liveness, setLiveness] = useState<string>(tenant.require_liveness ?? '')
  const [minutes, setMinutes] = useState(String(tenant.replace_verdict_minutes ?? ''))
  return (
    <Confirm
      title={`Contract of ${tenant.name}`}
      confirm="Save"
      onClose={props.onClose}
      onConfirm={() =>
        props.onSave({
          rate_per_second: Number(rate),
          fmr: fmr ? Number(fmr) : null,
          require_liveness: (liveness || null) as Contract['require_liveness'],
          replace_verdict_minutes: minutes ? Number(minutes) : null,
        })
      }
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
        placeholder="as configured"
        value={fmr}
        onInput={(event) => setFmr(event.currentTarget.value)}
      />
      <Choice
        id="edit-liveness"
        label="Liveness required"
        options={LIVENESS}
        value={liveness}
        onChoose={setLiveness}
      />
      <label for="edit-replace">Minutes that a verdict is good for replacing a reference</label>
      <input
        id="edit-replace"
        type="number"
        min="1"
        max="1440"
        placeholder="no verdict needed"
        value={minutes}
        onInput={(event) => setMinutes(event.currentTarget.value)}
      />
      <p class="muted small">
        The false match rate decides the threshold: how similar two faces must be. Twice the rate per second
        may come at once.
      </p>
    </Confirm>
  )
}

function DeleteDialog(props: {
  tenant: TenantOverview
  onDelete: (typed: string) => void
  onClose: () => void
}) {
  const { name, references } = props.tenant
  const [typed, setTyped] = useState('')
  return (
    <Confirm
      title={`Delete ${name}?`}
      confirm="Delete forever"
      isDanger
      isReady={typed === name}
      onClose={props.onClose}
      onConfirm={() => props.onDelete(typed)}
    >
      <p>
        All its users ({references.production.toLocaleString()} in production,{' '}
        {references.sandbox.toLocaleString()} in the sandbox), keys and secrets are erased permanently. Its
        audit log stays, and its name stays taken. This cannot be undone.
      </p>
      <label for="delete-name">
        Type <code>{name}</code> to confirm
      </label>
      <input
        id="delete-name"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </Confirm>
  )
}
