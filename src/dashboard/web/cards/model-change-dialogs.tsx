/** The dialogs of the steps of a change of the model pack. */
import { useState } from 'preact/hooks'
import type { InputOf, ModelsView, OperatorRoutes, TenantModelView } from '../../contract.js'
import { Choice } from '../base/form.js'
import { Confirm } from '../base/parts.js'
import { timeZone } from '../base/times.js'

type Body<Name extends keyof OperatorRoutes> = InputOf<OperatorRoutes[Name]>
type Migration = NonNullable<ModelsView['migration']>

interface Step<Name extends keyof OperatorRoutes> {
  onClose: () => void
  onConfirm: (body: Body<Name>) => void
}

/** Share of the users under which a decision moves only by force. */
const ENOUGH_COVERAGE = 0.95

export function BeginDialog(props: Step<'POST /models/begin'> & { following: string[] }) {
  const { following } = props
  const [to, setTo] = useState(following[0]!)
  const [strict, setStrict] = useState('')
  const plan = usePlan({ at_coverage: null, at_date: null })
  return (
    <Confirm
      title="Begin a change of the pack?"
      confirm="Begin"
      onClose={props.onClose}
      onConfirm={() => props.onConfirm({ to, strict_fmr: numberOr(strict), ...plan.body })}
    >
      <p>
        From then on, strong verifications and enrollments add templates of the new pack. The old pack goes on
        deciding.
      </p>
      <Choice id="model-to" label="New pack" options={following} value={to} onChoose={setTo} />
      <label for="model-strict">Strict false match rate</label>
      <input
        id="model-strict"
        type="number"
        min="1e-9"
        max="0.5"
        step="any"
        placeholder="a tenth of the rate in force"
        value={strict}
        onInput={(event) => setStrict(event.currentTarget.value)}
      />
      {plan.fields}
    </Confirm>
  )
}

export function PlanDialog(props: Step<'POST /models/plan'> & { migration: Migration }) {
  const plan = usePlan(props.migration)
  return (
    <Confirm
      title="When does the decision move?"
      confirm="Save"
      onClose={props.onClose}
      onConfirm={() => props.onConfirm(plan.body)}
    >
      {plan.fields}
    </Confirm>
  )
}

/** The fields for when the decision moves automatically, and what they hold. */
function usePlan({ at_coverage, at_date }: Pick<Migration, 'at_coverage' | 'at_date'>) {
  const [percent, setPercent] = useState(at_coverage === null ? '' : String(Math.round(100 * at_coverage)))
  const [date, setDate] = useState(at_date === null ? '' : localText(at_date))
  const share = numberOr(percent)
  const fields = (
    <>
      <label for="model-coverage">Move for a tenant at percent of its users</label>
      <input
        id="model-coverage"
        type="number"
        min="1"
        max="100"
        step="any"
        placeholder="not automatically"
        value={percent}
        onInput={(event) => setPercent(event.currentTarget.value)}
      />
      <label for="model-date">Move for all tenants at ({timeZone()})</label>
      <input
        id="model-date"
        type="datetime-local"
        value={date}
        onInput={(event) => setDate(event.currentTarget.value)}
      />
    </>
  )
  const body = {
    at_coverage: share === null ? null : share / 100,
    at_date: date === '' ? null : new Date(date).toISOString(),
  }
  return { fields, body }
}

export function DecideDialog(
  props: Step<'POST /models/decide'> & { model: string; tenants: TenantModelView[]; isBack: boolean },
) {
  const { model, tenants, isBack } = props
  const [tenant, setTenant] = useState('')
  const [force, setForce] = useState(false)
  const isMoving = (one: TenantModelView) =>
    one.deciding !== model && (tenant === '' || one.tenant_id === tenant)
  const missing = isBack ? 0 : missingIn(tenants.filter(isMoving))
  return (
    <Confirm
      title={`Let ${model} decide?`}
      confirm={isBack ? 'Move back' : 'Move'}
      isDanger={force}
      onClose={props.onClose}
      onConfirm={() => props.onConfirm({ tenant: tenant === '' ? null : tenant, force })}
    >
      <p>
        From the next call on, thresholds, liveness, quality and scores are those of {model}. Enrollments
        still keep templates of both packs, so that the decision can be moved again.
      </p>
      <Choice
        id="model-tenant"
        label="Tenant"
        options={[['', 'all tenants'], ...tenants.map(({ tenant_id, name }) => [tenant_id, name] as const)]}
        value={tenant}
        onChoose={setTenant}
      />
      {missing > 0 && (
        <p>
          {missing.toLocaleString()} {missing === 1 ? 'user has' : 'users have'} no template of {model}, and
          would be asked to enroll.
        </p>
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={force}
          onChange={({ currentTarget }) => setForce(currentTarget.checked)}
        />
        Move it also where under {100 * ENOUGH_COVERAGE} % of the users have a template.
      </label>
    </Confirm>
  )
}

export function FinishDialog(
  props: Step<'POST /models/finish'> & { migration: Migration; tenants: TenantModelView[] },
) {
  const { migration, tenants } = props
  const { from, to } = migration
  const staysWith = (model: string) => tenants.every(({ deciding }) => deciding === model)
  // The pack that decides for no tenant goes; where the decisions differ, the service refuses.
  const dropping = !migration.is_finishing && staysWith(from) ? to : from
  const missing = dropping === from ? missingIn(tenants) : 0
  const [typed, setTyped] = useState('')
  return (
    <Confirm
      title={`Delete the templates of ${dropping}?`}
      confirm="Delete forever"
      isDanger
      isReady={typed === dropping}
      onClose={props.onClose}
      onConfirm={() => props.onConfirm({ dropping })}
    >
      <p>
        There is no way back after this.
        {missing > 0 &&
          ` ${missing.toLocaleString()} ${missing === 1 ? 'user has' : 'users have'} no template of the other pack, and will be asked to enroll.`}
      </p>
      <label for="model-dropping">
        Type <code>{dropping}</code> to confirm
      </label>
      <input
        id="model-dropping"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </Confirm>
  )
}

/** Users without a template of the new pack. */
function missingIn(tenants: TenantModelView[]): number {
  return tenants.reduce((sum, { progress }) => sum + (progress ? progress.users - progress.covered : 0), 0)
}

function numberOr(text: string): number | null {
  return text === '' ? null : Number(text)
}

/** A time as a field for local times holds it, such as `2027-01-31T06:00`. */
function localText(at: string): string {
  const time = new Date(at)
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
