/** Counts of the requests within a period, by environment and without users. Counts of several periods can be added up. */

import type { Environment } from '../../../config/config.js'
import type { Observation } from '../../../http/observation/observation.js'
import { STAGES } from '../../../verification/stages.js'
import { addHistogram, type Histogram, increase } from '../histogram.js'
import { callKindOf, countLatency, type Percentiles, percentilesOf } from './latency-counts.js'

/** Scores lie in -1..1 (cosine) or below 1 (Euclidean). A negative score counts as 0. */
export const SCORE_BINS = 50
/** Most names of signing secrets that are counted: callers can name any. */
const MAX_SIGNING_KEYS = 8
/** Errors are answers with a status of 400 or more; `limited` are those with 429. */
const COUNTS = ['requests', 'errors', 'limited', 'approved', 'rejected'] as const
type Count = (typeof COUNTS)[number]

export interface EnvironmentCounts extends Record<Count, number> {
  /** Latencies by kind of call (`CALL_KINDS`), then by stage, in classes; `total` is the whole request. */
  latencies: Record<string, Record<string, Histogram>>
  /** Verdicts by score: bin i counts scores from i / `SCORE_BINS`. The dashboard shows those of production: the sandbox invents its scores. */
  scores: number[]
  codes: Record<string, number>
  reasons: Record<string, number>
}

export interface TrafficCounts {
  production: EnvironmentCounts
  sandbox: EnvironmentCounts
  signingKeys: Record<string, number>
}

export function noTraffic(): TrafficCounts {
  return { production: none(), sandbox: none(), signingKeys: {} }
}

function none(): EnvironmentCounts {
  return {
    requests: 0,
    errors: 0,
    limited: 0,
    approved: 0,
    rejected: 0,
    latencies: {},
    scores: new Array<number>(SCORE_BINS).fill(0),
    codes: {},
    reasons: {},
  }
}

export function countRequest(traffic: TrafficCounts, request: Observation): void {
  const counts = traffic[request.environment]
  counts.requests++
  if (request.status >= 400) counts.errors++
  if (request.code) increase(counts.codes, request.code)
  if (request.status === 429) counts.limited++
  const { verdict, score, reason } = request
  if (verdict) counts[verdict]++
  if (reason) increase(counts.reasons, reason)
  if (typeof score === 'number') {
    const bin = Math.floor(Math.min(Math.max(score, 0), 1) * SCORE_BINS)
    counts.scores[Math.min(bin, SCORE_BINS - 1)]!++
  }
  const named = request.signingKeyId ?? 'unnamed'
  // A refused key holds no signing secret.
  if (request.tenantId !== undefined && /^(?:unnamed|sec_[0-9a-f]{32})$/.test(named))
    countKey(traffic, named, 1)
  const kind = callKindOf(request)
  countLatency(latencyOf(counts, kind, 'total'), request.durationMs)
  for (const stage of STAGES) {
    const durationMs = request.timings[stage]
    if (durationMs !== undefined) countLatency(latencyOf(counts, kind, stage), durationMs)
  }
}

export function addTraffic(sum: TrafficCounts, part: TrafficCounts): TrafficCounts {
  for (const environment of ['production', 'sandbox'] as const) addCounts(sum[environment], part[environment])
  for (const [key, count] of Object.entries(part.signingKeys)) countKey(sum, key, count)
  return sum
}

function addCounts(sum: EnvironmentCounts, part: EnvironmentCounts): void {
  for (const name of COUNTS) sum[name] += part[name]
  for (const [bin, count] of part.scores.entries()) sum.scores[bin]! += count
  addHistogram(sum.codes, part.codes)
  addHistogram(sum.reasons, part.reasons)
  for (const [kind, stages] of Object.entries(part.latencies))
    for (const [stage, counts] of Object.entries(stages)) addHistogram(latencyOf(sum, kind, stage), counts)
}

export function percentilesByKind({ latencies }: EnvironmentCounts) {
  const view: Record<string, Record<string, Percentiles>> = {}
  for (const [kind, stages] of Object.entries(latencies)) {
    const each = Object.entries(stages).map(([stage, counts]) => [stage, percentilesOf(counts)] as const)
    view[kind] = Object.fromEntries(each)
  }
  return view
}

/**
 * The JSON in the database. The version before reads only the counts without environment: it adds to them, writes the row back, and leaves
 * the others unchanged.
 */
interface StoredTraffic extends Record<Environment | Exclude<Count, 'requests'>, number> {
  latencies: Record<string, Histogram>
  scores: number[]
  signingKeys: Record<string, number>
  environments?: Record<Environment, EnvironmentCounts>
}

export function writeTraffic({ production, sandbox, signingKeys }: TrafficCounts): string {
  const both = (name: Count) => production[name] + sandbox[name]
  const stored: StoredTraffic = {
    production: production.requests,
    sandbox: sandbox.requests,
    errors: both('errors'),
    limited: both('limited'),
    approved: both('approved'),
    rejected: both('rejected'),
    latencies: {},
    scores: [],
    signingKeys,
    environments: { production, sandbox },
  }
  return JSON.stringify(stored)
}

export function readTraffic(text: string): TrafficCounts {
  const { environments, signingKeys, ...flat } = JSON.parse(text) as StoredTraffic
  const counts = { ...noTraffic(), ...environments, signingKeys }
  if (environments) return counts
  // An earlier version wrote this row. It separated environments only for the number of requests and for scores.
  for (const environment of ['production', 'sandbox'] as const)
    counts[environment].requests = flat[environment]
  counts.production.scores = flat.scores
  const only = flat.sandbox === 0 ? counts.production : flat.production === 0 ? counts.sandbox : null
  if (only) for (const name of ['errors', 'limited', 'approved', 'rejected'] as const) only[name] = flat[name]
  return counts
}

function countKey({ signingKeys }: TrafficCounts, key: string, count: number): void {
  if (key in signingKeys || Object.keys(signingKeys).length < MAX_SIGNING_KEYS)
    increase(signingKeys, key, count)
}

function latencyOf({ latencies }: EnvironmentCounts, kind: string, stage: string): Histogram {
  latencies[kind] ??= {}
  const stages = latencies[kind]
  stages[stage] ??= {}
  return stages[stage]
}
