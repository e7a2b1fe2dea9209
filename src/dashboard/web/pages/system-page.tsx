/** The operator's page with the state of engine, models, database and process. */

import type { SystemView } from '../../contract.js'
import { operatorAddress } from '../base/api.js'
import { useData } from '../base/data.js'
import { Badge, Card, type Fact, Facts, Problem, Tile, Waiting } from '../base/parts.js'
import { Table } from '../base/table.js'
import { Time } from '../base/times.js'
import { VerdictKeysCard } from '../cards/verdict-keys-card.js'

const MEBIBYTE = 1_048_576

export function SystemPage() {
  const system = useData(operatorAddress('GET /system'), 5000)
  const { value, error } = system
  if (!value) return <Waiting data={system} />
  const { engine, database, pack, upkeep } = value
  const { workers, queue } = engine
  return (
    <>
      <Problem message={error} />
      <div class="tiles">
        <Health name="Engine" status={engine.status} />
        <Health name="Database" status={database.status} />
        <Tile name="Workers" value={`${workers.ready} of ${workers.configured}`} detail="ready" />
        <Tile name="Queue" value={`${queue.waiting} of ${queue.limit}`} detail={`${queue.running} running`} />
      </div>
      <div class="grid">
        <Card title="Process">
          <Facts
            rows={[
              ['Version', `${value.version} (${value.commit})`],
              ['Node', value.node],
              ['Running since', <Time at={value.started_at} />],
              ['Uptime', duration(Date.parse(value.now) - Date.parse(value.started_at))],
              ['Memory', mebibytes(value.memory_bytes)],
              ['Provider', engine.provider.active],
              ...engine.provider.fallbacks.map(
                ({ provider, reason }): Fact => [`${provider} not used`, reason],
              ),
              ['Production', <code>{value.urls.production}</code>],
              ['Sandbox', <code>{value.urls.sandbox}</code>],
            ]}
          />
          <p>
            {value.has_metrics && (
              <>
                <a href="/metrics">Metrics</a> ·{' '}
              </>
            )}
            <a href="/readyz">Readiness</a>
          </p>
        </Card>
        <Card title="Database">
          <Facts
            rows={[
              ['Size', mebibytes(database.bytes)],
              database.log_bytes !== null && ['Write-ahead log', mebibytes(database.log_bytes)],
              ['Tenants', database.counts.tenants.toLocaleString()],
              ['References, production', database.counts.references.production.toLocaleString()],
              ['References, sandbox', database.counts.references.sandbox.toLocaleString()],
              ['Audit entries', database.counts.auditEntries.toLocaleString()],
            ]}
          />
        </Card>
        <Card title="Upkeep" hint="Disk space, backups and certificates.">
          <Facts
            rows={[
              [
                'Free on the disk',
                upkeep.disk_free_bytes === null ? 'not known' : gibibytes(upkeep.disk_free_bytes),
              ],
              [
                'Last backup',
                upkeep.last_backup === undefined ? (
                  "by PostgreSQL's own tools"
                ) : upkeep.last_backup === null ? (
                  <Badge tone="warn">never</Badge>
                ) : (
                  <Time at={upkeep.last_backup} />
                ),
              ],
              ...upkeep.certificates.map(
                ({ listeners, expires_at }): Fact => [
                  `Certificate, ${listeners}`,
                  expires_at === null ? 'none' : <Expiry at={expires_at} now={value.now} />,
                ],
              ),
            ]}
          />
        </Card>
        <VerdictKeysCard />
        {value.nodes.length > 0 && <Nodes {...value} />}
        <Card title="Model pack" hint={pack.description}>
          <Facts
            rows={[
              ...value.packs.map(
                ({ id, active, problem }): Fact => [
                  id,
                  problem ? (
                    <>
                      <Badge tone="bad">broken</Badge> {problem}
                    </>
                  ) : (
                    <Badge tone={active ? 'good' : 'plain'}>{active ? 'in use' : 'installed'}</Badge>
                  ),
                ],
              ),
              [
                'Grade',
                <>
                  <Badge tone={pack.grade === 'production' ? 'good' : 'warn'}>{pack.grade}</Badge>
                  {pack.reasons.length > 0 && (
                    <ul class="plain">
                      {pack.reasons.map((reason) => (
                        <li key={reason}>{reason}</li>
                      ))}
                    </ul>
                  )}
                </>,
              ],
            ]}
          />
          <Table
            label="Networks of the pack in use"
            kind="figures"
            rows={pack.networks}
            columns={[
              { name: 'Network', cell: ({ file }) => <code>{file}</code> },
              { name: 'License', isText: true, cell: ({ licence }) => licence },
            ]}
          />
        </Card>
        <Card
          title="Calibration"
          hint="The score from which two faces count as the same person, for each false match rate."
        >
          <Table
            label="Calibration"
            kind="figures"
            rows={pack.calibration}
            columns={[
              {
                name: 'False match rate',
                cell: ({ fmr }) => (
                  <span>
                    {fmr} {fmr === pack.fmr_in_force && <Badge tone="good">in use</Badge>}
                  </span>
                ),
              },
              { name: 'Threshold', isNumber: true, cell: ({ threshold }) => threshold.toFixed(4) },
              { name: 'Source', cell: ({ measured }) => (measured ? 'measured' : 'extrapolated') },
            ]}
          />
        </Card>
      </div>
    </>
  )
}

