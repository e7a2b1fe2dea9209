/** Every reason and every alert has a section that says what to do. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { NOT_READY_REASONS } from '../../src/http/readiness.js'
import { packageFile } from '../../src/lib/package-root.js'

const read = (name: string) => readFileSync(packageFile('docs', 'operations', name), 'utf8')
const text = read('runbooks.md')
const sections = [...text.matchAll(/^## (\w+)$/gm)].map(([, name]) => name!)
const rules: Array<{
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { runbook_url?: string }
}> = parse(read('alerts.yml')).groups[0].rules
const NOT_READY = new Set<string>(NOT_READY_REASONS)
const ANCHOR_OF_REASON = '{{ $labels.reason }}'
const rule = (name: string) => rules.find(({ alert }) => alert === name)!

describe('docs/operations/runbooks.md', () => {
  it('has a section for every reason of /readyz', () => {
    expect(sections).toEqual(expect.arrayContaining([...NOT_READY_REASONS]))
  })

  it('has a section for each alert, named by its runbook_url', () => {
    for (const { alert, annotations } of rules) {
      const [page, anchor] = annotations.runbook_url?.split('#') ?? []
      expect(page, alert).toBe('{{ $externalLabels.countersign_docs }}/operations/runbooks')
      if (anchor !== ANCHOR_OF_REASON) expect(sections, alert).toContain(anchor)
    }
  })

  it('has no section to which neither an alert nor a reason of /readyz leads', () => {
    const led = rules.map(({ annotations }) => annotations.runbook_url?.split('#')[1])
    expect(sections.filter((name) => !led.includes(name) && !NOT_READY.has(name))).toEqual([])
  })

  it('names each alert with its severity, in the section to which it leads', () => {
    const named = text.split(/^## /m).flatMap((section) => {
      const [title] = section.split('\n')
      return [...section.matchAll(/\*\*(Countersign\w+)\*\* \((\w+)\)/g)].map(
        ([, name, severity]) => `${name} ${severity} ${title}`,
      )
    })
    const expected = rules.map(({ alert, labels, annotations }) => {
      const anchor = annotations.runbook_url!.split('#')[1]
      return `${alert} ${labels.severity} ${anchor === ANCHOR_OF_REASON ? '# Runbooks' : anchor}`
    })
    expect(named.sort()).toEqual(expected.sort())
  })
})

describe('docs/operations/alerts.yml', () => {
  it('has critical alerts for a service without a worker, a damaged database and a service that is not ready', () => {
    for (const name of ['CountersignNoWorkers', 'CountersignDatabaseCorrupt', 'CountersignNotReady'])
      expect(rule(name).labels.severity).toBe('critical')
  })

  it('counts networks that do not load, and an engine that hangs, as a lost engine', () => {
    const kinds = new RegExp(`^(?:${/kind=~"([^"]+)"/.exec(rule('CountersignEngineLost').expr)![1]})$`)
    for (const kind of [
      'worker_load_failed',
      'engine_hung',
      'engine_process_lost',
      'worker_lost',
      'task_stuck',
    ])
      expect(kind).toMatch(kinds)
    expect('task_failed').not.toMatch(kinds)
  })
})
