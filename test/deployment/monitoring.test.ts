/** The Grafana dashboard and the alert rules use metrics that the service has. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ERRORS } from '../../src/contract/error-codes.js'
import { DASHBOARD_ERRORS } from '../../src/dashboard/dashboard-error.js'
import { UNKNOWN_HOST } from '../../src/http/admin/host-guard.js'
import { packageFile } from '../../src/lib/package-root.js'
import { base64, face } from '../support/faces.js'
import { beginModelChange, scrape, seriesLabels } from '../support/metrics.js'
import { parseQuery } from '../support/promql.js'
import { serviceOfFile } from '../support/service.js'

const CODES = [...Object.keys(ERRORS), ...Object.keys(DASHBOARD_ERRORS), UNKNOWN_HOST.code]

interface Panel {
  id: number
  gridPos: { x: number; y: number; w: number; h: number }
  type: string
  title: string
  datasource?: { uid: string }
  targets?: Array<{ expr: string; legendFormat: string; datasource: { uid: string } }>
}

const file = (name: string) => packageFile('docs', 'operations', name)
const dashboard = JSON.parse(readFileSync(file('grafana.json'), 'utf8'))
const panels: Panel[] = dashboard.panels
const rules: Array<{ alert: string; expr: string }> = parse(readFileSync(file('alerts.yml'), 'utf8'))
  .groups[0].rules

/** Replaces the variables of Grafana before Prometheus sees the query. */
const withVariables = (expr: string) =>
  expr.replaceAll('$__rate_interval', '5m').replaceAll('$environment', '.*').replaceAll('$instance', '.*')

const queries = [
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ what: `panel "${title}"`, expr: withVariables(expr) })),
  ),
  ...rules.map(({ alert, expr }) => ({ what: `alert ${alert}`, expr })),
]
/** Labels that Prometheus adds to every series of a target, and `le` of histograms. */
const ADDED = ['instance', 'job', 'le']

const running = await serviceOfFile()
let labels: Map<string, Set<string>>
beforeAll(async () => {
  const tenant = await running.tenant()
  const image = base64(await face('ada'))
  await tenant.sandbox.verify({ user_id: 'u+match', image, action: 'x' })
  await (await running.production(tenant)).enroll({ user_id: 'ada', image })
  await beginModelChange(running)
  await fetch(`${running.service.adminUrl}/api/session`)
  labels = seriesLabels(await scrape(running))
})

describe('every query of dashboard and alerts', () => {
  it('exist', () => {
    expect(queries.length).toBeGreaterThan(30)
  })

  for (const { what, expr } of queries)
    it(`uses known metrics and labels, ${what}: ${expr}`, () => {
      const { errors, selectors, groupings } = parseQuery(expr)
      expect(errors).toEqual([])
      expect(selectors).not.toEqual([])
      for (const { metric, matchers } of selectors) {
        if (metric === 'up') continue
        expect(labels.keys()).toContain(metric)
        const known = [...labels.get(metric)!, ...ADDED]
        for (const { label, value } of matchers) {
          expect(known).toContain(label)
          if (label === 'code')
            expect(CODES.filter((code) => new RegExp(`^(?:${value})$`).test(code))).not.toEqual([])
        }
      }
      const known = selectors.flatMap(({ metric }) => [...(labels.get(metric) ?? [])])
      for (const label of groupings) expect([...known, ...ADDED]).toContain(label)
    })
})

it('every metric of the service is used by the dashboard or an alert', () => {
  const whole = (name: string) => name.replace(/_(bucket|sum|count)$/, '')
  const asked = queries.flatMap(({ expr }) => parseQuery(expr).selectors).map(({ metric }) => whole(metric))
  const own = [...labels.keys()].filter((name) => name.startsWith('countersign_')).map(whole)
  expect(own.filter((name) => !asked.includes(name))).toEqual([])
})

describe('docs/operations/grafana.json', () => {
  it('has panels without overlap, each with an id of its own', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
  })

  it('has a variable for the Prometheus server, which every panel uses', () => {
    const [datasource] = dashboard.templating.list
    expect(datasource).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' })
    const asked = panels.flatMap(({ datasource: own, targets = [] }) => [
      ...(own ? [own.uid] : []),
      ...targets.map((target) => target.datasource.uid),
    ])
    expect(new Set(asked)).toEqual(new Set([`\${${datasource.name}}`]))
  })

  it('has a row for each of the questions', () => {
    expect(panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
      'Traffic',
      'Verdicts',
      'Latency per stage',
      'Engine',
      'Database',
      'Refusals',
      'Tenants',
      'Webhooks',
      'Upkeep',
    ])
  })

  it('has legends with labels that the query keeps', () => {
    for (const { expr, legendFormat } of panels.flatMap(({ targets = [] }) => targets)) {
      const { selectors, groupings } = parseQuery(withVariables(expr))
      const kept =
        groupings.length > 0 ? groupings : selectors.flatMap(({ metric }) => [...(labels.get(metric) ?? [])])
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        expect([...kept, 'instance']).toContain(label)
    }
  })
})

const promtool = spawnSync('promtool', ['--version']).error === undefined
it.skipIf(!promtool)('promtool takes the alert rules (skipped where it is not installed)', () => {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', file('alerts.yml')], {
    encoding: 'utf8',
  })
  expect({ status, said: stdout + stderr }).toMatchObject({
    status: 0,
    said: expect.stringContaining('SUCCESS'),
  })
})