function Nodes({ nodes, differing_settings }: Pick<SystemView, 'nodes' | 'differing_settings'>) {
  return (
    <Card title="Nodes" hint="All nodes that share this database.">
      {differing_settings.length > 0 && (
        <p>
          <Badge tone="warn">settings differ</Badge> {differing_settings.join(', ')}
        </p>
      )}
      <Table
        label="Nodes"
        kind="figures"
        rows={nodes}
        columns={[
          { name: 'Machine / process', isText: true, cell: ({ name }) => <code>{name}</code> },
          { name: 'Version', cell: ({ version }) => version },
          {
            name: 'Since',
            isText: true,
            cell: ({ is_serving, since }) => (is_serving ? <Time at={since} /> : 'starting'),
          },
          { name: 'Lease', isNumber: true, cell: ({ lease_ms }) => `${(lease_ms / 1000).toFixed(1)} s` },
          {
            name: 'Ready',
            isText: true,
            cell: ({ not_ready }) =>
              not_ready.length === 0 ? (
                <Badge tone="good">ready</Badge>
              ) : (
                <Badge tone="bad">{not_ready.join(', ')}</Badge>
              ),
          },
        ]}
      />
    </Card>
  )
}

function Health({ name, status }: { name: string; status: 'ok' | 'degraded' }) {
  return (
    <Tile
      name={name}
      value={<Badge tone={status === 'ok' ? 'good' : 'bad'}>{status}</Badge>}
      detail={status === 'ok' ? 'no problems' : 'needs attention'}
    />
  )
}

const DAY_MS = 86_400_000
/** Days before expiry at which a certificate is marked; the alert on certificates has the same limit. */
const SOON_DAYS = 14

function Expiry({ at, now }: { at: string; now: string }) {
  const days = Math.floor((Date.parse(at) - Date.parse(now)) / DAY_MS)
  return (
    <>
      expires <Time at={at} day />{' '}
      {days < SOON_DAYS && <Badge tone="bad">{days < 0 ? 'expired' : `in ${days} days`}</Badge>}
    </>
  )
}

function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24]
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`
}

function gibibytes(bytes: number): string {
  return `${(bytes / MEBIBYTE / 1024).toFixed(1)} GiB`
}

function mebibytes(bytes: number): string {
  return `${(bytes / MEBIBYTE).toFixed(bytes < 10 * MEBIBYTE ? 1 : 0)} MiB`
}
