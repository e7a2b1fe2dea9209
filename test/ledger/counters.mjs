/**
 * Loaded before the service: counts the operations of its main thread but for its timers, and sends the counts to each caller of the socket that
 * `COUNTERSIGN_LEDGER_SOCKET` names. Other processes and threads, which inherit the request, count nothing.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { createServer, Socket } from 'node:net'
import { isMainThread, Worker } from 'node:worker_threads'

const path = process.env.COUNTERSIGN_LEDGER_SOCKET
if (isMainThread && path && process.argv.includes('serve')) count(path)

function count(socketPath) {
  delete process.env.COUNTERSIGN_LEDGER_SOCKET
  const counts = {}
  // Work that comes again and again is no part of a call: a slow machine would meet some in every call.
  const repeated = new AsyncLocalStorage()
  const repeat = globalThis.setInterval
  globalThis.setInterval = (task, ...rest) => repeat((...args) => repeated.run(true, task, ...args), ...rest)
  const add = (name, amount = 1) => {
    if (!repeated.getStore()) counts[name] = (counts[name] ?? 0) + amount
  }
  const wrap = (owner, method, note) => {
    const original = owner[method]
    owner[method] = function counted(...args) {
      const result = original.apply(this, args)
      note(this, args, result)
      return result
    }
  }
  const serialize = JSON.stringify
  const require = createRequire(import.meta.url)

  const crypto = require('node:crypto')
  const CRYPTO = {
    hmacs: ['createHmac', 'hkdfSync'],
    hashes: ['createHash', 'hash'],
    ciphers: ['createCipheriv', 'createDecipheriv'],
    signatures: ['sign', 'verify', 'createSign', 'createVerify'],
    random_draws: ['randomBytes', 'randomUUID', 'randomInt', 'randomFillSync', 'randomFill'],
  }
  for (const [name, methods] of Object.entries(CRYPTO))
    for (const method of methods) if (crypto[method]) wrap(crypto, method, () => add(name))
  const { prototype: subtle } = crypto.webcrypto.SubtleCrypto ?? crypto.webcrypto.subtle.constructor
  wrap(subtle, 'digest', () => add('hashes'))
  for (const method of ['sign', 'verify']) wrap(subtle, method, () => add('signatures'))

  wrap(JSON, 'stringify', (_, _args, text) => {
    add('json_serializations')
    add('json_bytes', text?.length ?? 0)
  })
  wrap(JSON, 'parse', () => add('json_parses'))

  // Text counts too: it is written into a buffer, or read from one.
  const copied = (bytes) => add('kib_copied', bytes / 1024)
  wrap(Buffer, 'concat', (_, _args, whole) => copied(whole.length))
  wrap(Buffer, 'from', (_, [source], made) => {
    if (!(source instanceof ArrayBuffer)) copied(made.length)
  })
  wrap(Buffer.prototype, 'copy', (_, _args, bytes) => copied(bytes))
  wrap(Buffer.prototype, 'toString', (_, _args, text) => copied(text.length))
  wrap(Buffer.prototype, 'write', (_, _args, bytes) => copied(bytes))
  const { prototype: typedArray } = Object.getPrototypeOf(Uint8Array)
  wrap(typedArray, 'set', (_, [source]) => copied(source.byteLength ?? source.length))
  wrap(typedArray, 'slice', (_, _args, part) => copied(part.byteLength))

  const Database = require('better-sqlite3')
  const probe = new Database(':memory:')
  const { prototype: statement } = probe.prepare('SELECT 1').constructor
  probe.close()
  for (const method of ['run', 'get', 'all', 'iterate'])
    wrap(statement, method, ({ source, reader }) => {
      if (/^\s*BEGIN/i.test(source)) add('transactions')
      else if (/^\s*(?:COMMIT|ROLLBACK|SAVEPOINT|RELEASE)/i.test(source)) return
      else add(reader ? 'statements_read' : 'statements_written')
    })

  wrap(Worker.prototype, 'postMessage', () => add('messages'))
  wrap(MessagePort.prototype, 'postMessage', () => add('messages'))
  const { prototype: connection } = require('pg').Connection
  for (const method of ['query', 'execute']) wrap(connection, method, () => add('database_statements'))
  for (const method of ['query', 'sync']) wrap(connection, method, () => add('database_round_trips'))

  // The engine's sockets are files; the only one of Node's that leads to a port is the database's.
  wrap(Socket.prototype, 'write', ({ remotePort }, [chunk]) =>
    remotePort ? add('database_kib', (chunk?.length ?? 0) / 1024) : add('socket_writes'),
  )
  // Imports by name get the wrapped functions as well.
  syncBuiltinESMExports()

  createServer((socket) => socket.end(serialize(counts)))
    .listen(socketPath)
    .unref()
}
