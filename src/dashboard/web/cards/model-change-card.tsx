/** The card of the change from one model pack to another, with its steps: begin, plan, move the decision, move it back, finish. */
import type { ModelsView, TenantModelView } from '../../contract.js'
import { localTime } from '../base/address-query.js'
import { callOperator } from '../base/api.js'
import { Button, Check, Choice, Field, type Given, RATE } from '../base/form.js'
import { Badge, Card, Facts, useActions } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Time, timeZone } from '../base/times.js'

type Migration = NonNullable<ModelsView['migration']>
type Plan = Pick<Migration, 'at_coverage' | 'at_date'>

/** Share of the users under which a decision moves only by force. */
const ENOUGH_COVERAGE = 0.95
/** Characters of a local time without its seconds, such as `2027-01-31T06:00`. */
const MINUTES = 16

export function ModelChangeCard({ models, onChange }: { models: ModelsView; onChange: () => void }) {
  const { packs, migration, tenants } = models
  const { isBusy, ask, feedback } = useActions(onChange)
  const mayChange = useRights().operator('POST /models/begin')
  const following = packs.slice(1).map(({ model }) => model)
  const begin = () =>
    ask({
      title: 'Begin a change of the pack?',
      confirm: 'Begin',
      children: (
        <>
          <p>
            From then on, strong verifications and enrollments add templates of the new pack. The old pack
            goes on deciding.
          </p>
          <Choice id="model-to" label="New pack" options={following} />
          <Field
            id="model-strict"
            label="Strict false match rate"
            {...RATE}
            placeholder="a tenth of the rate in force"
          />
          <PlanFields at_coverage={null} at_date={null} />
        </>
      ),
      act: (given) =>
        callOperator('POST /models/begin', {
          to: given.text('model-to'),
          strict_fmr: given.number('model-strict'),
          ...givenPlan(given),
        }),
    })
  const plan = (change: Migration) =>
    ask({
      title: 'When does the decision move?',
      confirm: 'Save',
      children: <PlanFields {...change} />,
      act: (given) => callOperator('POST /models/plan', givenPlan(given)),
    })
  const move = (route: 'decide' | 'back', model: string) =>
    ask({
      title: `Let ${model} decide?`,
      confirm: route === 'back' ? 'Move back' : 'Move',
      isDanger: (given) => given.isChecked('model-force'),
      children: (given) => {
        const tenant = given.text('model-tenant')
        const moved = tenants.filter(
          ({ deciding, tenant_id }) => deciding !== model && (tenant === '' || tenant_id === tenant),
        )
        const missing = route === 'back' ? 0 : missingIn(moved)
        return (
          <>
            <p>
              From the next call on, thresholds, liveness, quality and scores are those of {model}.
              Enrollments still keep templates of both packs, so that the decision can be moved again.
            </p>
            <Choice
              id="model-tenant"
              label="Tenant"
              options={[['', 'all tenants'], ...tenants.map((one) => [one.tenant_id, one.name] as const)]}
            />
            {missing > 0 && (
              <p>
                {usersHave(missing)} no template of {model}, and would be asked to enroll.
              </p>
            )}
            <Check
              name="model-force"
              text={`Move it also where under ${100 * ENOUGH_COVERAGE} % of the users have a template.`}
            />
          </>
        )
      },
      act: (given) => {
        const body = { tenant: given.text('model-tenant') || null, force: given.isChecked('model-force') }
        return callOperator(`POST /models/${route}`, body)
      },
    })
  const finish = ({ from, to, is_finishing }: Migration) => {
    const staysWithFirst = tenants.every(({ deciding }) => deciding === from)
    // The pack that decides for no tenant goes; where the decisions differ, the service refuses.
    const dropping = !is_finishing && staysWithFirst ? to : from
    const missing = dropping === from ? missingIn(tenants) : 0
    ask({
      title: `Delete the templates of ${dropping}?`,
      confirm: 'Delete forever',
      isDanger: true,
      typed: dropping,
      children: (
        <p>
          There is no way back after this.
          {missing > 0 &&
            ` ${usersHave(missing)} no template of the other pack, and will be asked to enroll.`}
        </p>
      ),
      act: () => callOperator('POST /models/finish', { dropping }),
    })
  }
  const button = (text: string, act: () => void, tone?: 'danger') => (
    <Button text={text} class={tone} disabled={isBusy} onClick={act} />
  )
  return (
    <Card
      title="Change of the pack"
      hint="From one pack to another without new photos: strong verifications and enrollments add templates of the new one."
      actions={
        mayChange &&
        (migration ? (
          <>
            {!migration.is_finishing && (
              <>
                {button('Plan…', () => plan(migration))}
                {button('Move the decision…', () => move('decide', migration.to))}
                {button('Move it back…', () => move('back', migration.from))}
              </>
            )}
            {button('Finish…', () => finish(migration), 'danger')}
          </>
        ) : (
          following.length > 0 && button('Begin…', begin)
        ))
      }
    >
      {feedback}
      {migration ? (
        <Change migration={migration} />
      ) : (
        <p class="muted">
          {following.length > 0
            ? 'No change is under way.'
            : 'No pack follows. Name the new one in COUNTERSIGN_FOLLOWING_PACKS of every service to begin a change.'}
        </p>
      )}
    </Card>
  )
}

function Change({ migration }: { migration: Migration }) {
  const { from, to, started_at, strict_fmr, is_finishing } = migration
  return (
    <Facts
      rows={
        is_finishing
          ? [
              ['State', <Badge tone="warn">finishing</Badge>],
              ['Pack that stays', <code>{to}</code>],
              ['Templates that are deleted', <code>{from}</code>],
            ]
          : [
              ['From', <code>{from}</code>],
              ['To', <code>{to}</code>],
              ['Begun', <Time at={started_at} />],
              ['Strict false match rate', strict_fmr ?? 'a tenth of the rate in force'],
              ['Decision moves', <PlanInWords {...migration} />],
            ]
      }
    />
  )
}

function PlanInWords({ at_coverage, at_date }: Plan) {
  if (at_coverage === null && at_date === null) return <>only when you move it</>
  return (
    <>
      {at_coverage !== null && <>at {Math.round(100 * at_coverage)} % of a tenant’s users</>}
      {at_coverage !== null && at_date !== null && ', or '}
      {at_date !== null && (
        <>
          at <Time at={at_date} />
        </>
      )}
    </>
  )
}

function PlanFields({ at_coverage, at_date }: Plan) {
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

function givenPlan(given: Given): Plan {
  const [percent, date] = [given.number('model-coverage'), given.text('model-date')]
  return {
    at_coverage: percent === null ? null : percent / 100,
    at_date: date === '' ? null : new Date(date).toISOString(),
  }
}

/** Users without a template of the new pack. */
function missingIn(tenants: TenantModelView[]): number {
  return tenants.reduce((sum, { progress }) => sum + (progress ? progress.users - progress.covered : 0), 0)
}

function usersHave(count: number): string {
  return `${count.toLocaleString()} ${count === 1 ? 'user has' : 'users have'}`
}
