/** The house's ranks: imports run downward only, so that every part can be read, tested and lifted out separately. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../src/lib/package-root.js'

/** From the top. A room imports from lower ranks; inside a rank, in one direction only. */
const RANKS = [
  // They read everything else, tests and benchmarks included, and nothing but tests imports them.
  ['tools/generators'],
  ['cli'],
  ['tools/evaluation', 'tools/pack-builders'],
  ['app'],
  // The list of features, which loads each of them.
  ['features/index'],
  // A feature that shows the others.
  ['dashboard'],
  ['features'],
  // Output of commands, those of features included.
  ['cli/lib'],
  // Types and helpers for the routes of features behind the pages of the dashboard.
  ['dashboard/lib'],
  ['http'],
  ['api'],
  ['admin'],
  ['verification'],
  ['events', 'keys', 'jobs'],
  ['cluster'],
  ['tenants', 'idempotency', 'users', 'audit', 'biometrics'],
  ['storage', 'crypto'],
  ['models'],
  ['config'],
  ['lib'],
  // The dashboard's pages are built with the capture component; `countersign fake` runs the SDK's service in memory.
  ['clients/capture', 'clients/node'],
  // Service, SDK and pages agree on it.
  ['contract'],
]
/** Each could be a package of its own: what it may know of the rest. */
const APART: Record<string, string[]> = {
  biometrics: ['models', 'lib', 'clients/capture', 'contract'],
  models: ['lib'],
  // The component only lends the vocabulary of guidance: see below.
  'clients/node': ['contract', 'clients/capture'],
  'clients/capture': ['contract'],
  contract: [],
}
/** The files of the capture component that rooms import which do not show it: the vocabulary of guidance. */
const SHARED_WITH_CAPTURE = ['guidance-codes.js', 'guidance-texts.js']
const SHOW_THE_COMPONENT = ['features', 'dashboard']
const GENERATORS = 'tools/generators'
/** Rooms that may install model packs; the others read packs. */
const MAY_INSTALL_MODELS = ['cli', 'tools/pack-builders']
/** The list of features, the type that each of them has, and what they add to the core. */
const FEATURE_LIST = ['features/feature.ts', 'features/feature-parts.ts', 'features/index.ts']

const SRC = packageFile('src')
const LIBS = ['cli/lib', 'dashboard/lib']
const LIST = resolve(SRC, 'features', 'index.ts')
const MODELS = packageFile('models')
const CLIENTS = packageFile('clients')
const TOOLS = packageFile('tools')
const IMPORT = /(?:\bfrom|\bimport|\bimport\()\s*'(\.[^']+)'/g

const IMPORT_OF_TYPES = /\b(?:import|export) type\b[^';]*?\bfrom\s*'(\.[^']+)'/g

interface Import {
  file: string
  target: string
  from: string
  to: string
  isType: boolean
}

/** `src/api/endpoints/verify.ts` is in room `api`, and `clients/node/index.ts` in `clients/node`; the folder `models` is one room. */
function roomOf(path: string): string {
  const [top, second = ''] = relative(packageFile(), path).split('/')
  if (top === 'models') return top
  for (const lib of LIBS) if (path.startsWith(`${resolve(SRC, lib)}/`)) return lib
  if (sourceOf(path) === LIST) return 'features/index'
  if (top === 'clients' || top === 'tools') return `${top}/${second}`
  return top === 'src' ? second.replace(/\.(ts|js|mjs)$/, '') : ''
}

/** The source file that is compiled to `file`. */
function sourceOf(file: string): string {
  return ['.ts', '.tsx'].map((ending) => file.replace(/\.js$/, ending)).find(existsSync) ?? file
}

const imports: Import[] = [SRC, MODELS, CLIENTS, TOOLS]
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => resolve(folder, name)),
  )
  .filter((file) => /\.tsx?$/.test(file))
  .flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    const types = [...text.matchAll(IMPORT_OF_TYPES)].map(([, specifier]) => specifier)
    return [...text.matchAll(IMPORT)].map(([, specifier]) => {
      const target = resolve(dirname(file), specifier!)
      const isType = types.includes(specifier)
      return { file, target, from: roomOf(file), to: roomOf(target), isType }
    })
  })
  // Generators contain imports of the files that they write.
  .filter(({ from, target }) => from !== GENERATORS || existsSync(sourceOf(target)))

/** Groups of files each of which reaches each other by imports, types included (Tarjan's strongly connected components). */
function circles(): string[][] {
  const lower = new Map<string, string[]>()
  for (const { file, target } of imports) lower.set(file, [...(lower.get(file) ?? []), sourceOf(target)])
  const order = new Map<string, number>()
  const path: string[] = []
  const found: string[][] = []
  /** @returns the earliest file still on the path that `file` reaches */
  const visit = (file: string): number => {
    const own = order.size
    order.set(file, own)
    path.push(file)
    let earliest = own
    for (const next of lower.get(file) ?? [])
      if (!order.has(next)) earliest = Math.min(earliest, visit(next))
      else if (path.includes(next)) earliest = Math.min(earliest, order.get(next)!)
    if (earliest === own) {
      const group = path.splice(path.indexOf(file))
      if (group.length > 1) found.push(group.map((member) => relative(packageFile(), member)).sort())
    }
    return earliest
  }
  for (const file of lower.keys()) if (!order.has(file)) visit(file)
  return found.sort()
}

