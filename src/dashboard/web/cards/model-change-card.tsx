/** The card of the change from one model pack to another, with its steps: begin, plan, move the decision, move it back, finish. */
import { useState } from 'preact/hooks'
import type { ModelsView } from '../../contract.js'
import { callOperator } from '../base/api.js'
import { Button } from '../base/form.js'
import { Badge, Card, Facts, Problem } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Time } from '../base/times.js'
import { useAction } from '../base/use-action.js'
import { BeginDialog, DecideDialog, FinishDialog, PlanDialog } from './model-change-dialogs.js'

type Migration = NonNullable<ModelsView['migration']>
type Step = 'begin' | 'plan' | 'decide' | 'back' | 'finish'

const STEPS: ReadonlyArray<readonly [Exclude<Step, 'begin'>, string]> = [
  ['plan', 'Plan…'],
  ['decide', 'Move the decision…'],
  ['back', 'Move it back…'],
  ['finish', 'Finish…'],
]

export function ModelChangeCard({ models, onChange }: { models: ModelsView; onChange: () => void }) {
  const { packs, migration, tenants } = models
  const [step, setStep] = useState<Step | null>(null)
  const { problem, isBusy, run } = useAction()
  const mayChange = useRights().operator('POST /models/begin')
  const following = packs.slice(1).map(({ model }) => model)
  const does = (work: () => Promise<unknown>) =>
    void run(async () => {
      await work()
      onChange()
    })
  const close = () => setStep(null)
  const steps = migration
    ? STEPS.filter(([name]) => !migration.is_finishing || name === 'finish')
    : following.length > 0
      ? ([['begin', 'Begin…']] as const)
      : []
  return (
    <Card
      title="Change of the pack"
      hint="From one pack to another without new photos: strong verifications and enrollments add templates of the new one."
      actions={
        mayChange &&
        steps.map(([name, text]) => (
          <Button
            text={text}
            key={name}
            class={name === 'finish' ? 'danger' : undefined}
            disabled={isBusy}
            onClick={() => setStep(name)}
          />
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
      {step === 'begin' && (
        <BeginDialog
          following={following}
          onClose={close}
          onConfirm={(body) => does(() => callOperator('POST /models/begin', body))}
        />
      )}
      {step === 'plan' && migration && (
        <PlanDialog
          migration={migration}
          onClose={close}
          onConfirm={(body) => does(() => callOperator('POST /models/plan', body))}
        />
      )}
      {(step === 'decide' || step === 'back') && migration && (
        <DecideDialog
          model={step === 'decide' ? migration.to : migration.from}
          tenants={tenants}
          isBack={step === 'back'}
          onClose={close}
          onConfirm={(body) => does(() => callOperator(`POST /models/${step}`, body))}
        />
      )}
      {step === 'finish' && migration && (
        <FinishDialog
          migration={migration}
          tenants={tenants}
          onClose={close}
          onConfirm={(body) => does(() => callOperator('POST /models/finish', body))}
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
