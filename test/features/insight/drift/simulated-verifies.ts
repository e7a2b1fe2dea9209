/** A stream of verifies that never happened: people with faces and cameras of their own, who try again after a failure. */
import { readFileSync } from 'node:fs'
import {
  type CountedRequest,
  countVerify,
  noDriftCounts,
} from '../../../../src/features/insight/drift/drift-counts.js'
import {
  type CountedPeriod,
  type DriftHistory,
  startOfPeriod,
} from '../../../../src/features/insight/drift/drift-report.js'
import { withVerifies } from '../../../../src/features/insight/drift/drift-rows.js'
import { addCounts } from '../../../../src/features/insight/histogram.js'
import { DAY_MS, HOUR_MS } from '../../../../src/lib/clock.js'
import { packageFile } from '../../../../src/lib/package-root.js'
import { seededRandom } from '../../../../tools/evaluation/random.js'

export interface Traffic {
  people: number
  perDay: number
  seed: number
  /** Draws verifies that were recorded, as they are or blurred, instead of making them up. */
  recorded?: boolean
  /** Standard deviation of what all verifies of one day have in common, in scores and in quality. */
  daySpread?: number
  /** How much worse pictures are at night. */
  nightLoss?: number
}

/** A camera release, as quality and score that it costs. */
export interface Change {
  quality: number
  score: number
}

const COMMON = {
  environment: 'production',
  endpoint: 'verify',
  tenantId: 'ten_a',
  isReplay: false,
} as const

interface Recordings {
  threshold: number
  /** Quality and score, or the code of a refusal. */
  sharp: Array<string | number[]>
  blurred: Array<string | number[]>
}

const recordings = JSON.parse(
  readFileSync(packageFile('test', 'features', 'insight', 'drift', 'recorded-verifies.json'), 'utf8'),
) as Recordings

const NO_CHANGE: Change = { quality: 0, score: 0 }

export class SimulatedVerifies {
  readonly history: { periods: CountedPeriod[]; blocks: CountedPeriod[] } & DriftHistory = {
    periods: [],
    blocks: [],
  }
  change = NO_CHANGE
  threshold = 0.42
  private readonly random: () => number
  private readonly people: Array<{ quality: number; score: number }>
  private day = -1
  private ofDay = { quality: 0, score: 0 }
  private again: { person: number } | null = null

  /** @param now time of the first verify, in milliseconds since the Unix epoch */
  constructor(
    private readonly traffic: Traffic,
    public now: number,
  ) {
    this.random = seededRandom(traffic.seed)
    this.people = Array.from({ length: traffic.people }, () => ({
      quality: 0.08 * this.normal(),
      score: 0.06 * this.normal(),
    }))
  }

  /** The next verifies. `now` is the time of each while it is under way. */
  *verifies(count: number): Generator<CountedRequest> {
    for (let i = 0; i < count; i++) {
      yield this.next()
      this.now += (DAY_MS / this.traffic.perDay) * (this.isNight ? 5 / 3 : 5 / 7)
    }
  }

  /** Adds verifies to the history. */
  add(verifies: number): void {
    const batch = { at: this.now, counts: noDriftCounts() }
    let start = startOfPeriod(this.now)
    let ofPeriod = { at: start, counts: noDriftCounts() }
    const close = () => {
      const last = this.history.periods.at(-1)
      if (last?.at === ofPeriod.at) addCounts(last.counts, ofPeriod.counts)
      else this.history.periods.push(ofPeriod)
    }
    for (const verify of this.verifies(verifies)) {
      countVerify(batch.counts, verify)
      if (startOfPeriod(this.now) !== start) {
        close()
        start = startOfPeriod(this.now)
        ofPeriod = { at: start, counts: noDriftCounts() }
      }
      countVerify(ofPeriod.counts, verify)
    }
    close()
    this.history.blocks = withVerifies(this.history.blocks, batch)
  }

  private get isNight(): boolean {
    const hour = Math.floor((this.now % DAY_MS) / HOUR_MS)
    return hour < 12
  }

  private next(): CountedRequest {
    const { people, daySpread = 0, nightLoss = 0, recorded } = this.traffic
    if (recorded) return this.nextRecorded()
    const day = Math.floor(this.now / DAY_MS)
    if (day !== this.day) {
      this.day = day
      this.ofDay = { quality: daySpread * this.normal(), score: daySpread * this.normal() }
    }
    const person = this.again?.person ?? Math.floor(this.random() * people)
    const own = this.people[person]!
    const night = this.isNight ? nightLoss : 0
    const quality =
      0.62 + own.quality + this.ofDay.quality - night + 0.1 * this.normal() - this.change.quality
    const score = 0.68 + own.score + this.ofDay.score - night / 2 + 0.09 * this.normal() - this.change.score
    const verify = this.outcome(quality, score)
    // Most people try again at once after a failure, in the same light.
    this.again = verify.verdict !== 'approved' && this.random() < 0.7 ? { person } : null
    return verify
  }

  private nextRecorded(): CountedRequest {
    const from = this.change === NO_CHANGE ? recordings.sharp : recordings.blurred
    const one = from[Math.floor(this.random() * from.length)]!
    if (typeof one === 'string') return { ...COMMON, code: one as 'low_quality' }
    const [quality, score] = one as [number, number]
    const { threshold } = recordings
    return judged(quality, score, threshold, score < threshold ? 'no_match' : null)
  }

  private outcome(quality: number, score: number): CountedRequest {
    if (quality < 0.25) return { ...COMMON, code: 'low_quality' }
    if (this.random() < 0.01) return { ...COMMON, code: 'face_not_found' }
    const reason = score < this.threshold ? 'no_match' : null
    return judged(quality, score, this.threshold, this.random() < 0.01 ? 'liveness_failed' : reason)
  }

  /** A standard normal number (Box and Muller). */
  private normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.random())) * Math.cos(2 * Math.PI * this.random())
  }
}

/** Written out, because millions of verifies are made, and an object that is spread takes twenty times as long. */
function judged(
  quality: number,
  score: number,
  threshold: number,
  reason: 'no_match' | 'liveness_failed' | null,
): CountedRequest {
  return {
    environment: COMMON.environment,
    endpoint: COMMON.endpoint,
    tenantId: COMMON.tenantId,
    isReplay: COMMON.isReplay,
    code: undefined,
    quality,
    score,
    threshold,
    verdict: reason === null ? 'approved' : 'rejected',
    reason,
  }
}
