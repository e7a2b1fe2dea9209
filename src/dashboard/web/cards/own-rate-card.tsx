/** The card of a pack's false match rate between the installation's own users. */
import type { LoadedPackView } from '../../contract.js'
import { Badge, Card, Empty, Facts } from '../base/parts.js'
import { Table } from '../base/table.js'

export function OwnRateCard({ pack: { model, own_rate: rate, fmr_in_force } }: { pack: LoadedPackView }) {
  const title = `False match rate on your own users: ${model}`
  const [name] = model.split('@')
  if (!rate)
    return (
      <Card title={title}>
        <Empty title="Not measured on your own users">
          <code>countersign models calibrate {name} --from-users</code> compares users with each other, where
          COUNTERSIGN_COMPARE_USERS allows it. Restart the service afterwards.
        </Empty>
      </Card>
    )
  return (
    <Card
      title={title}
      hint="Thresholds, and the 95 % interval of the rate at each. An extrapolated rate follows from the tail of the scores."
    >
      <Facts
        rows={[
          ['Measured on', `${rate.people.toLocaleString()} users, ${rate.pairs.toLocaleString()} pairs`],
          ['Date', rate.date],
          ['Likely duplicates', rate.likely_duplicates.toLocaleString()],
        ]}
      />
      <Table
        label={`Rates of ${model}`}
        rows={rate.points}
        columns={[
          {
            name: 'False match rate',
            cell: ({ fmr }) => (
              <span>
                {fmr} {fmr === fmr_in_force && <Badge tone="good">in use</Badge>}
              </span>
            ),
          },
          { name: 'Threshold', isNumber: true, cell: ({ threshold }) => threshold.toFixed(4) },
          {
            name: '95 % interval',
            isNumber: true,
            cell: ({ interval: [lower, upper] }) => `${lower.toExponential(1)} to ${upper.toExponential(1)}`,
          },
          {
            name: 'Basis',
            cell: ({ basis }) => <Badge tone={basis === 'measured' ? 'plain' : 'warn'}>{basis}</Badge>,
          },
        ]}
      />
    </Card>
  )
}
