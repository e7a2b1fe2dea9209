/** Speaks the line protocol of README.md with a driver, the program that calls an SDK. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export interface Command {
  do: string
  name: string
  /** Unix seconds by the SDK's clock. */
  now: number
  request?: unknown
  options?: object
}

/** An SDK's answer to a command. Members that a language leaves out are absent, empty or null. */
export interface Said {
  // biome-ignore lint/suspicious/noExplicitAny: scenarios look into answers freely
  value?: any
  response?: {
    status: number
    attempts: number
    replayed: boolean
    request_id: string
    retry_after_seconds?: number | null
  }
  // biome-ignore lint/suspicious/noExplicitAny: scenarios look into errors freely
  error?: { kind: string; code?: string; message: string; [name: string]: any }
}

export interface Driver {
  say(command: Command): Promise<Said>
  /** Text that a driver prints only where something went wrong. */
  readonly complaints: string
  stop(): Promise<void>
}

/** A program as a driver. */
export class DriverProcess implements Driver {
  readonly #process: ChildProcessWithoutNullStreams
  readonly #lines: AsyncIterator<string>
  #complaints = ''

  constructor(program: string, args: string[]) {
    this.#process = spawn(program, args)
    this.#process.stderr.on('data', (text) => {
      this.#complaints += text
    })
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]()
  }

  async say(command: Command): Promise<Said> {
    this.#process.stdin.write(`${JSON.stringify(command)}\n`)
    const { value, done } = await this.#lines.next()
    if (done) throw new Error(`The driver ended at ${command.do}: ${this.#complaints}`)
    return JSON.parse(value) as Said
  }

  /** The program's stderr. */
  get complaints(): string {
    return this.#complaints
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('close', resolve))
    this.#process.stdin.end()
    await ended
  }
}
