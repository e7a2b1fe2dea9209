/** The folder of epoch keys, which all services of a database see, and no backup of the database holds. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../config/config-error.js'
import { destroyFile, replaceDurably } from '../durable-file.js'
import { epochKeyId, newEpochKey } from './epoch-key.js'

const ENDING = '.epoch-key'
const WRAPPED_KEYS = 'users.keys'

export class EpochFolder {
  /** Read before: a folder that is out of reach for a while keeps nobody from working. */
  private readonly known = new Map<string, Buffer>()

  constructor(readonly path: string) {}

  /** Where the newest wrapped keys of all users are kept. */
  get wrappedKeysFile(): string {
    return join(this.path, WRAPPED_KEYS)
  }

  /** It is never made here: a volume that is not mounted would go unnoticed. @throws ConfigError */
  assertThere(): void {
    if (!statSync(this.path, { throwIfNoEntry: false })?.isDirectory())
      throw new ConfigError(
        `COUNTERSIGN_EPOCH_KEYS: there is no folder ${this.path}. It is made by whoever installs the service, once for all of its nodes.`,
      )
  }

  /** Null where there is none. @throws Error when what is there is not the key of that id, or cannot be read */
  read(id: string): Buffer | null {
    const known = this.known.get(id)
    if (known) return known
    let text: string
    try {
      text = readFileSync(this.fileOf(id), 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
    const key = Buffer.from(text.trim(), 'base64')
    if (epochKeyId(key) !== id)
      throw new Error(`${this.fileOf(id)} is damaged: it is not the key of its name`)
    this.known.set(id, key)
    return key
  }

  /** Of what was read before, forgets all but these. */
  remember(ids: ReadonlySet<string>): void {
    for (const id of this.known.keys()) if (!ids.has(id)) this.known.delete(id)
  }

  /** On disk when this returns. @returns its id */
  make(): string {
    this.assertThere()
    const key = newEpochKey()
    const id = epochKeyId(key)
    replaceDurably(this.fileOf(id), `${key.toString('base64')}\n`)
    return id
  }

  /** Those of these ids that are there. @returns which they were */
  destroy(ids: ReadonlySet<string>): string[] {
    const found = readdirSync(this.path)
      .filter((name) => name.endsWith(ENDING))
      .map((name) => name.slice(0, -ENDING.length))
      .filter((id) => ids.has(id))
    for (const id of found) destroyFile(this.fileOf(id))
    return found
  }

  private fileOf(id: string): string {
    return join(this.path, `${id}${ENDING}`)
  }
}
