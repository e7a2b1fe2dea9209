/**
 * Tries that `config check` and `doctor` make of a configuration, as `serve` would use it: addresses, keys, packs, writing. Most return
 * their problems, a sentence each.
 */
import { randomBytes } from 'node:crypto'
import { accessSync, closeSync, constants, existsSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import { request as secureRequest } from 'node:https'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { loadModelPack, type ModelPack } from '../../../models/pack/model-pack.js'
import { assertLivenessServed, assertMayFollow, assertServable } from '../../../models/pack/pack-grade.js'
import { findCataloguePack } from '../../../tools/pack-builders/catalogue/catalogue.js'
import { databaseOf } from '../../app/database.js'
import {
  type Config,
  ConfigError,
  followingPackDirs,
  type ListenAddress,
  modelPackDir,
  SETTINGS,
  sqliteFile,
} from '../../config/config.js'
import { isThere } from '../../config/is-there.js'
import {
  addressVariable,
  certificateFiles,
  LISTENERS,
  type ListenerName,
} from '../../config/listener-settings.js'
import { isKeyFileUsed, masterKeyId } from '../../crypto/master-key.js'
import { CodedError } from '../../lib/errors.js'
import { nearestFolder } from '../../lib/nearest-folder.js'
import type { ServedModel } from '../../users/foreign-references.js'
import { expectedPack, NOT_BUILT } from '../models/expected-pack.js'

const ANSWER_MS = 2000
const MOST_CHARACTERS = 100_000

/** @returns the problems, and whether a Countersign already listens at the addresses */
export async function tryAddresses(config: Config) {
  const trial = { problems: [] as string[], isServing: false }
  const opened: Server[] = []
  const taken: Array<{ variable: string; address: ListenAddress; place: string }> = []
  try {
    for (const { variable, address, isEncrypted } of addressesOf(config)) {
      const place = `${address.host}:${address.port}`
      const other = taken.find((one) => areOneSocket(one.address, address))
      if (other) {
        trial.problems.push(
          other.place === place
            ? `${variable} and ${other.variable} are both ${place}.`
            : `${variable} (${place}) and ${other.variable} (${other.place}) overlap: a wildcard address takes the port at every address. Give each a port of its own.`,
        )
        continue
      }
      taken.push({ variable, address, place })
      try {
        opened.push(await open(address))
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        if (code !== 'EADDRINUSE') trial.problems.push(`Cannot listen on ${place} (${variable}): ${message}.`)
        else if (await isCountersign(address, isEncrypted)) trial.isServing = true
        else trial.problems.push(`${place} (${variable}) is in use by another program.`)
      }
    }
  } finally {
    await Promise.all(opened.map((server) => new Promise((resolve) => server.close(resolve))))
  }
  return trial
}

/** Checks that the master key opens the database, as far as the database can be read. Creates nothing. */
export function tryMasterKey(config: Config): Promise<string[]> {
  return problemsIn(async () => {
    const { masterKeys: wanted } = await databaseOf(config).inspect()
    if (wanted.length === 0) return
    const { masterKeyOf, missingMasterKey } = await import('../../app/core.js')
    const { wrongMasterKey } = await import('../../keys/find-keys.js')
    if (isKeyFileUsed(config) && !isThere(config.masterKeyFile)) throw missingMasterKey(config, wanted)
    const id = masterKeyId(await masterKeyOf(config))
    if (!wanted.includes(id)) throw wrongMasterKey(wanted, id)
  })
}

/** Checks that `serve` would accept the model pack. Other commands build a missing pack or report it. */
export function tryPack(config: Config): Promise<string[]> {
  return problemsIn(async () => {
    const expected = await expectedPack(config.modelPack, modelPackDir(config))
    const obstacle = expected && packObstacle(expected.pack, config)
    if (obstacle !== null) throw new Error(`${expected!.isThere ? '' : NOT_BUILT}${obstacle}`)
  })
}

/** Checks that `serve` would accept the packs that follow. `serve` builds a missing one, as it does the model pack. */
export async function tryFollowingPacks(config: Config): Promise<string[]> {
  const tries = followingPackDirs(config).map((dir, index) =>
    problemsIn(async () => {
      const isBuilt = findCataloguePack(config.followingPacks[index]!)?.kind === 'built'
      if (isBuilt && !isThere(join(dir, 'pack.json'))) return
      const obstacle = packObstacle(await loadModelPack(dir), config, 'following')
      if (obstacle !== null) throw new Error(obstacle)
    }),
  )
  return (await Promise.all(tries)).flat()
}

/** The model pack that `serve` would serve, or null where that is unknown, as for a pack that cannot be read. */
export async function modelToServe(config: Config): Promise<ServedModel | null> {
  const dir = modelPackDir(config)
  try {
    // A pack that is not built yet is recognized by its name.
    if (!isThere(join(dir, 'pack.json')))
      return findCataloguePack(config.modelPack)?.kind === 'built' ? config.modelPack : null
    return (await loadModelPack(dir)).modelId
  } catch {
    return null
  }
}

/**
 * Sentences that say why `serve` would refuse the pack, or null where it accepts it.
 * @param place of the pack: does it decide, or does it follow?
 */
export function packObstacle(
  pack: ModelPack,
  config: Config,
  place: 'deciding' | 'following' = 'deciding',
): string | null {
  const assertAccepted = place === 'deciding' ? assertServable : assertMayFollow
  try {
    assertAccepted(pack, config.fmr, config.acceptPacks)
    assertLivenessServed(pack, config.requireLiveness, SETTINGS.requireLiveness.variable)
    return null
  } catch (error) {
    if (error instanceof CodedError) return error.message
    throw error
  }
}

async function problemsIn(work: () => unknown): Promise<string[]> {
  try {
    await work()
    return []
  } catch (error) {
    return error instanceof ConfigError ? [...error.problems] : [(error as Error).message]
  }
}

/**
 * Asks the service at the configured admin address for its readiness.
 * @returns reasons and warnings of its /readyz, no reason where it is ready; null where no Countersign answers
 */
export async function askReadiness({ adminListen, adminTlsCert }: Config) {
  // The certificate need not name this address.
  const answer = await ask(adminListen, adminTlsCert !== undefined, '/readyz', { Host: 'localhost' })
  return answer && readinessOf(answer.text)
}

function readinessOf(text: string) {
  type Told = { status?: string; reasons?: string[]; warnings?: string[] }
  try {
    const { status, reasons = [], warnings = [] } = JSON.parse(text) as Told
    return status === 'ready' || status === 'not_ready' ? { reasons, warnings } : null
  } catch {
    return null
  }
}

/** Checks the folders that `serve` writes to, and the database. */
export function tryWriting(config: Config): string[] {
  const problems: string[] = []
  const attempt = (path: string, work: () => void) => {
    try {
      work()
    } catch (error) {
      problems.push(`${path} is not writable: ${(error as Error).message}.`)
    }
  }
  attempt(config.dataDir, () => writeIn(nearestFolder(config.dataDir)))
  const database = config.database.startsWith('sqlite:') ? sqliteFile(config) : null
  if (database) {
    const folder = nearestFolder(dirname(database))
    // SQLite keeps its write-ahead log in the folder of the database.
    if (folder !== nearestFolder(config.dataDir)) attempt(dirname(database), () => writeIn(folder))
    if (existsSync(database)) attempt(database, () => accessSync(database, constants.W_OK))
  }
  return problems
}

/** Opens a PostgreSQL database, which must exist. `serve` creates a SQLite file. */
export function tryDatabase(config: Config): Promise<string[]> {
  return problemsIn(() => databaseOf(config).exists())
}

function addressesOf(config: Config) {
  return LISTENERS.flatMap((listener) => {
    const address = config[`${listener}Listen`]
    return address
      ? [{ variable: addressVariable(listener), address, isEncrypted: isEncrypted(config, listener) }]
      : []
  })
}

/** The two APIs share a certificate, and the metrics are served under that of the dashboard. */
function isEncrypted(config: Config, listener: ListenerName): boolean {
  const isApi = listener === 'production' || listener === 'sandbox'
  return certificateFiles(config, isApi ? 'api' : listener === 'metrics' ? 'admin' : listener) !== undefined
}

/** Whether the second of two addresses could not be opened together with the first. Node's `::` takes the port for IPv4 too. */
function areOneSocket(one: ListenAddress, other: ListenAddress): boolean {
  if (one.port !== other.port || one.port === 0) return false
  const hosts = [one.host, other.host]
  if (one.host === other.host || hosts.includes('::')) return true
  return hosts.includes('0.0.0.0') && hosts.every((host) => !host.includes(':'))
}

function open(address: ListenAddress): Promise<Server> {
  return new Promise((resolve, reject) => {
    // This server answers nobody: an open connection would keep it from closing.
    const server = createServer((socket) => socket.destroy())
    server.once('error', reject)
    server.listen({ ...address, exclusive: true }, () => resolve(server))
  })
}

/** Recognizes a Countersign by its answer to an unknown path, in the API's words or in those of dashboard, metrics and capture page. */
async function isCountersign(address: ListenAddress, isEncrypted: boolean): Promise<boolean> {
  const answer = await ask(address, isEncrypted, '/v1')
  return (
    answer !== null &&
    (answer.headers['x-svc-signature'] !== undefined || answer.text === 'There is no such page.\n')
  )
}

/** Gets a path from the program that listens at an address. @returns null where nothing answers in time */
function ask(
  { host, port }: ListenAddress,
  isEncrypted: boolean,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ headers: IncomingHttpHeaders; text: string } | null> {
  const where = { host: reachable(host), port, path, headers }
  const options = { ...where, timeout: ANSWER_MS, rejectUnauthorized: false }
  return new Promise((resolve) => {
    const asked = (isEncrypted ? secureRequest : request)(options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        // Another program may answer without end.
        if (text.length < MOST_CHARACTERS) text += chunk
      })
      response.on('close', () => resolve({ headers: response.headers, text }))
    })
    asked.on('timeout', () => asked.destroy())
    asked.on('error', () => resolve(null))
    asked.end()
  })
}

function reachable(host: string): string {
  return host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
}

/** Writes a file: only that shows a full disk or a read-only file system. */
function writeIn(folder: string): void {
  const probe = join(folder, `.countersign-${randomBytes(8).toString('hex')}`)
  const descriptor = openSync(probe, 'wx', 0o600)
  try {
    writeSync(descriptor, '.')
  } finally {
    closeSync(descriptor)
    unlinkSync(probe)
  }
}
