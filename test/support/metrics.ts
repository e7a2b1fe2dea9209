/** Reads Prometheus's text format. */
import type { TestService } from './service.js'

export async function scrape({ service }: TestService): Promise<string> {
  return (await fetch(`${service.adminUrl}/metrics`)).text()
}

/** What a metric says of itself, by name. */
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
  const samples = text.matchAll(new RegExp(`^${metric}(?:_bucket|_sum|_count)?(?:\\{(.*)\\})? \\S+$`, 'gm'))
  const names = [...samples].flatMap(([, labels = '']) =>
    [...labels.matchAll(/(\w+)="/g)].map(([, name]) => name!),
  )
  return [...new Set(names)].filter((name) => name !== 'le').sort()
}

/** The value of one series, written as the service writes it. */
export function sampleOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.split(' ').at(-1))
}
