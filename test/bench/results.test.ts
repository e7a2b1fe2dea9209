/** Statistics of benchmarks, the files of their results, and comparisons with earlier results. */
import { spawnSync } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommanderError } from 'commander'
import { describe, expect, it } from 'vitest'
import { benchCommand } from '../../bench/command.js'
import { compare, readResult } from '../../bench/lib/comparison.js'
import { documentOf, keepPartial, keepResult, loadOf, type SuiteResult } from '../../bench/lib/report.js'
import { carriedPercentile, leastSamples, shown, summariseLatency } from '../../bench/lib/statistics.js'
import { packageFile } from '../../src/lib/package-root.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const samples = (count: number) => Array.from({ length: count }, (_, index) => index)
const result = (perSecond: number): SuiteResult => ({
  suite: 'floor',
  model: 'baseline@1',
  seconds: 30,
  summary: { service: { per_s: perSecond }, ratio: 0.9, note: 'text' },
  tables: [
    {
      title: 'Throughput',
      rows: [
        ['', 'per s'],
        ['service', String(perSecond)],
      ],
    },
  ],
  notes: [],
  details: {},
  failures: [],
})

const QUIET = { measures: ['src/lib'], otherProgramsCores: 0.02 }

describe('a percentile', () => {
  it.each([
    [0.5, 2],
    [0.95, 20],
    [0.99, 100],
    [0.999, 1000],
  ])('a percentile of %s is given from %i samples on, and not for one fewer', (share, least) => {
    expect(leastSamples(share)).toBe(least)
    expect(carriedPercentile(samples(least), share)).toBeCloseTo((least - 1) * share)
    expect(carriedPercentile(samples(least - 1), share)).toBeNull()
  })

  it('percentiles that thirteen samples cannot give are shown as a dash', () => {
    const { p50_ms, p95_ms, p99_ms } = summariseLatency(samples(13))
    expect([p50_ms, p95_ms, p99_ms].map((ms) => shown(ms, 1))).toEqual(['6.0', '–', '–'])
  })
})

describe('results', () => {
  const folder = temporaryFolder()

  it('partial results are kept until the run has ended', async () => {
    const out = join(folder, 'under-way')
    keepPartial('floor', { minutes: 1 }, out)
    expect(JSON.parse(await readFile(join(out, 'floor.partial.json'), 'utf8'))).toEqual({ minutes: 1 })
    keepResult(result(100), documentOf(result(100), QUIET), out)
    expect((await readdir(out)).sort()).toEqual(['floor.json', 'floor.md'])
  })

  it('results are written to the requested folder, and can be read from there', async () => {
    const kept = result(100)
    keepResult(kept, documentOf(kept, QUIET), join(folder, 'out'))
    expect((await readdir(join(folder, 'out'))).sort()).toEqual(['floor.json', 'floor.md'])
    expect(await readFile(join(folder, 'out', 'floor.md'), 'utf8')).toContain('| service | 100 |')
    expect(readResult(join(folder, 'out', 'floor.json'))).toMatchObject({
      suite: 'floor',
      summary: kept.summary,
    })
  })

  it('a result says how busy the machine was, and is marked as provisional unless it was quiet', () => {
    const loadWith = (otherProgramsCores: number | null) =>
      loadOf(documentOf(result(100), { ...QUIET, otherProgramsCores }))
    expect(loadWith(0.02)).toMatch(
      /^load average \d+\.\d before and \d+\.\d after, other programs 0\.02 cores$/,
    )
    expect(loadWith(0.79)).toMatch(/other programs 0\.79 cores \(not a quiet machine: provisional\)$/)
    expect(loadWith(null)).toMatch(/other programs unknown \(not a quiet machine: provisional\)$/)
  })

  it('a result keeps the load, and a sample of the code that was measured', () => {
    const { machine, measured_code } = documentOf(result(100), QUIET)
    expect(machine).toMatchObject({ load_average_at_end: expect.any(Number), other_programs_cores: 0.02 })
    expect(measured_code).toEqual({
      rooms: ['src/lib'],
      lines: expect.any(Number),
      sample: expect.stringMatching(/^[0-9a-f]{8}( [0-9a-f]{8})+$/),
    })
  })

  it('results are compared with earlier ones, figure by figure, with the other differences of the runs', () => {
    const before = { ...documentOf(result(80), QUIET), measured_at: '2026-01-31T12:00:00.000Z' }
    expect(compare(before, documentOf(result(100), QUIET))).toEqual({
      table: {
        title: 'Compared with 2026-01-31T12:00:00.000Z',
        rows: [
          ['', 'then', 'now', 'now / then'],
          ['service.per_s', '80', '100', '1.250'],
          ['ratio', '0.9', '0.9', '1.000'],
        ],
      },
      notes: [],
    })
    const elsewhere = { ...before, model: 'other@1', machine: { ...before.machine, cores: 1024 } }
    expect(compare(elsewhere, documentOf(result(100), QUIET)).notes).toEqual([
      'Compared runs differ in model: other@1 then, baseline@1 now.',
      expect.stringMatching(/^Compared runs differ in cores: 1024 then, \d+ now\.$/),
    ])
  })

  it.each([
    [['--out', 'x', '--update'], 'cannot be used with'],
    [['--compare', 'nowhere.json'], 'cannot be read'],
    [['all', '--pack', 'x'], 'do not go with it'],
    [['everything'], 'Expected all or one of'],
    [['cluster', '--tenants', '0'], 'Expected 1 to 5000.'],
    [['cluster', '--tenants', '2.5'], 'Expected 1 to 5000.'],
    [['latency', '--compare', 'FLOOR'], 'names a result of floor, not of latency'],
    [['--compare', 'OTHER'], 'is no result of a suite'],
  ])('%s is refused before anything is measured', async (args, message) => {
    const kept = result(100)
    keepResult(kept, documentOf(kept, QUIET), folder)
    await writeFile(join(folder, 'other.json'), '{}')
    const files: Record<string, string> = {
      FLOOR: join(folder, 'floor.json'),
      OTHER: join(folder, 'other.json'),
    }
    let stderr = ''
    benchCommand.configureOutput({
      writeErr: (text) => {
        stderr += text
      },
    })
    const given = args.map((each) => files[each] ?? each)
    await expect(benchCommand.parseAsync(given, { from: 'user' })).rejects.toThrow(CommanderError)
    expect(stderr).toContain(message)
  })

  it('wrong usage ends the process with 2', () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [packageFile('dist', 'bench', 'main.js'), 'everything'],
      { encoding: 'utf8' },
    )
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining('Expected all or one of'),
    })
  })
})
