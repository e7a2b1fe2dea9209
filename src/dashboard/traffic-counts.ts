/** What is counted of the requests of a stretch of time: without users, and so that stretches can be added up. */
import type { Observation } from '../server/observation.js'
import { STAGES } from '../v1/stages.js'
import type { Percentiles, TrafficSlot } from './contract.js'
import { countLatency, type LatencyCounts, percentilesOf } from './latency-counts.js'

/** Scores lie in -1..1 (cosine) or below 1 (Euclidean); what is under 0 counts as 0. */
export const SCORE_BINS = 50
/** Any caller may name any secret. */
const MOST_SIGNING_KEYS = 8
const COUNTS = ['production', 'sandbox', 'errors', 'limited', 'approved', 'rejected'] as const

export interface TrafficCounts extends Pick<TrafficSlot, (typeof COUNTS)[number] | 'scores' | 'signingKeys'> {
  latencies: Record<string, LatencyCounts>
}

export function noTraffic(): TrafficCounts {
  return {
    production: 0,
    sandbox: 0,
    errors: 0,
    limited: 0,
    approved: 0,
    rejected: 0,
    latencies: {},
    scores: new Array<number>(SCORE_BINS).fill(0),
    signingKeys: {},
  }
}

export function countRequest(counts: TrafficCounts, request: Observation): void {
  counts[request.environment]++
  if (request.status >= 400) counts.errors++
  if (request.status === 429) counts.limited++
  const { verdict, score } = request
  if (verdict === 'approved') counts.approved++
  if (verdict === 'rejected') counts.rejected++
  if (typeof score === 'number' && request.environment === 'production') {
    const bin = Math.floor(Math.min(Math.max(score, 0), 1) * SCORE_BINS)
    counts.scores[Math.min(bin, SCORE_BINS - 1)]!++
  }
  const named = request.signingKeyId ?? 'unnamed'
  if (/^(?:unnamed|sec_[0-9a-f]{32})$/.test(named)) countKey(counts, named, 1)
  countLatency(latencyOf(counts, 'total'), request.durationMs)
  for (const stage of STAGES) {
    const durationMs = request.timings[stage]
    if (durationMs !== undefined) countLatency(latencyOf(counts, stage), durationMs)
  }
}

export function addTraffic(sum: TrafficCounts, part: TrafficCounts): TrafficCounts {
  for (const name of COUNTS) sum[name] += part[name]
  for (const [bin, count] of part.scores.entries()) sum.scores[bin]! += count
  for (const [key, count] of Object.entries(part.signingKeys)) countKey(sum, key, count)
  for (const [stage, counts] of Object.entries(part.latencies)) {
    const into = latencyOf(sum, stage)
    for (const [number, count] of Object.entries(counts)) into[number] = (into[number] ?? 0) + count
  }
  return sum
}

export function percentilesByStage({ latencies }: TrafficCounts): Record<string, Percentiles> {
  return Object.fromEntries(
    Object.entries(latencies).map(([stage, counts]) => [stage, percentilesOf(counts)]),
  )
}

function countKey({ signingKeys }: TrafficCounts, key: string, count: number): void {
  if (key in signingKeys || Object.keys(signingKeys).length < MOST_SIGNING_KEYS)
    signingKeys[key] = (signingKeys[key] ?? 0) + count
}

function latencyOf({ latencies }: TrafficCounts, stage: string): LatencyCounts {
  latencies[stage] ??= {}
  return latencies[stage]
}
