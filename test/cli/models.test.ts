import { cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { describe, expect, inject, it } from 'vitest'
import { workplaceForAll } from '../support/command.js'

const place = workplaceForAll()

/** A models folder with a copy of the baseline pack, for spoiling. */
async function copyOfModels(name: string): Promise<string> {
  const dir = place.path(name)
  await cp(inject('modelsDir'), dir, { recursive: true })
  return dir
}

async function networkIn(packDir: string): Promise<string> {
  const files = await readdir(packDir)
  return files.filter((file) => file.endsWith('.onnx')).sort()[0]!
}

/** Flips one bit in the middle, as a bad disk would. */
async function flipBit(file: string): Promise<void> {
  const bytes = await readFile(file)
  bytes[bytes.length >> 1]! ^= 1
  await writeFile(file, bytes)
}

describe('models list', () => {
  it('marks the configured pack as active, and names packs that are not installed', async () => {
    const { code, json } = await place.ask('models list')
    expect(code).toBe(0)
    const baseline = json.find(({ id }: { id: string }) => id === 'baseline')
    expect(baseline).toMatchObject({ installed: true, active: true, problem: null })
    expect(baseline.model).toMatch(/^baseline@/)
    expect(json.filter(({ active }: { active: boolean }) => active)).toHaveLength(1)
    for (const pack of json.filter(({ installed }: { installed: boolean }) => !installed))
      expect(pack).toMatchObject({ id: expect.any(String), active: false, model: null, dir: null })
  })

  it('shows people a table', async () => {
    const { code, stdout } = await place.run(['models', 'list'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^PACK +STATE +MODEL +DESCRIPTION$/m)
    expect(stdout).toMatch(/^baseline +active +baseline@/m)
  })

  it('works where no pack is installed', async () => {
    const { code, json } = await place.ask('models list', {
      COUNTERSIGN_MODELS_DIR: place.path('none'),
    })
    expect(code).toBe(0)
    expect(json.find(({ id }: { id: string }) => id === 'baseline')).toMatchObject({ installed: false })
  })

  it('marks a broken pack', async () => {
    const dir = await copyOfModels('list-broken')
    await writeFile(`${dir}/baseline/pack.json`, '{')
    const { code, json } = await place.ask('models list', { COUNTERSIGN_MODELS_DIR: dir })
    expect(code).toBe(0)
    expect(json.find(({ problem }: { problem: string | null }) => problem)).toMatchObject({ installed: true })
  })
})

describe('models verify', () => {
  it('finds the configured pack complete, and shows the source of each file', async () => {
    const { code, json } = await place.ask('models verify')
    expect(code).toBe(0)
    expect(json).toMatchObject({ ok: true, problem: null, model: expect.stringMatching(/^baseline@/) })
    for (const file of json.files)
      expect(file).toEqual({
        file: expect.stringMatching(/\.onnx$/),
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        licence: expect.any(String),
        origin: expect.any(String),
      })
    expect((await place.run(['models', 'verify', 'baseline'])).stdout).toContain('is whole')
  })

  it.each([
    ['has a flipped bit', flipBit],
    ['is missing', rm],
  ])('fails where a file %s, and names it', async (what, spoil) => {
    const dir = await copyOfModels(what)
    const network = await networkIn(`${dir}/baseline`)
    await spoil(`${dir}/baseline/${network}`)
    const env = { COUNTERSIGN_MODELS_DIR: dir }
    const { code, json } = await place.ask('models verify', env)
    expect(code).toBe(1)
    expect(json).toMatchObject({ ok: false, problem: expect.stringContaining(network) })
    const people = await place.run(['models', 'verify'], env)
    expect(people).toMatchObject({ code: 1, stdout: expect.stringContaining('is broken'), stderr: '' })
  })

  for (const [what, text, code] of [
    ['is no JSON', '{', 'pack_malformed'],
    ['is no manifest', '{"id":"x"}', 'pack_invalid'],
  ] as const)
    it(`fails where pack.json ${what}`, async () => {
      const dir = await copyOfModels(code)
      await writeFile(`${dir}/baseline/pack.json`, text)
      const result = await place.ask('models verify', { COUNTERSIGN_MODELS_DIR: dir })
      expect(result).toMatchObject({ code: 1, stdout: '', error: { code } })
    })

  it('fails where the pack is not installed', async () => {
    const result = await place.ask('models verify nowhere')
    expect(result).toMatchObject({ code: 1, stdout: '', error: { code: 'pack_not_found' } })
  })
})

describe('models build', () => {
  it('repairs a broken pack', async () => {
    const dir = await copyOfModels('rebuilt')
    const network = await networkIn(`${dir}/baseline`)
    await flipBit(`${dir}/baseline/${network}`)
    const env = { COUNTERSIGN_MODELS_DIR: dir }
    const { code, json } = await place.ask('models build baseline', env)
    expect(code).toBe(0)
    expect(json.dir).toBe(`${dir}/baseline`)
    expect(json.files.map(({ file }: { file: string }) => file)).toContain(network)
    expect((await place.ask('models verify', env)).json.ok).toBe(true)
  })

  it('makes a data folder that only its owner reads, which later holds users', async () => {
    const folder = place.path('new')
    const env = { COUNTERSIGN_DATA_DIR: folder, COUNTERSIGN_MODELS_DIR: `${folder}/models` }
    expect((await place.ask('models build baseline', env)).code).toBe(0)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
  })

  it('writes to the given folder', async () => {
    const out = place.path('elsewhere')
    // Undamaged networks of an earlier pack are kept: making the others takes a second of a core.
    await cp(`${inject('modelsDir')}/baseline`, out, { recursive: true })
    await rm(`${out}/${await networkIn(out)}`)
    const { code } = await place.run(['models', 'build', 'baseline', '--out', out, '--json'])
    expect(code).toBe(0)
    expect((await place.run(['models', 'verify', out, '--json'])).json.ok).toBe(true)
  })
})

describe('serve with a corrupted pack', () => {
  it('refuses one that was imported, in one line', async () => {
    const dir = await copyOfModels('brought')
    const network = await networkIn(`${dir}/baseline`)
    await flipBit(`${dir}/baseline/${network}`)
    const { code, stderr } = await place.run(['serve'], { COUNTERSIGN_MODEL_PACK: `${dir}/baseline` })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: [^\n]+\nWhat to do: [^\n]+\nMore about it: [^\n]+\n$/)
    expect(stderr).toContain(network)
  })

  it('repairs the baseline pack before it serves', async () => {
    const dir = await copyOfModels('served')
    await flipBit(`${dir}/baseline/${await networkIn(`${dir}/baseline`)}`)
    const env = { COUNTERSIGN_MODELS_DIR: dir }
    const server = await place.announce([], env)
    expect((await fetch(`${server.admin}/readyz`)).status).toBe(200)
    expect((await place.ask('models verify', env)).json.ok).toBe(true)
  })
})
