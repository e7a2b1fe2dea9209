/** The card of the change from one model pack to another, with its steps: begin, plan, move the decision, move it back, finish. */
import { useState } from 'preact/hooks'
import type { ModelsView } from '../../contract.js'
import { callOperator } from '../base/api.js'
import { useAction } from '../base/data.js'
import { Button, Choice, Field, RATE } from '../base/form.js'
import { Badge, Card, Facts, Problem, useQuestion } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Time } from '../base/times.js'
import { DecideDialog, givenPlan, missingIn, PlanFields, usersHave } from './model-change-dialogs.js'

type Migration = NonNullable<ModelsView['migration']>

export function ModelChangeCard({ models, onChange }: { models: ModelsView; onChange: () => void }) {
  const { packs, migration, tenants } = models
  const [moving, setMoving] = useState<'decide' | 'back' | null>(null)
  const [ask, dialog] = useQuestion()
  const { problem, isBusy, run } = useAction(onChange)
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
      onConfirm: (given) =>
        run(() =>
          callOperator('POST /models/begin', {
            to: given.text('model-to'),
            strict_fmr: given.number('model-strict'),
            ...givenPlan(given),
          }),
        ),
    })
  const plan = (change: Migration) =>
    ask({
      title: 'When does the decision move?',
      confirm: 'Save',
      children: <PlanFields {...change} />,
      onConfirm: (given) => run(() => callOperator('POST /models/plan', givenPlan(given))),
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
      onConfirm: () => run(() => callOperator('POST /models/finish', { dropping })),
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
                {button('Move the decision…', () => setMoving('decide'))}
                {button('Move it back…', () => setMoving('back'))}
              </>
            )}
            {button('Finish…', () => finish(migration), 'danger')}
          </>
        ) : (
          following.length > 0 && button('Begin…', begin)
        ))
      }
    >
      <Problem message={problem} />
      {migration ? (
        <Change migration={migration} />
      ) : (
        <p class="muted">
          {following.length > 0
            ? 'No change is under way.'
            : 'No pack follows. Name the new one in COUNTERSIGN_FOLLOWING_PACKS of every service to begin a change.'}
        </p>
      )}
      {dialog}
      {moving && migration && (
        <DecideDialog
          model={moving === 'decide' ? migration.to : migration.from}
          tenants={tenants}
          isBack={moving === 'back'}
          onClose={() => setMoving(null)}
          onConfirm={(body) => void run(() => callOperator(`POST /models/${moving}`, body))}
        />
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
              ['Decision moves', <Plan migration={migration} />],
            ]
      }
    />
  )
}

function Plan({ migration: { at_coverage, at_date } }: { migration: Migration }) {
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
