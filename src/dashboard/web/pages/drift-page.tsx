/** The drift of a tenant: its latest verifies next to those of the month before. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { DriftSide, DriftView } from '../../../features/insight/drift/drift-view.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { Chart } from '../base/chart.js'
import { Button } from '../base/form.js'
import { Badge, Card, Confirm, Empty, Problem, Segments, type Tone, Waiting } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { useAction } from '../base/use-action.js'
import { useData } from '../base/use-data.js'
import { byDay, type Distribution, shares } from '../drift-series.js'

const REFRESH_MS = 60_000

const WINDOW_TEXT = { latest: 'latest', week: '7 days' } as const
const MEASURE_TEXT = { scores: 'Scores', quality: 'Quality', outcomes: 'Outcomes' } as const
const STATES: Record<DriftView['comparisons'][number]['state'], readonly [Tone, string]> = {
  too_few: ['plain', 'too few'],
  steady: ['good', 'steady'],
  shifted: ['warn', 'shifted'],
  alarm: ['bad', 'alarm'],
}

export function DriftPage({ tenantId }: { tenantId: string }) {
  const drift = useData(tenantAddress(tenantId, 'GET /drift'), REFRESH_MS)
  const [chosen, choose] = useState<string | null>(null)
  if (!drift.value) return <Waiting data={drift} />
  const { models } = drift.value
  const shown = models.find(({ model }) => model === chosen) ?? models[0]
  return (
    <>
      <Problem message={drift.error} onRetry={drift.reload} />
      {models.length > 1 && (
        <div class="toolbar">
          <Segments
            label="Model pack"
            options={models.map(({ model }) => [model, model] as const)}
            value={shown!.model}
            onChange={choose}
          />
        </div>
      )}
      {shown ? (
        <Drift view={shown} restart={<Restart tenantId={tenantId} onDone={drift.reload} />} />
      ) : (
        <NothingYet />
      )}
    </>
  )
}

/** Begins a new reference after a change that the operator knows of. */
function Restart({ tenantId, onDone }: { tenantId: string; onDone: () => void }) {
  const [isAsking, setAsking] = useState(false)
  const { problem, isBusy, run } = useAction()
  const restart = () =>
    void run(async () => {
      await callTenant(tenantId, 'POST /drift/restart')
      onDone()
    })
  if (!useRights().tenant('POST /drift/restart')) return null
  return (
    <>
      <Problem message={problem} />
      <Button text="Begin a new reference…" disabled={isBusy} onClick={() => setAsking(true)} />
      {isAsking && (
        <Confirm
          title="Begin a new reference?"
          confirm="Begin"
          onConfirm={restart}
          onClose={() => setAsking(false)}
        >
          <p>
            Do this after a change that you know of, such as another camera. Verifications are then compared
            only with those from now on: for two weeks nothing is compared, and no alarm is raised. The charts
            stay.
          </p>
        </Confirm>
      )}
    </>
  )
}

function NothingYet() {
  return (
    <Card title="Compared with the month before">
      <Empty title="No verification in production within five weeks">
        The verifications of a day are compared with those of the month before once there are 400 from more
        than a week ago.
      </Empty>
    </Card>
  )
}

function Drift({ view, restart }: { view: DriftView; restart: ComponentChildren }) {
  const { x, ...days } = byDay(view.days)
  const quality = shares(view, 'quality')
  const scores = shares(view, 'scores')
  return (
    <div class="grid">
      <div>
        <Comparisons view={view} restart={restart} />
        <Outcomes view={view} />
        <Card title="By day" hint="means of the day in UTC; failed verifications in percent">
          <Chart
            title={`Quality, score and failures on ${x.length} days`}
            x={x}
            series={days.means}
            unit="%"
          />
        </Card>
      </div>
      <div>
        <Distributions title="Quality" hint="of the compared pictures" shown={quality} />
        <Distributions title="Scores" hint="of approvals" shown={scores} />
      </div>
    </div>
  )
}

function Comparisons({ view, restart }: { view: DriftView; restart: ComponentChildren }) {
  const { comparisons, windows, month, model, decides, since } = view
  return (
    <Card
      title="Compared with the month before"
      actions={restart}
      hint={`${windows.latest.verifies.toLocaleString()} latest verifications and ${windows.week.verifies.toLocaleString()} of 7 days, with ${month.verifies.toLocaleString()} of the 28 days before; ${model}. An alarm is more than chance, and at least 0.25.`}
    >
      {!decides && <p class="muted">This pack no longer decides, so that it raises no alarm.</p>}
      {since !== null && (
        <p class="muted">
          Verifications are compared from <Time at={since} /> on.
        </p>
      )}
      <Table
        label="Comparisons"
        isFigures
        columns={[
          { name: 'Compared', isText: true },
          { name: 'PSI', isNumber: true },
          { name: 'By chance', isNumber: true },
          { name: 'State' },
        ]}
        rows={comparisons.map(({ window, measure, against, psi, noise, state }) => {
          const [tone, text] = STATES[state]
          const isKnown = state !== 'too_few'
          return {
            key: `${window} ${measure} ${against}`,
            cells: [
              `${MEASURE_TEXT[measure]}, ${WINDOW_TEXT[window]}${against === 'calibration' ? ', with the calibration' : ''}`,
              isKnown ? psi.toFixed(3) : '–',
              isKnown ? noise.toFixed(3) : '–',
              <Badge tone={tone}>{text}</Badge>,
            ],
          }
        })}
      />
    </Card>
  )
}

function Outcomes({ view: { windows, month } }: { view: DriftView }) {
  const sides = [month, windows.week, windows.latest]
  const names = [...new Set(sides.flatMap(({ outcomes }) => Object.keys(outcomes)))].sort()
  return (
    <Card title="Outcomes" hint="in percent of the verifications">
      <Table
        label="Outcomes"
        isFigures
        columns={[
          { name: 'Outcome', isText: true },
          { name: 'Month before', isNumber: true },
          { name: '7 days', isNumber: true },
          { name: 'Latest', isNumber: true },
        ]}
        rows={names.map((name) => ({
          key: name,
          cells: [<code>{name}</code>, ...sides.map((side) => percentOf(side, name))],
        }))}
      />
    </Card>
  )
}

function percentOf({ outcomes, verifies }: DriftSide, name: string): string {
  return verifies === 0 ? '–' : ((100 * (outcomes[name] ?? 0)) / verifies).toFixed(1)
}

function Distributions(props: { title: string; hint: string; shown: Distribution }) {
  const { x, series } = props.shown
  return (
    <Card title={props.title} hint={`${props.hint}; share in percent`}>
      <Chart
        title={`${props.title}: shares of the month before, of 7 days and of the latest verifications`}
        x={x}
        series={series}
        numeric
        xName={props.title === 'Scores' ? 'Score' : props.title}
        unit="%"
      />
    </Card>
  )
}
