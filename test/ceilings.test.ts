/**
 * The weight of the house, which may only fall: the table in test/ceilings.md has a ceiling for each measure. A change that needs a higher
 * one has to say so in that table; one that makes the house lighter lowers it, so that nothing that was saved is spent again unseen.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { markdownTable } from '../src/lib/markdown-table.js'
import { packageFile } from '../src/lib/package-root.js'

const PAGE = packageFile('test', 'ceilings.md')
const TABLE = /(?<=<!-- ceilings -->\n)[\s\S]*?(?=\n<!-- \/ceilings -->)/
/** Lines are rounded up to this number, so that a line more is no event. */
const STEP = 100
/** A ceiling of which less than this part is used has to be lowered. */
const SETTLED = 0.98
/** A compiled module's imports that are followed when it is loaded. Types are gone, and `import()` waits until it is needed. */
const LOADED = /^(?:import|export)\b[^'"]*?from ['"](\.[^'"]+)['"]|^import ['"](\.[^'"]+)['"]/gm
/** Rooms that are not the service's core: console, and the contract that pages share with it. */
const OUTSIDE = ['admin', 'cli', 'contract', 'dashboard']
/** The lists in which a further feature writes a line or an entry, and which weigh nothing therefore. */
const LISTS = ['contract/error-codes.ts', 'audit/audit-events.ts'].map((name) => packageFile('src', name))

const FEATURES = packageFile('src', 'features')
const ALL = 'All of `src` but features, without what is generated'
const CORE = 'Its core: all but console, pages and contract'
/** Folders of features, by the names of their measures. A new one gets its ceiling when the table is written. */
const FOLDERS = readdirSync(FEATURES, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => [`Feature \`${name}\``, join(FEATURES, name)] as const)
/** Measures whose files are not counted: to split one makes nothing heavier. */
const WHOLE = [ALL, CORE, ...FOLDERS.map(([name]) => name)]

type Weight = { files: number | null; lines: number }
const NOT_HELD = '–'

/** The hand-written sources of TypeScript in src. */
function sources(): string[] {
  const root = packageFile('src')
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => join(root, name))
    .filter((file) => /\.tsx?$/.test(file) && !/^\/[/*]+\s*Generated\b/i.test(readFileSync(file, 'utf8')))
}

/** The sources that no feature makes heavier. */
const weighed = (files: string[]) =>
  files.filter((file) => !file.startsWith(FEATURES) && !LISTS.includes(file))

/** The sources of what is loaded with modules of the build, themselves included. */
function loadedWith(...modules: string[]): string[] {
  const found = new Set<string>()
  const follow = (file: string) => {
    if (found.has(file)) return
    found.add(file)
    for (const [, from, bare] of readFileSync(file, 'utf8').matchAll(LOADED))
      follow(resolve(dirname(file), from ?? bare!))
  }
  for (const module of modules) follow(packageFile('dist', module))
  return weighed(
    [...found].map((file) => packageFile(relative(packageFile('dist'), file).replace(/\.js$/, '.ts'))),
  )
}

function weigh(name: string, files: readonly string[]): Weight {
  return { files: WHOLE.includes(name) ? null : files.length, lines: Math.ceil(linesOf(files) / STEP) * STEP }
}

function linesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0)
}

/** The folder with the most files, and the most lines of those with as many. */
function fullestFolder(): string[] {
  const folders = new Map<string, string[]>()
  for (const file of sources()) folders.set(dirname(file), [...(folders.get(dirname(file)) ?? []), file])
  return [...folders.values()].sort((a, b) => b.length - a.length || linesOf(b) - linesOf(a))[0]!
}

const measures: Record<string, () => string[]> = {
  [ALL]: () => weighed(sources()),
  [CORE]: () =>
    weighed(sources()).filter((file) => !OUTSIDE.includes(relative(packageFile('src'), file).split('/')[0]!)),
  'The fullest folder': fullestFolder,
  'Loaded by the service with the dashboard': () =>
    loadedWith('src/app/service.js', 'src/dashboard/feature.js'),
  'Loaded by the service without any feature': () => loadedWith('src/app/service.js'),
  'Reached by a request up to its endpoint': () => loadedWith('src/http/api-server.js'),
  'Reached by a verify': () => loadedWith('src/api/endpoints/verify.js'),
  'Reached by an enrollment': () => loadedWith('src/api/endpoints/enroll.js'),
  'Reached by an erasure': () => loadedWith('src/api/endpoints/delete.js'),
  ...Object.fromEntries(
    FOLDERS.map(([name, folder]) => [name, () => sources().filter((file) => file.startsWith(`${folder}/`))]),
  ),
}

/** The ceilings of the page, by measure. */
function ceilings(): Map<string, Weight> {
  const [, , ...rows] = TABLE.exec(readFileSync(PAGE, 'utf8'))![0].split('\n')
  return new Map(
    rows.map((row) => {
      const [, name, files, lines] = row.split('|').map((cell) => cell.trim())
      const lineCount = Number(lines!.replaceAll(',', ''))
      return [name!, { files: files === NOT_HELD ? null : Number(files), lines: lineCount }]
    }),
  )
}

const weights = Object.entries(measures).map(([name, files]) => ({ name, weight: weigh(name, files()) }))
if (process.env.UPDATE_DOCS === '1') {
  const rows = weights.map(({ name, weight }) => {
    const { files, lines } = ceilings().get(name) ?? weight
    const fewest = weight.files === null ? NOT_HELD : String(Math.min(weight.files, files ?? weight.files))
    return [name, fewest, Math.min(weight.lines, lines).toLocaleString('en-US')]
  })
  const table = markdownTable(['Measure', 'Files', 'Lines'], rows)
  writeFileSync(PAGE, readFileSync(PAGE, 'utf8').replace(TABLE, table))
}

it.each(weights)('$name: weighs no more than test/ceilings.md allows', ({ name, weight }) => {
  const ceiling = ceilings().get(name)!
  expect(weight.files ?? 0).toBeLessThanOrEqual(ceiling.files ?? 0)
  expect(weight.lines).toBeLessThanOrEqual(ceiling.lines)
})

it.each(weights)('$name: has a ceiling that was lowered when it became lighter', ({ name, weight }) => {
  const ceiling = ceilings().get(name)!
  expect(weight.files ?? 0).toBeGreaterThanOrEqual(Math.floor((ceiling.files ?? 0) * SETTLED))
  expect(weight.lines).toBeGreaterThanOrEqual(ceiling.lines * SETTLED)
})

it('has a ceiling for each measure and for nothing else', () => {
  expect([...ceilings().keys()]).toEqual(Object.keys(measures))
})
