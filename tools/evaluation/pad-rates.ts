/**
 * Error rates of presentation attack detection by ISO/IEC 30107-3: by species of attack, the worst of which counts,
 * and by condition for bona fide presentations. Presentations without a response are reported separately and are in
 * no APCER or BPCER.
 */
import { exactInterval, exactUpperBound, type Interval } from './intervals.js'
import type { Judgement } from './judge-presentations.js'
import type { Presentation } from './pad-data.js'

export interface SpeciesRates {
  species: string
  presentations: number
  subjects: number
  non_response: number
  /**
   * Attack presentation classification error rate: share of attacks with a response that were accepted as bona fide;
   * null without any.
   */
  apcer: number | null
  accepted: number
  /** Exact one-sided interval. */
  apcer_ub95: number
  /**
   * Impostor attack presentation accept rate: share accepted as bona fide and as the person of the reference; null
   * without references.
   */
  iapar: { presentations: number; accepted: number; rate: number; ub95: number } | null
}

export interface BonaFideRates {
  /** The condition or the device; null for all. */
  label: string | null
  presentations: number
  subjects: number
  non_response: number
  refused: number
  /** Bona fide presentation classification error rate among presentations with a response; null without any. */
  bpcer: number | null
  /** Exact two-sided interval. */
  bpcer_ci95: Interval
}

export interface PadRates {
  /** Species by descending rate; those without a rate come last. */
  species: SpeciesRates[]
  bona_fide: BonaFideRates
  by_condition: BonaFideRates[]
  by_device: BonaFideRates[]
  /** Number of missing responses by reason. */
  non_responses: Record<string, number>
}

export interface JudgedPresentation extends Presentation, Judgement {}

export function padRates(judged: readonly JudgedPresentation[]): PadRates {
  const attacks = judged.filter(({ species }) => species !== null)
  const living = judged.filter(({ species }) => species === null)
  const bySpecies = groups(attacks, ({ species }) => species!)
  const breakdown = (label: 'condition' | 'device') =>
    groups(living, (one) => one[label]).map(([name, members]) => bonaFideRates(name, members))
  const reasons = groups(
    judged.filter(({ response }) => response === 'none'),
    ({ reason }) => reason!,
  )
  return {
    species: bySpecies.map(([species, members]) => speciesRates(species, members)).sort(worstFirst),
    bona_fide: bonaFideRates(null, living),
    by_condition: breakdown('condition'),
    by_device: breakdown('device'),
    non_responses: Object.fromEntries(reasons.map(([reason, members]) => [reason, members.length])),
  }
}

function speciesRates(species: string, attacks: readonly JudgedPresentation[]): SpeciesRates {
  const judged = attacks.filter(({ response }) => response !== 'none')
  const accepted = judged.filter(({ response }) => response === 'bona_fide').length
  return {
    species,
    ...sizes(attacks, judged),
    accepted,
    apcer: share(accepted, judged.length),
    apcer_ub95: exactUpperBound(accepted, judged.length, 0.05),
    iapar: acceptRate(attacks.filter(({ reference }) => reference !== null)),
  }
}

/** Whether the whole system accepts the presentation: it does not without a response. */
function acceptRate(attacks: readonly JudgedPresentation[]): SpeciesRates['iapar'] {
  const presentations = attacks.length
  if (presentations === 0) return null
  const accepted = attacks.filter(({ response, matches }) => response === 'bona_fide' && matches).length
  return {
    presentations,
    accepted,
    rate: accepted / presentations,
    ub95: exactUpperBound(accepted, presentations, 0.05),
  }
}

function bonaFideRates(label: string | null, living: readonly JudgedPresentation[]): BonaFideRates {
  const judged = living.filter(({ response }) => response !== 'none')
  const refused = judged.filter(({ response }) => response === 'attack').length
  return {
    label,
    ...sizes(living, judged),
    refused,
    bpcer: share(refused, judged.length),
    bpcer_ci95: exactInterval(refused, judged.length),
  }
}

function sizes(all: readonly JudgedPresentation[], judged: readonly JudgedPresentation[]) {
  return {
    presentations: all.length,
    subjects: new Set(all.map(({ subject }) => subject)).size,
    non_response: all.length - judged.length,
  }
}

function worstFirst(a: SpeciesRates, b: SpeciesRates): number {
  return (b.apcer ?? -1) - (a.apcer ?? -1) || b.apcer_ub95 - a.apcer_ub95
}

function share(errors: number, trials: number): number | null {
  return trials === 0 ? null : errors / trials
}

function groups<T>(all: readonly T[], nameOf: (one: T) => string): Array<[string, T[]]> {
  const found = new Map<string, T[]>()
  for (const one of all) {
    const name = nameOf(one)
    found.set(name, [...(found.get(name) ?? []), one])
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1))
}
