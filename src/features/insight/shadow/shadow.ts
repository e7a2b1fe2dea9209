/**
 * Shows verifies of production to a candidate, after their answers are out, and counts what it would have decided. It has no part in
 * a verdict: it keeps no user, writes nothing about one, and computes only on workers that have nothing else to do.
 */
import type { Logger } from 'pino'
import { QUALITY_COMPONENTS } from '../../../../models/pack/quality-components.js'
import type { OtherBounds } from '../../../biometrics/types.js'
import type { Config } from '../../../config/config.js'
import { ERRORS } from '../../../contract/error-codes.js'
import type { Job } from '../../../jobs/job.js'
import { DomainError } from '../../../lib/domain-error.js'
import type { TenantRecord } from '../../../storage/records.js'
import type { StoreReader } from '../../../storage/store.js'
import type { TemplateVault } from '../../../users/template-vault.js'
import { comparedTemplate, templateOf } from '../../../users/templates.js'
import type { BiometricProvider, Comparison, Evidence } from '../../../verification/biometric-provider.js'
import type { AnsweredCall, CalledUser } from '../../../verification/call.js'
import { NOTHING_CHECKED } from '../../../verification/liveness.js'
import { decidingProvider } from '../../../verification/references/deciding-model.js'
import type { Examination, WatchVerify } from '../../../verification/verdict.js'
import { reasonAgainst } from '../../../verification/verdict-reasons.js'
import { strictestRate } from '../../../verification/verdict-terms.js'
import { increase } from '../histogram.js'
import { type Candidate, describeCandidate } from './candidate.js'
import {
  changeOf,
  countShadowed,
  type ShadowedVerify,
  type ShadowOutcome,
  type Uncompared,
} from './shadow-counts.js'
import type { ShadowObserver } from './shadow-metrics.js'
import { ShadowQueue } from './shadow-queue.js'
import type { ShadowRecorder } from './shadow-recorder.js'
import type { ShadowSettings } from './shadow-settings.js'

/** Longest time of one comparison in milliseconds. */
const DEADLINE_MS = 5000
/** Reasons that are given although the face matched: a second person or a person's look is awaited, or the second person is the first. */
const AFTER_MATCH: ReadonlySet<string> = new Set([
  'second_approval_required',
  'same_person',
  'review_required',
])
/** Reasons that say nothing about the pictures. */
const WITHOUT_LOOK: ReadonlySet<string> = new Set(['locked_out', 'reference_disabled'])

/** Bounds that every value keeps: frames are not held to those of photos. */
const NO_BOUNDS: OtherBounds = {
  quality: Object.fromEntries(QUALITY_COMPONENTS.map((name) => [name, { min: -1e9, max: 1e9 }])),
}

interface ShadowParts {
  candidate: Candidate
  provider: BiometricProvider
  vault: Pick<TemplateVault, 'find' | 'openReference'>
  store: { read: StoreReader }
  config: Pick<Config, 'fmr'>
  settings: Pick<ShadowSettings, 'shadowShare'>
  recorder: ShadowRecorder
  observer: ShadowObserver
  log: Logger
  /** Whether a worker has nothing else to do. */
  hasPlace(): boolean
}

/** An examination without the pictures: of a challenge only the compared frame may wait. */
type Examined<Each = Examination> = Each extends unknown ? Omit<Each, 'evidence'> : never

/** The part of a verify that is kept until the candidate has seen it; of its body only the decoded pictures, of its conditions their rate. */
interface Verify {
  tenant: TenantRecord
  user: CalledUser
  evidence: Evidence
  /** The lowest false match rate that a condition of the verify asks for; infinite for none. */
  maxFmr: number
  /** Null where the examination failed. */
  examination: Examined | null
}

/** A verify with an outcome that the pictures decided. */
interface Judged extends Verify {
  live: ShadowOutcome
  score: number | null
  /** Whether the evidence is the compared frame of a challenge, whose movements and liveness were judged in the verify. */
  isOfChallenge: boolean
}

