/** Remembers used verdicts in Redis, for the processes of one application. */
import type { ReplayStore } from './replay-store.js'

/** A client of `ioredis`, or one of `redis` (node-redis). */
export type RedisCommands =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(args: string[]): Promise<unknown> }

/**
 * Remembers used verdicts in Redis, until they expire.
 * @example
 * new Countersign({ ...options, replayStore: new RedisReplayStore(redis) })
 */
export class RedisReplayStore implements ReplayStore {
  /** @param prefix what each key begins with */
  constructor(
    private readonly client: RedisCommands,
    private readonly prefix = 'countersign:used:',
  ) {}

  async consume(jti: string, expiresAt: number, signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted()
    const leftMs = Math.max(1, Math.ceil(expiresAt * 1000 - Date.now()))
    const args = [this.prefix + jti, '1', 'NX', 'PX', String(leftMs)]
    // A client of ioredis has `sendCommand` as well, with another meaning.
    const reply =
      'call' in this.client
        ? await this.client.call('SET', ...args)
        : await this.client.sendCommand(['SET', ...args])
    return reply !== null
  }
}
