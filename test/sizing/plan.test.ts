/** From a load to machines. */
import { describe, expect, it } from 'vitest'
import { ACCURACY } from '../../src/sizing/accuracy.js'
import {
  ASSUMED,
  DATABASE_BUSIEST,
  DATABASE_CPU_MS,
  type Figures,
  MEASURED,
} from '../../src/sizing/figures.js'
import { type Load, type Plan, plan } from '../../src/sizing/plan.js'
import { ROW_BYTES, storageOf } from '../../src/sizing/storage.js'

const FIGURES: Figures = { ...MEASURED, ...ASSUMED }
const MACHINE = { cores: 8, databaseCores: 16, spare: 1 }
const LOAD: Load = { perSecond: 100, p99Ms: 150, tenants: 100, hottestShare: 0.1 }

function planned(load: Partial<Load>, machine = MACHINE, figures = FIGURES): Plan {
  const outcome = plan({ ...LOAD, ...load }, machine, figures)
  if (!outcome.plan) throw new Error(outcome.obstacle.kind)
  return outcome.plan
}

describe('a plan', () => {
  it('keeps what was asked for, by the stated error of measured runs, with all nodes and without the spare ones', () => {
    for (const perSecond of [5, 50, 150, 1000]) {
      const { whole, reduced } = planned({ perSecond })
      for (const { p99Ms } of [whole, reduced])
        expect(p99Ms, `${perSecond}`).toBeLessThanOrEqual(150 * (1 - ACCURACY.runs.p99))
    }
  })

  it('has a node more for each that may be lost', () => {
    const nodes = [0, 1, 2].map((spare) => planned({}, { ...MACHINE, spare }).nodes)
    expect(nodes).toEqual([nodes[0], nodes[0]! + 1, nodes[0]! + 2])
  })

  it('has nodes for the engine: twice as many for pictures that take twice as long', () => {
    const quick = { ...FIGURES, roundTripMs: 0.05, syncMs: 0.2, laneMs: 0.1, mainMs: 0.2 }
    const nodes = (engineMs: number) =>
      planned({ perSecond: 1000, p99Ms: 500 }, { ...MACHINE, spare: 0 }, { ...quick, engineMs }).nodes
    const [one, two] = [nodes(20), nodes(40)]
    expect(one).toBeGreaterThanOrEqual(Math.ceil((1000 * 20.2) / 8000))
    expect(two / one).toBeGreaterThan(1.8)
    expect(two / one).toBeLessThan(2.2)
  })

  it('never divides the load among databases where one carries it, and does where none can', () => {
    expect(planned({ perSecond: 50 }).clusters).toBe(1)
    const { clusters, clusterPerSecond } = planned({ perSecond: 5000 })
    expect(clusters).toBeGreaterThan(1)
    expect(clusterPerSecond * clusters).toBeGreaterThanOrEqual(5000)
    expect(clusterPerSecond * DATABASE_CPU_MS).toBeLessThanOrEqual(16_000 * DATABASE_BUSIEST)
    const alike = { perSecond: 5000, hottestShare: 0 }
    expect(planned(alike, { ...MACHINE, databaseCores: 64 }).clusters).toBe(1)
    // By the lane of a busy tenant, however large the database's machine is.
    const uneven = { perSecond: 2000, hottestShare: 0.3, p99Ms: 110 }
    expect(planned(uneven, { ...MACHINE, databaseCores: 64 }).clusters).toBeGreaterThan(1)
  })

  it('keeps a tenant whole', () => {
    const even = planned({ perSecond: 1000, hottestShare: 0 })
    const uneven = planned({ perSecond: 1000, hottestShare: 0.2 })
    expect(uneven.clusterPerSecond).toBeGreaterThanOrEqual(200)
    expect(even.clusterPerSecond).toBeLessThanOrEqual(uneven.clusterPerSecond)
  })

  it('is refused for a tenant that no database carries', () => {
    const outcome = plan({ ...LOAD, perSecond: 2000, hottestShare: 0.5 }, MACHINE, FIGURES)
    expect(outcome).toMatchObject({
      plan: null,
      obstacle: { kind: 'tenant_too_large', tenantPerSecond: 1000 },
    })
  })

  it('is refused where an idle machine is not fast enough', () => {
    const outcome = plan({ ...LOAD, p99Ms: 15 }, MACHINE, FIGURES)
    expect(outcome).toMatchObject({ plan: null, obstacle: { kind: 'too_slow' } })
  })

  it('takes more services a node where its main thread would be the limit', () => {
    const quick = { ...FIGURES, roundTripMs: 0.05, syncMs: 0.2, laneMs: 0.1, engineMs: 1 }
    expect(planned({ perSecond: 20 }, MACHINE, quick)).toMatchObject({ servicesPerNode: 1 })
    const { servicesPerNode, workersPerService } = planned({ perSecond: 400 }, MACHINE, quick)
    expect(servicesPerNode).toBeGreaterThan(1)
    expect(servicesPerNode * workersPerService).toBeLessThanOrEqual(8)
  })

  it('carries less in one database the farther that is', () => {
    const most = [0.1, 1, 3].map((roundTripMs) => {
      const outcome = plan({ ...LOAD, perSecond: 10 }, MACHINE, { ...FIGURES, roundTripMs })
      return outcome.plan ? outcome.databasePerSecond : 0
    })
    expect(most).toEqual(most.toSorted((a, b) => b - a))
    expect(most[0]).toBeGreaterThan(2 * most[2]!)
  })
})

it('storage is what rows take, for users, for a day, and for good', () => {
  expect(storageOf({ perSecond: 10, users: 1000 })).toMatchObject({
    usersBytes: 1000 * ROW_BYTES.user,
    dayBytes: 864_000 * ROW_BYTES.verify,
    growthBytesPerDay: 864_000 * ROW_BYTES.auditEntry,
  })
})
