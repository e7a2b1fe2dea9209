/** Runs a campaign as a test, which fails for every problem that is found. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type ChaosOptions, runChaos } from './campaign.js'

/** Runs the campaign over two nodes. */
export async function expectFlawless(options: Omit<ChaosOptions, 'nodes' | 'logFolder'>): Promise<void> {
  const logFolder = await mkdtemp(join(tmpdir(), 'countersign-chaos-logs-'))
  try {
    const report = await runChaos({ ...options, nodes: 2, logFolder })
    const { faults, acknowledged, longest_outage_ms: _, ...result } = report
    expect(result).toEqual({ nodes: 2, lost: 0, executed_twice: 0, chains_broken: 0, problems: [] })
    expect([faults, acknowledged].every((count) => count > 0)).toBe(true)
  } finally {
    await rm(logFolder, { recursive: true })
  }
}
