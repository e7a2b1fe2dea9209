/** Reads Prometheus's text format. */
import { operationsOf } from './operations.js'
import type { TestService } from './service.js'

export async function scrape({ service }: TestService): Promise<string> {
  return (await fetch(`${service.adminUrl}/metrics`)).text()
}

/** Begins a change of the model pack, whose metrics are there only while it is under way. The new pack need not be loaded. */
export async function beginModelChange({ service, clock }: TestService): Promise<void> {
  const { store } = service.core
  const operations = operationsOf(service)
  const migration = { from: 'baseline@1.0.0', to: 'other@1.0.0', startedAt: clock.now(), strictFmr: null }
  await store.transaction('installation', (tx) =>
    tx.putModelMigration({ ...migration, atCoverage: null, atTime: null, finishingAt: null }),
  )
  await operations.modelSweep.advance(() => true)
}

/** Ends the change without a sweep. */
export async function endModelChange({ service }: TestService): Promise<void> {
  const { store } = service.core
  const operations = operationsOf(service)
  await store.transaction('installation', (tx) => tx.putModelMigration(null))
  await operations.modelSweep.advance(() => true)
}

/** Type and help text of each metric, by name. */
export function metricTypes(text: string): Record<string, { type: string; help: string }> {
  const types = Object.fromEntries(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!]),
  )
  return Object.fromEntries(
    [...text.matchAll(/^# HELP (\S+) (.+)$/gm)].map(([, name, help]) => [
      name!,
      { type: types[name!]!, help: help! },
    ]),
  )
}

/** Names of the labels that the samples of a metric carry, sorted; `le` belongs to every histogram. */
export function labelsOf(text: string, metric: string): string[] {
  const names = [...seriesLabels(text)]
    .filter(([series]) => series.replace(/_(?:bucket|sum|count)$/, '') === metric || series === metric)
    .flatMap(([, labels]) => [...labels])
  return [...new Set(names)].filter((name) => name !== 'le').sort()
}

/** The value of one series, written as the service writes it. */
export function sampleOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.split(' ').at(-1))
}

/** Labels by the name of the series, such as `countersign_stage_duration_seconds_bucket`. */
export function seriesLabels(text: string): Map<string, Set<string>> {
  const series = new Map<string, Set<string>>()
  for (const [, name, labels = ''] of text.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const known = series.get(name!) ?? new Set()
    for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label!)
    series.set(name!, known)
  }
  return series
}
