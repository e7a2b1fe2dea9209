/** The drift of a tenant: its latest verifies next to those of the month before. */
import { useState } from 'preact/hooks'
import type { DriftSide, DriftView } from '../../../features/insight/drift/drift-view.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { Chart } from '../base/chart.js'
import { useData } from '../base/data.js'
import { Button, Segments } from '../base/form.js'
import { Badge, Card, Empty, Loaded, type Tone, useActions } from '../base/parts.js'
import { useRights } from '../base/session.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
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
  return (
    <Loaded data={drift}>
      {({ models }) => {
        const shown = models.find(({ model }) => model === chosen) ?? models[0]
        if (!shown) return <NothingYet />
        return (
          <>
            {models.length > 1 && (
              <div class="toolbar">
                <Segments
                  label="Model pack"
                  options={models.map(({ model }) => [model, model] as const)}
                  value={shown.model}
                  onChange={choose}
                />
              </div>
            )}
            <Drift view={shown} tenantId={tenantId} onRestarted={drift.reload} />
          </>
        )
      }}
    </Loaded>
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

interface DriftProps {
  view: DriftView
  tenantId: string
  onRestarted: () => void
}

function Drift(props: DriftProps) {
  const { view } = props
  const { x, ...days } = byDay(view.days)
  const quality = shares(view, 'quality')
  const scores = shares(view, 'scores')
  return (
    <div class="grid">
      <div>
        <Comparisons {...props} />
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

function Comparisons({ view, tenantId, onRestarted }: DriftProps) {
  const { comparisons, windows, month, model, decides, since } = view
  const mayRestart = useRights().tenant('POST /drift/restart')
  const { isBusy, ask, feedback } = useActions(onRestarted)
  const restart = () =>
    ask({
      title: 'Begin a new reference?',
      confirm: 'Begin',
      children:
        'Do this after a change that you know of, such as another camera. Verifications are then compared only with those from now on: for two weeks nothing is compared, and no alarm is raised. The charts stay.',
      act: () => callTenant(tenantId, 'POST /drift/restart'),
    })
  return (
    <Card
      title="Compared with the month before"
      actions={mayRestart && <Button text="Begin a new reference…" disabled={isBusy} onClick={restart} />}
      hint={`${windows.latest.verifies.toLocaleString()} latest verifications and ${windows.week.verifies.toLocaleString()} of 7 days, with ${month.verifies.toLocaleString()} of the 28 days before; ${model}. An alarm is more than chance, and at least 0.25.`}
    >
      {feedback}
      {!decides && <p class="muted">This pack no longer decides, so that it raises no alarm.</p>}
      {since !== null && (
        <p class="muted">
          Verifications are compared from <Time at={since} /> on.
        </p>
      )}
      <Table
        label="Comparisons"
        kind="figures"
        rows={comparisons}
        columns={[
          {
            name: 'Compared',
            isText: true,
            cell: ({ window, measure, against }) =>
              `${MEASURE_TEXT[measure]}, ${WINDOW_TEXT[window]}${against === 'calibration' ? ', with the calibration' : ''}`,
          },
          { name: 'PSI', isNumber: true, cell: ({ psi, state }) => known(psi, state) },
          { name: 'By chance', isNumber: true, cell: ({ noise, state }) => known(noise, state) },
          {
            name: 'State',
            cell: ({ state }) => <Badge tone={STATES[state][0]}>{STATES[state][1]}</Badge>,
          },
        ]}
      />
    </Card>
  )
}

function known(figure: number, state: keyof typeof STATES): string {
  return state === 'too_few' ? '–' : figure.toFixed(3)
}

function Outcomes({ view: { windows, month } }: { view: DriftView }) {
  const sides = [month, windows.week, windows.latest]
  const names = [...new Set(sides.flatMap(({ outcomes }) => Object.keys(outcomes)))].sort()
  return (
    <Card title="Outcomes" hint="in percent of the verifications">
      <Table
        label="Outcomes"
        kind="figures"
        rows={names}
        columns={[
          { name: 'Outcome', isText: true, cell: (name) => <code>{name}</code> },
          { name: 'Month before', isNumber: true, cell: (name) => percentOf(month, name) },
          { name: '7 days', isNumber: true, cell: (name) => percentOf(windows.week, name) },
          { name: 'Latest', isNumber: true, cell: (name) => percentOf(windows.latest, name) },
        ]}
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
        xName={props.title === 'Scores' ? 'Score' : props.title}
        unit="%"
      />
    </Card>
  )
}