const show = ({ file, target }: Import) =>
  `${relative(packageFile(), file)} imports ${relative(packageFile(), target)}`
const rankOf = (room: string) => RANKS.findIndex((rooms) => rooms.includes(room))
const between = imports.filter(({ from, to }) => from !== to && to !== '')

/** Those that lead from one room to another from which there is a way back. */
function inCircle(between: Import[]): Import[] {
  const lower = new Map<string, Set<string>>()
  for (const { from, to } of between) lower.set(from, (lower.get(from) ?? new Set()).add(to))
  const reaches = (from: string, goal: string, seen = new Set<string>()): boolean =>
    [...(lower.get(from) ?? [])].some((to) => {
      if (to === goal) return true
      if (seen.has(to)) return false
      seen.add(to)
      return reaches(to, goal, seen)
    })
  return between.filter(({ from, to }) => reaches(to, from))
}

describe('imports', () => {
  it('are found at all', () => {
    expect(between.length).toBeGreaterThan(50)
    expect(new Set(between.map(({ from }) => from))).toContain('api')
  })

  it('lie in rooms whose rank is known', () => {
    const rooms = new Set(imports.flatMap(({ from, to }) => [from, to]).filter(Boolean))
    expect([...rooms].filter((room) => rankOf(room) < 0 && !(room in APART))).toEqual([])
  })

  it('never run upward', () => {
    const upward = between.filter(({ from, to }) => rankOf(from) >= 0 && rankOf(to) < rankOf(from))
    expect(upward.map(show)).toEqual([])
  })

  it('never run in a circle between rooms', () => {
    expect(inCircle(between).map(show)).toEqual([])
  })

  it('lead from one feature to another only to what that one exports on purpose', () => {
    const featureOf = (path: string) => /^(.+?)\//.exec(relative(resolve(SRC, 'features'), path))?.[1]
    const crossing = imports
      .filter(({ from, to }) => from === 'features' && to === 'features')
      .map((one) => ({ ...one, from: featureOf(one.file)!, to: featureOf(one.target)! }))
      .filter(({ from, to }) => from && to && from !== to)
    const others = crossing.filter(({ target }) => !target.endsWith('/exports.js'))
    expect(others.map(show)).toEqual([])
    expect(inCircle(crossing).map(show)).toEqual([])
  })

  it('never run in a circle between the folders of models/ and of tools/pack-builders/', () => {
    const rooms = ['models', 'tools/pack-builders']
    const folderOf = (path: string) => dirname(relative(packageFile(), path))
    const within = imports
      .filter(({ from, to }) => rooms.includes(from) && rooms.includes(to))
      .map((one) => ({ ...one, from: folderOf(one.file), to: folderOf(one.target) }))
      .filter(({ from, to }) => from !== to)
    expect(within.length).toBeGreaterThan(10)
    expect(inCircle(within).map(show)).toEqual([])
  })

  it('never run in a circle between files, types included', () => {
    // A file that imports itself would be a group of one.
    expect(imports.filter(({ file, target }) => sourceOf(target) === file).map(show)).toEqual([])
    expect(circles()).toEqual([])
  })

  for (const [room, known] of Object.entries(APART))
    it(`keep ${room} independent of every room but ${known.join(', ') || 'itself'}`, () => {
      const allowed = [room, ...known]
      expect(imports.filter(({ from, to }) => from === room && !allowed.includes(to)).map(show)).toEqual([])
    })

  it('reach the SDK only from the command that runs its service in memory, and from generators', () => {
    const intoClient = between.filter(({ from, to }) => to === 'clients/node' && from !== GENERATORS)
    expect(intoClient.map(show)).toEqual(['src/cli/fake.ts imports clients/node/testing.js'])
  })

  it('reach nothing of the capture component but the vocabulary of guidance, except from what shows the component', () => {
    const intoCapture = between.filter(
      ({ from, to }) => to === 'clients/capture' && !SHOW_THE_COMPONENT.includes(from),
    )
    expect(intoCapture.length).toBeGreaterThan(0)
    const others = intoCapture.filter(
      ({ target }) => !SHARED_WITH_CAPTURE.includes(relative(resolve(CLIENTS, 'capture'), target)),
    )
    expect(others.map(show)).toEqual([])
  })

  it('load an image decoder only in the decoding of the engine, which the service never runs, in commands and in generators', () => {
    const files = [...new Set(imports.map(({ file }) => file))]
    const loading = files.filter(
      (file) => /'sharp'/.test(readFileSync(file, 'utf8')) && !['cli', GENERATORS].includes(roomOf(file)),
    )
    expect(loading.map((file) => relative(packageFile(), file)).sort()).toEqual([
      'src/biometrics/pipeline/decode/decode-pixels.ts',
      'tools/evaluation/measure-upright.ts',
      'tools/evaluation/report.ts',
    ])
    const decoders = ['decode-pixels.ts', 'decode.ts'].map((name) =>
      resolve(SRC, 'biometrics/pipeline/decode', name),
    )
    const outside = imports.filter(
      ({ from, target }) => from !== 'biometrics' && decoders.includes(sourceOf(target)),
    )
    expect(outside.map(show)).toEqual([])
  })

  it('reach features only by their list, from app, command line and generators, or by what a feature exports from dashboard, generators and evaluation', () => {
    const into = between.filter(({ to }) => to === 'features' || to === 'features/index')
    const isOfList = ({ from, target }: Import) =>
      ['app', 'cli', GENERATORS].includes(from) && FEATURE_LIST.includes(relative(SRC, sourceOf(target)))
    expect(into.filter(isOfList).length).toBeGreaterThan(0)
    const isExported = ({ from, target, isType }: Import) =>
      (from === 'dashboard' && isType) ||
      (['dashboard', GENERATORS, 'tools/evaluation'].includes(from) && target.endsWith('/exports.js'))
    const mayReach = (one: Import) => isOfList(one) || one.from === 'features/index' || isExported(one)
    const others = into.filter((one) => !mayReach(one))
    expect(others.map(show)).toEqual([])
  })

  it("lead to a feature's declaration from the list of features only", () => {
    const declarations = imports.filter(({ target }) =>
      /^(?:features\/.+|dashboard)\/feature\.ts$/.test(relative(SRC, sourceOf(target))),
    )
    expect(declarations.length).toBeGreaterThan(0)
    expect(declarations.filter(({ file }) => file !== LIST).map(show)).toEqual([])
  })

  it('reach HTTP statuses and headers only from rooms that answer over HTTP', () => {
    const answering = imports.filter(
      ({ target }) => sourceOf(target) === resolve(SRC, 'api', 'error-response.ts'),
    )
    expect(new Set(answering.map(({ from }) => from))).toEqual(
      new Set(['api', 'dashboard', 'features', 'http']),
    )
    const headerNames = /'(?:Retry-After|WWW-Authenticate)'/
    const withHeaderNames = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && headerNames.test(readFileSync(resolve(SRC, name), 'utf8')))
      .map((name) => name.split('/')[0])
    const below = [...new Set(withHeaderNames)].filter((room) => rankOf(room!) > rankOf('api'))
    expect(below).toEqual([])
  })

  it('lead to what changes a tenant without an entry in the audit log from admin only', () => {
    const unaudited =
      /\b(?:tenancy|secrets)\.(?:add|create|setContract|revealProductionKey|revokeKeys|reissueKey|rotate)\(/
    const callers = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && unaudited.test(readFileSync(resolve(SRC, name), 'utf8')))
      .map((name) => name.split('/')[0])
    expect(new Set(callers)).toEqual(new Set(['admin', 'tenants']))
  })

  it('reach the tools only from the command line and from generators, and what installs packs from there and from their builders', () => {
    const tooling = between.filter(({ to }) => to.startsWith('tools/'))
    expect(tooling.length).toBeGreaterThan(0)
    expect(tooling.filter(({ from }) => from !== 'cli' && from !== GENERATORS).map(show)).toEqual([])
    const installing = between.filter(
      ({ to, target }) => to === 'models' && !relative(MODELS, target).startsWith('pack/'),
    )
    expect(installing.length).toBeGreaterThan(0)
    expect(installing.filter(({ from }) => !MAY_INSTALL_MODELS.includes(from)).map(show)).toEqual([])
    expect(imports.filter(({ from, to }) => to === '' && from !== GENERATORS).map(show)).toEqual([])
  })

  it('give an engine worker, which must start fast after a crash, no package but sharp and onnxruntime-node', () => {
    const seen = new Set<string>()
    const packages = new Set<string>()
    const visit = (file: string): void => {
      if (seen.has(file)) return
      seen.add(file)
      for (const [, specifier] of readFileSync(file, 'utf8').matchAll(/\bfrom\s*'([^']+)'/g))
        if (specifier!.startsWith('.')) visit(resolve(dirname(file), specifier!))
        else if (!specifier!.startsWith('node:')) packages.add(specifier!)
    }
    // Compiled files import no types.
    visit(packageFile('dist', 'src', 'biometrics', 'worker', 'worker.js'))
    expect([...packages].sort()).toEqual(['onnxruntime-node', 'sharp'])
  })
})
