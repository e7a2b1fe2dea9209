import { spawnSync } from 'node:child_process'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { describe, expect, inject, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { workplaceForAll } from '../support/command.js'

const ESCAPE = '\u001b'
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/

const place = workplaceForAll()

describe('output in a pipe', () => {
  for (const args of [
    ['config'],
    ['config', '--explain'],
    ['models', 'list'],
    ['tenant', 'list'],
    ['doctor'],
  ])
    it(`is plain text without tabs: ${args.join(' ')}`, async () => {
      const { stdout, stderr } = await place.run(args)
      expect(stdout + stderr).not.toMatch(CONTROL)
    })

  it('is colored with FORCE_COLOR, unless NO_COLOR is set', async () => {
    const coloured = async (env: Record<string, string>) =>
      (await place.run(['config'], env)).stdout.includes(ESCAPE)
    expect(await coloured({ FORCE_COLOR: '1' })).toBe(true)
    expect(await coloured({ FORCE_COLOR: '0' })).toBe(false)
    expect(await coloured({ FORCE_COLOR: '1', NO_COLOR: '1' })).toBe(false)
    expect(await coloured({ FORCE_COLOR: '1', NO_COLOR: '' })).toBe(true)
  })
})

it('contains no control characters from the texts of a pack', async () => {
  const dir = place.path('models')
  await cp(inject('modelsDir'), dir, { recursive: true })
  const file = `${dir}/baseline/pack.json`
  const pack = JSON.parse(await readFile(file, 'utf8'))
  const env = { COUNTERSIGN_MODELS_DIR: dir }
  await writeFile(file, JSON.stringify({ ...pack, description: `fine${ESCAPE}[2J\ttext\u009b` }))
  const listed = await place.run(['models', 'list'], env)
  expect(listed.stdout).toContain('fine')
  expect(listed.stdout).not.toMatch(CONTROL)
  await writeFile(file, JSON.stringify({ ...pack, [`${ESCAPE}[2J`]: 1 }))
  const refused = await place.run(['models', 'verify'], env)
  expect(refused.stderr).toContain('unknown fields')
  expect(refused.stderr).not.toMatch(CONTROL)
})

// util-linux's `script` gives a command a terminal.
const hasScript = spawnSync('script', ['--version']).status === 0
describe.runIf(hasScript)('output on a terminal', () => {
  function show(columns: number, env: Record<string, string> = {}): string {
    // A reduced environment: Node uses no colors where CI=1 is set.
    const { PATH, HOME } = process.env
    const main = `${process.execPath} ${packageFile('dist', 'src', 'cli', 'main.js')} config --explain`
    const { stdout } = spawnSync('script', ['-qec', `stty cols ${columns}; ${main}`, '/dev/null'], {
      env: { PATH, HOME, TERM: 'xterm-256color', ...env },
      encoding: 'utf8',
    })
    return stdout.replaceAll('\r', '')
  }

  it('has colored tables, unless NO_COLOR is set or the terminal has no colors', () => {
    expect(show(200)).toContain(ESCAPE)
    expect(show(200, { NO_COLOR: '1' })).not.toContain(ESCAPE)
    expect(show(200, { TERM: 'dumb' })).not.toContain(ESCAPE)
  })

  it('wraps the last column inside the terminal, below itself', () => {
    const lines = show(150, { NO_COLOR: '1', COUNTERSIGN_DATA_DIR: '/srv/countersign' }).trimEnd().split('\n')
    const column = lines[0]!.indexOf('MEANING')
    const continued = lines.filter((line) => line.startsWith(' '))
    expect(continued.length).toBeGreaterThan(5)
    for (const line of continued) expect(line.search(/\S/)).toBe(column)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(150)
  })

  it.each([150, 100, 60])('stays within %i columns, however long a value is', (columns) => {
    const folder = `/srv/${'long-'.repeat(30)}folder`
    const shown = show(columns, { NO_COLOR: '1', COUNTERSIGN_DATA_DIR: folder })
    for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(columns)
    // The value is complete, though broken into pieces.
    expect(shown.match(/long-/g)!.length).toBeGreaterThan(20)
    for (const word of ['VARIABLE', 'MEANING', 'production']) expect(shown).toContain(word)
  })
})
