/** Every reason and every alert that names a runbook has a section that says what to do. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { NOT_READY_REASONS } from '../../src/http/readiness.js'
import { packageFile } from '../../src/lib/package-root.js'

const read = (name: string) => readFileSync(packageFile('docs', 'operations', name), 'utf8')
const sections = [...read('runbooks.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name!)
const rules: Array<{
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { runbook_url?: string }
}> = parse(read('alerts.yml')).groups[0].rules
const rule = (name: string) => rules.find(({ alert }) => alert === name)!

describe('docs/operations/runbooks.md', () => {
  it('has a section for every reason of /readyz', () => {
    expect(sections).toEqual(expect.arrayContaining([...NOT_READY_REASONS]))
  })

  it('has the section to which each alert points', () => {
    const named = rules.flatMap(({ annotations }) => annotations.runbook_url ?? [])
    expect(named.length).toBeGreaterThan(4)
    for (const url of named) {
      const [page, anchor] = url.split('#')
      expect(page).toBe('docs/operations/runbooks.md')
      if (anchor !== '{{ $labels.reason }}') expect(sections).toContain(anchor)
    }
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
