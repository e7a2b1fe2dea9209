/** The fields of the plan of a change of the model pack, and the dialog that moves the decision. */
import { useState } from 'preact/hooks'
import type { InputOf, ModelsView, OperatorRoutes, TenantModelView } from '../../contract.js'
import { localTime } from '../base/address-query.js'
import { Check, Choice, Field, type Given } from '../base/form.js'
import { Confirm } from '../base/parts.js'
import { timeZone } from '../base/times.js'

type Plan = Pick<NonNullable<ModelsView['migration']>, 'at_coverage' | 'at_date'>

/** Share of the users under which a decision moves only by force. */
const ENOUGH_COVERAGE = 0.95
/** Characters of a local time without its seconds, such as `2027-01-31T06:00`. */
const MINUTES = 16

/** The fields for when the decision moves automatically. */
export function PlanFields({ at_coverage, at_date }: Plan) {
  return (
    <>
      <Field
        id="model-coverage"
        label="Move for a tenant at percent of its users"
        type="number"
        min="1"
        max="100"
        step="any"
        placeholder="not automatically"
        defaultValue={at_coverage === null ? '' : Math.round(100 * at_coverage)}
      />
      <Field
        id="model-date"
        label={`Move for all tenants at (${timeZone()})`}
        type="datetime-local"
        defaultValue={at_date === null ? '' : localTime(at_date).slice(0, MINUTES)}
      />
    </>
  )
}

/** Returns the plan that the fields hold. */
export function givenPlan(given: Given): Plan {
  const [percent, date] = [given.number('model-coverage'), given.text('model-date')]
  return {
    at_coverage: percent === null ? null : percent / 100,
    at_date: date === '' ? null : new Date(date).toISOString(),
  }
}

export function DecideDialog(props: {
  model: string
  tenants: TenantModelView[]
  isBack: boolean
  onClose: () => void
  onConfirm: (body: InputOf<OperatorRoutes['POST /models/decide']>) => void
}) {
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
          {usersHave(missing)} no template of {model}, and would be asked to enroll.
        </p>
      )}
      <Check
        text={`Move it also where under ${100 * ENOUGH_COVERAGE} % of the users have a template.`}
        checked={force}
        onCheck={setForce}
      />
    </Confirm>
  )
}

/** Users without a template of the new pack. */
export function missingIn(tenants: TenantModelView[]): number {
  return tenants.reduce((sum, { progress }) => sum + (progress ? progress.users - progress.covered : 0), 0)
}

export function usersHave(count: number): string {
  return `${count.toLocaleString()} ${count === 1 ? 'user has' : 'users have'}`
}
