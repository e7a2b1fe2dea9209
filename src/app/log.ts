/** The log: one line a request on stdout. Where that is a file on a full disk, lines wait and are lost, and the service goes on. */
import { type Logger, pino } from 'pino'
import type { Config } from '../config/config.js'
import { CodedError } from '../lib/errors.js'

/** Lines that wait for a log that cannot be written; beyond it the newest are lost. */
const BACKLOG_BYTES = 16 * 1024 * 1024
/** No more goes into a pipe without what others write there coming in between (PIPE_BUF of Linux): lines stay whole. */
const WHOLE_WRITE_BYTES = 4096

/** How a line says its level (by name), its time (RFC 3339, UTC) and an error. docs/operations.md lists the fields. */
export const LOG_FORM = {
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (level: string) => ({ level }) },
  serializers: { err: describeError },
}

/** An error that was foreseen needs no stack, and its cause only where its own message does not say it. */
function describeError(error: unknown): unknown {
  if (!(error instanceof CodedError)) return pino.stdSerializers.err(error as Error)
  const { name, code, message, cause } = error
  const why = cause instanceof Error && !message.includes(cause.message) ? { cause: cause.message } : {}
  return { type: name, code, message, ...why }
}

/** @param process its name, where several write to one stdout */
export function createLog({ logLevel }: Pick<Config, 'logLevel'>, process?: string): Logger {
  // Written by another thread: under load several lines go out together.
  const out = pino.destination({
    dest: 1,
    sync: false,
    maxLength: BACKLOG_BYTES,
    ...(process ? { maxWrite: WHOLE_WRITE_BYTES } : {}),
  })
  const log = pino({ level: logLevel, base: process ? { process } : null, ...LOG_FORM }, out)
  const { flushSync } = out
  let lost = 0
  // The next line tries again. At the end of the process nothing must: it would try for ever.
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
    log.warn({ lines }, 'lines of the log were lost while it could not be written')
  })
  return log
}
