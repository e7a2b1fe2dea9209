/** The log: one line a request on stdout. While stdout cannot be written, as on a full disk, lines wait up to a limit and the service goes on. */
import { type Logger, pino } from 'pino'
import type { Config } from '../config/config.js'
import { CodedError } from '../lib/errors.js'

/** Memory for lines that wait; beyond it the newest lines are lost. */
const BACKLOG_BYTES = 16 * 1024 * 1024
/** Longer writes into a pipe may be interleaved with those of other processes (PIPE_BUF of Linux). */
const WHOLE_WRITE_BYTES = 4096

/** Form of each line: level by name, time in RFC 3339 (UTC), error without a needless stack. docs/operations/monitoring.md lists the fields. */
export const LOG_FORM = {
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (level: string) => ({ level }) },
  serializers: { err: describeError },
}

/** A foreseen error is logged without its stack, and with its cause only where its message does not contain it. */
function describeError(error: unknown): unknown {
  if (!(error instanceof CodedError)) return pino.stdSerializers.err(error as Error)
  const { name, code, message, cause } = error
  const why = cause instanceof Error && !message.includes(cause.message) ? { cause: cause.message } : {}
  return { type: name, code, message, ...why }
}

/** @param process name of the process, where several write to one stdout */
export function createLog({ logLevel }: Pick<Config, 'logLevel'>, process?: string): Logger {
  // Asynchronous: under load another thread writes several lines at once.
  const out = pino.destination({
    dest: 1,
    sync: false,
    maxLength: BACKLOG_BYTES,
    ...(process ? { maxWrite: WHOLE_WRITE_BYTES } : {}),
  })
  const log = pino({ level: logLevel, base: process ? { process } : null, ...LOG_FORM }, out)
  const { flushSync } = out
  let lost = 0
  // The next line tries again. At the end of the process nothing may try again: it would never end.
  out.on('error', () => {
    out.flushSync = () => {}
  })
  out.on('drop', () => {
    lost++
  })
  out.on('write', () => {
    out.flushSync = flushSync
    if (lost === 0) return
    const lines = lost
    lost = 0
    log.warn({ lines }, 'log lines were lost while stdout could not be written')
  })
  return log
}
