/** Webhooks of a service in tests: the operations on them, the outbox, which opens bodies of deliveries, and a receiver. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll } from 'vitest'
import type { Service } from '../../src/app/service.js'
import { Outbox } from '../../src/features/webhooks/outbox.js'
import { WebhookOperations } from '../../src/features/webhooks/webhook-operations.js'

type Running = Pick<Service, 'core' | 'clock'>

export const webhooksOf = ({ core, clock }: Running) => new WebhookOperations({ ...core, clock })
export const outboxOf = ({ core, clock }: Running) => new Outbox({ ...core, clock })

/** Receives webhooks until the tests of the file are over. @returns its address, without a path, and what cuts its connections */
export async function receiverOfFile(
  handle: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<{ url: string; cut: () => void }> {
  const server = createServer(async (request, response) => handle(request, response, await text(request)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => server.closeAllConnections()
  afterAll(() => {
    cut()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut }
}
