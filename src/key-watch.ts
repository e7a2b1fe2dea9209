/** Takes over new working keys while the service runs: within a second of their change, long before the old ones are forgotten. */
import type { Logger } from 'pino'
import { SECOND_MS } from './clock.js'
import type { Config } from './config.js'
import { loadMasterKey } from './crypto/master-key.js'
import { findKeys, type Ledger } from './ledger.js'
import type { KeyringRecord } from './storage/records.js'

export const KEY_WATCH_MS = SECOND_MS

export class KeyWatch {
  private timer: NodeJS.Timeout | null = null
  private seen: string | null = null
  private masterKey: Buffer

  constructor(
    private readonly ledger: Pick<Ledger, 'store' | 'keys' | 'masterKey'>,
    private readonly config: Config,
    private readonly log: Logger,
  ) {
    this.masterKey = ledger.masterKey
  }

  async start(): Promise<void> {
    this.seen = fingerprint(await this.ledger.store.read.keyrings())
    this.timer = setInterval(() => void this.look(), KEY_WATCH_MS).unref()
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer)
  }

  /** Never rejects. */
  async look(): Promise<void> {
    try {
      const now = fingerprint(await this.ledger.store.read.keyrings())
      if (now === this.seen) return
      Object.assign(this.ledger.keys, await this.load())
      this.seen = now
      this.log.info({ phase: this.ledger.keys.phase }, 'the working keys were changed')
    } catch (err) {
      this.log.error({ err }, 'the working keys cannot be read: configure the new master key and restart')
    }
  }

  /** The master key may have been replaced in its file; where it comes from outside, the service was restarted with the new one. */
  private async load() {
    try {
      return await findKeys(this.ledger.store.read, this.masterKey)
    } catch {
      const masterKey = loadMasterKey(this.config)
      const keys = await findKeys(this.ledger.store.read, masterKey)
      this.masterKey = masterKey
      return keys
    }
  }
}

function fingerprint(keyrings: KeyringRecord[]): string {
  return keyrings.map(({ masterKeyId, sealed }) => `${masterKeyId}:${sealed.toString('base64')}`).join(' ')
}
