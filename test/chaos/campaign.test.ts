import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runChaos } from './campaign.js'
import { obstacle } from './obstacle.js'

let logFolder: string
beforeAll(() => {
  logFolder = mkdtempSync(join(tmpdir(), 'countersign-chaos-logs-'))
})
afterAll(() => rmSync(logFolder, { recursive: true }))

it.skipIf(obstacle() !== null)(
  'two nodes lose nothing acknowledged, and execute nothing twice, whatever becomes of them, the network and the server',
  async () => {
    const report = await runChaos({
      seconds: 20,
      seed: 14,
      nodes: 2,
      callers: 2,
      logFolder,
      faults: [
        'connections cut',
        'answers of COMMIT lost',
        'node killed',
        'node stands still',
        'server killed',
      ],
    })
    const { faults, acknowledged, longest_outage_ms: _, ...result } = report
    expect(result).toEqual({ nodes: 2, lost: 0, executed_twice: 0, chains_broken: 0, problems: [] })
    expect([faults, acknowledged].every((count) => count > 0)).toBe(true)
  },
  300_000,
)
