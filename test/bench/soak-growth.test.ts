/** Growth of memory and descriptors over a soak, and the samples that do not count as growth. */
import { describe, expect, it } from 'vitest'
import { type Sample, slopesOf, tooSteep, warmUpOf } from '../../bench/lib/soak-growth.js'

const MINUTES = 60
const SAMPLES_PER_MINUTE = 6

/** An hour of samples in which a different engine process serves each twenty minutes; constant except for `change`. */
function hour(change: (sample: Sample, ageMinutes: number) => void = () => {}): Sample[] {
  return Array.from({ length: MINUTES * SAMPLES_PER_MINUTE }, (_, i) => {
    const minute = i / SAMPLES_PER_MINUTE
    const life = Math.floor(minute / 20)
    const vitals = { residentMib: 200, anonymousMib: 100, descriptors: 20, sockets: 10, threads: 10 }
    const sample: Sample = {
      minute,
      service: { pid: 1, ...vitals },
      // Each engine process begins at another level: a step, and no growth.
      engine: { pid: 10 + life, ...vitals, anonymousMib: 100 + 30 * life },
      heapUsedMib: 20,
      databaseMib: 1,
      writeAheadLogMib: 1,
    }
    change(sample, minute - life * 20)
    return sample
  })
}

const judge = (samples: Sample[]) => tooSteep(slopesOf(samples, warmUpOf(MINUTES)))

describe('growth over a soak', () => {
  it('steps from one engine process to the next are no growth', () => {
    expect(judge(hour())).toEqual([])
  })

  it('growth is found in memory and descriptors of either process', () => {
    const growing = hour(({ minute, service, engine }) => {
      for (const each of [service, engine!]) {
        each.anonymousMib += minute
        each.descriptors += minute
      }
    })
    expect(judge(growing)).toHaveLength(4)
  })

  it("pages of files, sockets, and an engine's first minutes do not count as growth", () => {
    const warming = hour(({ minute, service, engine }, ageMinutes) => {
      service.residentMib += minute
      service.sockets += minute
      engine!.anonymousMib += 10 * Math.min(ageMinutes, 8)
    })
    expect(judge(warming)).toEqual([])
  })

  it('a slope that could not be measured is a failure', () => {
    expect(judge(hour((sample) => Object.assign(sample, { engine: null })))).toHaveLength(2)
  })
})