export class Shadow implements Job {
  private readonly name: string
  private readonly queue: ShadowQueue<Judged>

  constructor(private readonly parts: ShadowParts) {
    this.name = describeCandidate(parts.candidate)
    this.queue = new ShadowQueue({
      hasPlace: parts.hasPlace,
      run: (verify, signal) => this.compare(verify, signal),
      onDropped: (verify) => this.count(verify, 'dropped'),
    })
  }

  /** Lets the candidate see this verify once it is answered. Costs the caller nothing but a function in a list. */
  readonly watch: WatchVerify = (call, evidence, { conditions }) => {
    let examination: Examined | null = null
    const { tenant, user } = call
    const maxFmr = strictestRate(Number.POSITIVE_INFINITY, conditions)
    call.afterAnswer.push((answer) => {
      try {
        this.answered({ tenant, user, evidence, maxFmr, examination }, answer)
      } catch (err) {
        this.parts.log.error({ err }, 'the candidate could not be shown a verification')
      }
    })
    return {
      // The candidate compares the templates of that moment: an approval may add its own capture to them.
      examined: ({ evidence: _, ...result }) => {
        examination = result
      },
    }
  }

  start(): void {
    // Its work comes with the verifies.
  }

  /** Drops what waits, and resolves when nothing runs any more. */
  stop(): Promise<void> {
    return this.queue.stop()
  }

  private answered(verify: Verify, answer: AnsweredCall): void {
    const live = outcomeOf(answer)
    if (live === null || isOldCapture(verify, live)) return
    const { candidate, settings } = this.parts
    const judged: Judged = { ...verify, live, score: answer.score ?? null, isOfChallenge: false }
    const deciding = this.decidingFor(verify)
    const isSamePack = candidate.model === null || candidate.model === deciding.model
    if (isSamePack && candidate.bounds === null) {
      if (candidate.fmr !== null) this.countByScore(judged, deciding)
      return
    }
    if (Math.random() >= settings.shadowShare) return
    const shown = verify.evidence.film ? comparedFrame(judged) : judged
    // The bounds of photos do not hold for frames.
    if (!shown || (shown.isOfChallenge && candidate.bounds)) this.count(judged, 'not_comparable')
    else this.queue.add(shown, bytesOf(shown.evidence))
  }

  /** Another rate needs no second look. Rejections for another reason than the face stay under every threshold. */
  private countByScore(verify: Judged, deciding: BiometricProvider): void {
    const { live, score } = verify
    if (score === null || (live !== 'approved' && live !== 'no_match')) return
    const candidate = score >= this.thresholdFor(verify, deciding) ? 'approved' : 'no_match'
    this.count(verify, { live, candidate, score, candidateScore: score })
  }

  private async compare(verify: Judged, signal: AbortSignal): Promise<'done' | 'interrupted'> {
    const result = await this.judge(verify, signal).catch((err) => {
      this.parts.log.warn({ err }, 'the candidate could not look at a verification')
      return 'failed' as const
    })
    if (result === 'interrupted') return result
    if (result !== 'gone') this.count(verify, result)
    return 'done'
  }

