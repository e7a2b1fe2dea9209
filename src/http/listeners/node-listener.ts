/** The listener of node:http and node:https. It serves where uWebSockets.js has no binary, by the same rules (`node-server.ts`). */
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https'
import type { AddressInfo, ListenOptions } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { MAX_HEAD_BYTES } from './framing.js'
import { addressError, certificateError, type Listener, type ListenerOptions } from './listener.js'
import { NodeServer } from './node-server.js'
import type { TlsFiles } from './tls-files.js'
import { NODE_SUITES } from './tls-suites.js'

/** Interval at which Node checks its time limits. */
const CHECK_MS = 1000

/** @throws ListenError when the address is in use or the certificate does not load. */
export async function listenOnNode(options: ListenerOptions): Promise<Listener> {
  const { address, tls, sharesPort: reusePort = false } = options
  const server = makeServer(options)
  const connections = new NodeServer(server, options)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(addressError(address, cause)))
    // The types are those of the oldest supported Node, which does not know `reusePort`.
    const where: ListenOptions & { reusePort: boolean } = { ...address, exclusive: true, reusePort }
    server.listen(where, resolve)
  })
  // A connection that cannot be accepted for want of file descriptors: nothing can be sent to its caller.
  server.on('error', () => {})
  return {
    address: { host: address.host, port: (server.address() as AddressInfo).port },
    encrypted: tls !== undefined,
    async renewCertificate(files) {
      try {
        ;(server as SecureServer).setSecureContext(readCertificate(files))
      } catch (cause) {
        throw certificateError(files, cause)
      }
    },
    retire: () => connections.retire(),
    close: (patienceMs) => connections.close(patienceMs),
  }
}

function makeServer({
  tls,
  limits,
  maxHeadBytes = MAX_HEAD_BYTES,
  clientCertificates = 'none',
}: ListenerOptions): Server {
  const options = {
    maxHeaderSize: maxHeadBytes,
    headersTimeout: limits.headMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.idleMs,
    connectionsCheckingInterval: CHECK_MS,
    // `readHeaders` refuses a request without Host, and the service signs the refusal.
    requireHostHeader: false,
    insecureHTTPParser: false,
  }
  if (!tls) return createServer(options)
  try {
    return createSecureServer({
      ...options,
      handshakeTimeout: limits.headMs,
      // Where no certificate is required, one that no authority of the listener issued counts as none.
      requestCert: tls.clientCaFile !== undefined && clientCertificates !== 'none',
      rejectUnauthorized: clientCertificates === 'require',
      ...readCertificate(tls),
    })
  } catch (cause) {
    throw certificateError(tls, cause)
  }
}

function readCertificate({ certFile, keyFile, clientCaFile }: TlsFiles): SecureContextOptions {
  return {
    minVersion: 'TLSv1.2',
    ciphers: NODE_SUITES,
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
    ...(clientCaFile ? { ca: readFileSync(clientCaFile) } : {}),
  }
}
