/** For the operator: engine, workers, model pack, database and process. */
import { Badge, Card, Facts, Loading, Problem, Time } from './parts.js'
import { useData } from './use-data.js'

interface SystemView {
  version: string
  node: string
  started_at: string
  urls: Record<string, string>
  memory_bytes: number
  counts: { tenants: number; references: Record<string, number>; auditEntries: number }
  pack: { id: string; roles: string[] }
  engine: {
    status: string
    workers: { ready: number; configured: number }
    queue: { waiting: number; running: number; limit: number }
    provider: { active: string; fallbacks: Array<{ provider: string; reason: string }> }
  }
}

export function SystemPage() {
  const { value, error } = useData<SystemView>('/system', 5000)
  if (!value) return error ? <Problem message={error} /> : <Loading />
  const { engine, pack, counts } = value
  return (
    <div class="grid">
      <Card title="Engine">
        <Facts
          rows={[
            ['Health', <Badge tone={engine.status === 'ok' ? 'good' : 'bad'}>{engine.status}</Badge>],
            ['Workers', `${engine.workers.ready} of ${engine.workers.configured} ready`],
            [
              'Queue',
              `${engine.queue.waiting} waiting, ${engine.queue.running} running, limit ${engine.queue.limit}`,
            ],
            ['Provider', engine.provider.active],
            ...engine.provider.fallbacks.map(({ provider, reason }): [string, string] => [
              `${provider} not used`,
              reason,
            ]),
          ]}
        />
      </Card>
      <Card title="Model pack">
        <Facts
          rows={[
            ['Pack', pack.id],
            ['Roles', pack.roles.join(', ')],
          ]}
        />
      </Card>
      <Card title="Database">
        <Facts
          rows={[
            ['Tenants', String(counts.tenants)],
            ['References, production', String(counts.references.production)],
            ['References, sandbox', String(counts.references.sandbox)],
            ['Audit entries', String(counts.auditEntries)],
          ]}
        />
      </Card>
      <Card title="Process">
        <Facts
          rows={[
            ['Version', value.version],
            ['Node', value.node],
            ['Running since', <Time at={value.started_at} />],
            ['Memory', `${Math.round(value.memory_bytes / 1_048_576)} MiB`],
            ['Production', <code>{value.urls.production}</code>],
            ['Sandbox', <code>{value.urls.sandbox}</code>],
          ]}
        />
        <p>
          <a href="/metrics">Metrics</a> · <a href="/readyz">Readiness</a>
        </p>
      </Card>
    </div>
  )
}
