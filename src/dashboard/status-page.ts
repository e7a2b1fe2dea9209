/** The dashboard's status page: what runs, and whether it is well. Server-rendered, without scripts. */
import type { EngineHealth } from '../biometrics/types.js'
import type { TenantRecord } from '../storage/records.js'
import type { StoreReader } from '../storage/store.js'

export interface StatusFacts {
  version: string
  startedAt: string
  productionUrl: string
  sandboxUrl: string
  engine: EngineHealth
  tenants: TenantRecord[]
  counts: Awaited<ReturnType<StoreReader['counts']>>
}

/** Nothing but its own style may load. */
export const STATUS_PAGE_CSP =
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"

export function statusPage(facts: StatusFacts): string {
  const { engine, counts } = facts
  const rows: Array<[string, string]> = [
    ['Version', facts.version],
    ['Running since', facts.startedAt],
    ['Production', facts.productionUrl],
    ['Sandbox', facts.sandboxUrl],
    ['Model pack', engine.model],
    ['Execution provider', engine.provider.active],
    ...engine.provider.fallbacks.map(({ provider, reason }): [string, string] => [
      `${provider} not used`,
      reason,
    ]),
    ['Workers', `${engine.workers.ready} of ${engine.workers.configured} ready`],
    [
      'Queue',
      `${engine.queue.waiting} waiting, ${engine.queue.running} running, limit ${engine.queue.limit}`,
    ],
    ['References', `${counts.references.production} production, ${counts.references.sandbox} sandbox`],
    ['Audit entries', String(counts.auditEntries)],
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Countersign: ${engine.status}</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
  h1 span { font-size: 1rem; font-weight: 600; padding: .15rem .6rem; border-radius: 1rem; color: #fff; vertical-align: middle; }
  .ok { background: #1a7f37; } .degraded { background: #b35900; }
  table { border-collapse: collapse; width: 100%; margin-bottom: 2rem; }
  th, td { text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); vertical-align: top; }
  td { overflow-wrap: anywhere; }
  th[scope=row] { width: 9rem; font-weight: 500; }
  .wide { overflow-x: auto; }
</style>
</head>
<body>
<h1>Countersign <span class="${engine.status}">${engine.status}</span></h1>
<table>
${rows.map(([name, value]) => `<tr><th scope="row">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`).join('\n')}
</table>
<h2>Tenants</h2>
<div class="wide"><table>
<thead><tr><th>Name</th><th>Id</th><th>Rate limit</th><th>Production key</th></tr></thead>
<tbody>
${facts.tenants.map(tenantRow).join('\n')}
</tbody>
</table></div>
<p><a href="/metrics">Metrics</a> · <a href="/livez">Liveness</a> · <a href="/readyz">Readiness</a></p>
</body>
</html>
`
}

function tenantRow(tenant: TenantRecord): string {
  const cells = [tenant.name, tenant.id, `${tenant.ratePerSecond}/s`, productionKeyState(tenant)]
  return `<tr>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`
}

export function productionKeyState({ productionIssuedAt, productionRevealedAt }: TenantRecord): string {
  if (productionIssuedAt === null) return 'not issued'
  return productionRevealedAt === null ? 'issued, not revealed yet' : 'revealed'
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}
