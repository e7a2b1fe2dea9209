/** A collector of OpenTelemetry traces: takes OTLP over HTTP in JSON and keeps the spans. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  name: string
  kind: number
  /** Nanoseconds since the epoch. */
  start: bigint
  end: bigint
  /** 2 is an error. */
  status: number
  attributes: Record<string, unknown>
}

export interface Collector {
  /** Address of the collector, for OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string
  spans: CollectedSpan[]
  /** Attributes of the service that sent them. */
  resource: Record<string, unknown>
  headers: IncomingHttpHeaders
  /** Everything received, as it was sent. */
  text(): string
  close(): Promise<void>
}

interface KeyValue {
  key: string
  value: Record<string, unknown>
}
interface OtlpSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  status: { code: number }
  attributes: KeyValue[]
}
interface OtlpTraces {
  resourceSpans: Array<{ resource: { attributes: KeyValue[] }; scopeSpans: Array<{ spans: OtlpSpan[] }> }>
}

export async function collector(): Promise<Collector> {
  const bodies: string[] = []
  const collected: Collector = {
    url: '',
    spans: [],
    resource: {},
    headers: {},
    text: () => bodies.join('\n'),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    if (request.url !== '/v1/traces') return response.writeHead(404).end()
    bodies.push(body)
    collected.headers = request.headers
    for (const { resource, scopeSpans } of (JSON.parse(body) as OtlpTraces).resourceSpans) {
      collected.resource = attributesOf(resource.attributes)
      for (const { spans } of scopeSpans) collected.spans.push(...spans.map(spanOf))
    }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  collected.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return collected
}

function spanOf(span: OtlpSpan): CollectedSpan {
  const { traceId, spanId, name, kind } = span
  return {
    traceId,
    spanId,
    parentSpanId: span.parentSpanId || undefined,
    name,
    kind,
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
    status: span.status.code,
    attributes: attributesOf(span.attributes),
  }
}

/** Numbers come as text where they are 64 bits wide. */
function attributesOf(pairs: KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map(({ key, value }) => [
      key,
      'intValue' in value ? Number(value.intValue) : Object.values(value)[0],
    ]),
  )
}