  /** @returns `gone` for a user who was erased or enrolled again meanwhile: nothing of such a verify may be counted */
  private async judge(
    verify: Judged,
    signal: AbortSignal,
  ): Promise<ShadowedVerify | Uncompared | 'interrupted' | 'gone'> {
    const { candidate, vault, store } = this.parts
    const { user, evidence, examination, live, score, isOfChallenge } = verify
    const deciding = this.decidingFor(verify)
    const provider = candidate.model === null ? deciding : deciding.forModel(candidate.model)
    if (!provider) return 'not_comparable'
    const subject = await vault.find(store.read, user.blindIndex, user.id)
    const known = examination?.subject ?? subject
    if (!subject || !known || subject.record.id !== known.record.id) return 'gone'
    const template = templateOf(known, provider.model)
    if (!template) return 'no_template'
    const spareCall: SpareCall = {
      // The request is gone: it would only name the fields of pictures that are refused.
      input: { user_id: user.id },
      deadlineMs: performance.now() + DEADLINE_MS,
      signal,
      schedulingClass: { flow: 'shadow', priority: 'production', weight: 1 },
      isSpare: true,
      bounds: isOfChallenge ? NO_BOUNDS : (candidate.bounds ?? undefined),
    }
    try {
      const open = () => vault.openReference(subject, comparedTemplate(known, template)).embedding
      const threshold = this.thresholdFor(verify, provider)
      const comparison = await provider.verify(spareCall, evidence, open, threshold)
      const reason = reasonAgainst(isOfChallenge ? withoutLiveness(comparison) : comparison, false)
      const outcome = reason ?? 'approved'
      return { live, candidate: outcome, score, candidateScore: comparison.score }
    } catch (error) {
      if (signal.aborted) return 'interrupted'
      if (!(error instanceof DomainError)) throw error
      if (error.code === 'overloaded') return 'interrupted'
      if (ERRORS[error.code].category !== 'biometric_rejected') throw error
      return { live, candidate: error.code, score, candidateScore: null }
    }
  }

  private decidingFor({ tenant }: Verify): BiometricProvider {
    return decidingProvider(this.parts.provider, tenant)
  }

  /** The threshold of the candidate rate or of the contract, or of a condition of the verify where that is stricter. */
  private thresholdFor({ tenant, maxFmr }: Verify, provider: BiometricProvider): number {
    const { candidate, config } = this.parts
    const contract = candidate.fmr ?? tenant.fmr ?? config.fmr
    return provider.operatingPoint(Math.min(contract, maxFmr)).threshold
  }

  private count(verify: Judged, result: ShadowedVerify | Uncompared): void {
    const { recorder, observer } = this.parts
    const { tenant } = verify
    const row = { tenantId: tenant.id, model: this.decidingFor(verify).model, candidate: this.name }
    const counts = recorder.countsOf(row)
    if (typeof result === 'string') {
      increase(counts.uncompared, result)
      observer.countUncompared(result)
    } else {
      countShadowed(counts, result)
      observer.countVerdict(tenant.name, changeOf(result))
    }
  }
}

type SpareCall = Parameters<BiometricProvider['verify']>[0]

/** Outcome that the pictures decided; null where they decided nothing. */
function outcomeOf({ code, verdict, reason }: AnsweredCall): ShadowOutcome | null {
  if (verdict === undefined)
    return code !== undefined && ERRORS[code].category === 'biometric_rejected' ? code : null
  if (reason == null || AFTER_MATCH.has(reason)) return 'approved'
  return WITHOUT_LOOK.has(reason) ? null : reason
}

/** The frame that was compared, as if it were a photo; null where the frames do not show the movements, so that none was. */
function comparedFrame(verify: Judged): Judged | null {
  const { examination, evidence, live } = verify
  if (!examination || examination.refusal || (live !== 'approved' && live !== 'no_match')) return null
  const image = evidence.images[examination.comparison.samples[0]?.imageIndex ?? -1]
  return image
    ? { ...verify, evidence: { ...evidence, images: [image], film: null }, isOfChallenge: true }
    : null
}

/** The liveness of a challenge is that of all its frames, which the verify has judged. */
function withoutLiveness({ matches, sample }: Comparison): Pick<Comparison, 'matches' | 'sample'> {
  return { matches, sample: { ...sample, liveness: NOTHING_CHECKED } }
}

function bytesOf({ images }: Evidence): number {
  return images.reduce((sum, image) => sum + image.length, 0)
}

/** A capture that was sent before and is rejected now says nothing about a candidate, which would reject it as well. */
function isOldCapture({ examination }: Verify, live: ShadowOutcome): boolean {
  const isReplay = examination !== null && examination.refusal === null && examination.replay !== null
  return live === 'replayed_capture' || (isReplay && live !== 'approved')
}
