/**
 * A program that holds the private keys of public verdicts, such as one for a PKCS#11 token or a key management service. This process
 * starts it once and speaks with it over its standard input and output: one JSON document a line, and an answer for each.
 *
 *     {"id":1,"do":"make","label":"vky_…"}                     {"id":1,"x":"…","y":"…"}
 *     {"id":2,"do":"sign","label":"vky_…","digest":"…"}        {"id":2,"signature":"…"}
 *     {"id":3,"do":"forget","label":"vky_…"}                   {"id":3}
 *
 * Values are base64url: the coordinates of a public key on P-256, a SHA-256 of 32 bytes, and r and s with 32 bytes each. An answer with
 * `error` refuses. Answers may come in any order.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { ownValues } from '../../config/own-settings.js'
import type { Config } from '../../config/settings.js'
import { SECOND_MS } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import { VERDICT_KEY_SETTINGS } from './verdict-key-settings.js'
import type { PublicJwk, VerdictSigner } from './verdict-signer.js'

/** A verify waits for its signature meanwhile, outside of any transaction. */
const TIMEOUT_MS = 5 * SECOND_MS
const SIGNATURE_BYTES = 64

type Request = { do: 'make' | 'forget'; label: string } | { do: 'sign'; label: string; digest: string }
interface Answer {
  id: number
  error?: string
  x?: string
  y?: string
  signature?: string
}

export class ExternalSigner {
  private child: ChildProcessByStdio<Writable, Readable, null> | null = null
  private readonly waiting = new Map<number, (outcome: Answer | Error) => void>()
  private lastId = 0

  /** @param command run by the shell; what it writes to standard error goes to this process's */
  constructor(private readonly command: string) {}

  /** Makes a key whose private half stays with the program. @throws Error where the program refuses or does not answer */
  async make(label: string): Promise<PublicJwk> {
    const { x, y } = await this.ask({ do: 'make', label })
    if (typeof x !== 'string' || typeof y !== 'string')
      throw new Error('the verdict signer named no public key')
    return { kty: 'EC', crv: 'P-256', x, y }
  }

  /** @throws Error as `make` */
  async forget(label: string): Promise<void> {
    await this.ask({ do: 'forget', label })
  }

  /** @returns the signature of a text, r and s with 32 bytes each @throws Error as `make` */
  async sign(label: string, input: string): Promise<Buffer> {
    const digest = createHash('sha256').update(input).digest('base64url')
    const { signature = '' } = await this.ask({ do: 'sign', label, digest })
    const bytes = Buffer.from(signature, 'base64url')
    if (bytes.length !== SIGNATURE_BYTES)
      throw new Error(`the verdict signer gave ${bytes.length} bytes, not ${SIGNATURE_BYTES}`)
    return bytes
  }

  private ask(request: Request): Promise<Answer> {
    const id = ++this.lastId
    const child = this.start()
    return new Promise<Answer>((resolve, reject) => {
      const late = new Error('the verdict signer did not answer in 5 s')
      const timer = setTimeout(() => settle(late), TIMEOUT_MS)
      const settle = (outcome: Answer | Error) => {
        clearTimeout(timer)
        this.waiting.delete(id)
        if (outcome instanceof Error) reject(outcome)
        else if (outcome.error === undefined) resolve(outcome)
        else reject(new Error(`the verdict signer refused: ${outcome.error}`))
      }
      this.waiting.set(id, settle)
      child.stdin.write(`${JSON.stringify({ id, ...request })}\n`)
    })
  }

  /** Starts the program when it is first needed, and again after it ended. */
  private start() {
    if (this.child) return this.child
    const child = spawn(this.command, { shell: true, stdio: ['pipe', 'pipe', 'inherit'] })
    const end = (why: string) => {
      if (this.child !== child) return
      this.child = null
      for (const settle of [...this.waiting.values()]) settle(new Error(`the verdict signer ${why}`))
    }
    child.on('error', (error) => end(error.message))
    child.on('exit', (code, signal) => end(`ended with ${code ?? signal}`))
    child.stdin.on('error', () => {})
    createInterface({ input: child.stdout }).on('line', (line) => this.receive(line))
    // The program ends when its input does, and keeps no process of ours alive.
    child.unref()
    for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref(): void }).unref()
    this.child = child
    return child
  }

  private receive(line: string): void {
    try {
      const answer = JSON.parse(line) as Answer
      this.waiting.get(answer.id)?.(answer)
    } catch {
      // A line that is no JSON answers nothing: the request it was for ends by its time limit.
    }
  }
}

/** The configured program; null where the database holds the keys. It is started when it is first needed. */
export function configuredSigner(config: Config): ExternalSigner | null {
  const { verdictSigner } = ownValues(VERDICT_KEY_SETTINGS, config)
  return verdictSigner === undefined ? null : new ExternalSigner(verdictSigner)
}

/** Signs with a key that an external program holds, and gives out only what its public half verifies. */
export class ExternalVerdictSigner implements VerdictSigner {
  private publicKey: KeyObject | undefined

  constructor(
    readonly kid: string,
    readonly publicJwk: PublicJwk,
    private readonly program: ExternalSigner,
  ) {}

  /** @throws DomainError store_unavailable, so that the caller tries again */
  async sign(input: string): Promise<Buffer> {
    try {
      const signature = await this.program.sign(this.kid, input)
      this.publicKey ??= createPublicKey({ key: { ...this.publicJwk }, format: 'jwk' })
      const key = { key: this.publicKey, dsaEncoding: 'ieee-p1363' } as const
      if (!verify('sha256', Buffer.from(input), key, signature))
        throw new Error(
          `the verdict signer gave a signature that the published key ${this.kid} does not verify`,
        )
      return signature
    } catch (cause) {
      throw new DomainError('store_unavailable', { retryAfterMs: SECOND_MS, cause })
    }
  }
}
