import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { packageFile } from '../../../src/lib/package-root.js'
import { type Collector, collector } from '../../support/collector.js'
import { poll } from '../../support/command.js'
import { base64, face } from '../../support/faces.js'
import { startService, type TestService, type TestTenant } from '../../support/service.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT_ID = '00f067aa0ba902b7'
const RESPONSE = /^00-([0-9a-f]{32})-([0-9a-f]{16})-(0[01])$/

let spans: Collector
let running: TestService
let tenant: TestTenant
const settings = join(temporaryFolder(), 'countersign.env')

beforeAll(async () => {
  spans = await collector()
  // Standard variables that OpenTelemetry reads directly.
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '20')
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-collector-key=k-123')
  // The environment wins over the file, which may hold them too.
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', undefined)
  writeFileSync(
    settings,
    `OTEL_EXPORTER_OTLP_ENDPOINT=${spans.url}
OTEL_SERVICE_NAME=step-up
OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test
OTEL_BSP_SCHEDULE_DELAY=60000
`,
  )
  running = await startService({ COUNTERSIGN_CONFIG: settings }, { ownEngine: true })
  tenant = await running.tenant()
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await running?.stop()
  await spans?.close()
})

/** The server span that a response names, and its children, as soon as they have arrived. */
async function traceOf({ headers }: { headers: Headers }) {
  const [, traceId, spanId] = RESPONSE.exec(headers.get('traceresponse')!)!
  const server = await poll(
    async () => spans.spans.find((span) => span.spanId === spanId),
    (span) => span !== undefined,
  )
  expect(server!.traceId).toBe(traceId)
  return { server: server!, stages: spans.spans.filter(({ parentSpanId }) => parentSpanId === spanId) }
}

describe('a traced request', () => {
  it("continues the caller's trace with a server span and a child for each stage, in the order of the stages", async () => {
    const response = await tenant.sandbox.call(
      'POST',
      '/v1/verify',
      { user_id: 'u+match', image: base64(await face('ada')), action: 'x' },
      { headers: { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`, tracestate: 'vendor=1' } },
    )
    expect(response.headers.get('traceresponse')).toMatch(new RegExp(`^00-${TRACE_ID}-(?!${PARENT_ID})`))
    const { server, stages } = await traceOf(response)
    expect(server).toMatchObject({
      traceId: TRACE_ID,
      parentSpanId: PARENT_ID,
      name: 'POST /v1/verify',
      // SERVER
      kind: 2,
      status: 0,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/verify',
        'http.response.status_code': 200,
        'url.path': '/v1/verify',
        'url.scheme': 'http',
        'countersign.environment': 'sandbox',
        'countersign.request_id': response.headers.get('x-request-id'),
        'countersign.tenant': tenant.id,
        'countersign.verdict': 'approved',
      },
    })
    const told = response.headers
      .get('server-timing')!
      .split(', ')
      .map((one) => one.split(';')[0])
    expect(stages.map(({ name }) => name)).toEqual(told)
    expect(told).toEqual(expect.arrayContaining(['auth', 'decode', 'store', 'sign']))
    let from = server.start
    for (const { start, end, traceId } of stages) {
      expect(traceId).toBe(TRACE_ID)
      expect(start).toBeGreaterThanOrEqual(from)
      expect(end).toBeGreaterThanOrEqual(start)
      from = end
    }
    expect(server.end).toBeGreaterThanOrEqual(from)
  })

  it('logs the trace of a request', async () => {
    const response = await tenant.sandbox.health()
    const [, traceId] = RESPONSE.exec(response.headers.get('traceresponse')!)!
    const line = running
      .logText()
      .split('\n')
      .find((one) => one.includes(response.headers.get('x-request-id')!))
    expect(JSON.parse(line!).trace_id).toBe(traceId)
  })

  it('keeps the stages of a request with many images inside its span', async () => {
    const production = await running.production(await running.tenant())
    const images = await Promise.all(
      (['ada', 'adaToday', 'ada'] as const).map(async (name) => base64(await face(name))),
    )
    const response = await production.enroll({ user_id: 'ada', images })
    expect(response.status).toBe(201)
    const { server, stages } = await traceOf(response)
    expect(stages.map(({ name }) => name)).toEqual(expect.arrayContaining(['detect', 'align', 'embed']))
    for (const { start, end } of stages) {
      expect(start).toBeGreaterThanOrEqual(server.start)
      expect(end).toBeLessThanOrEqual(server.end)
    }
  })

  it.each([
    ['absent', undefined],
    ['not of this form', 'x'],
    ['of zeros', `00-${'0'.repeat(32)}-${PARENT_ID}-01`],
    ['without a parent', `00-${TRACE_ID}-${'0'.repeat(16)}-01`],
    ['of a forbidden version', `ff-${TRACE_ID}-${PARENT_ID}-01`],
    ['in capitals', `00-${TRACE_ID.toUpperCase()}-${PARENT_ID}-01`],
    ['given twice', `00-${TRACE_ID}-${PARENT_ID}-01, 00-${TRACE_ID}-${PARENT_ID}-01`],
  ])('begins a trace where traceparent is %s', async (_, traceparent) => {
    const headers: Record<string, string> = traceparent ? { traceparent } : {}
    const { server } = await traceOf(await tenant.sandbox.call('GET', '/v1/health', undefined, { headers }))
    expect(server.traceId).not.toBe(TRACE_ID)
    expect(server.parentSpanId).toBeUndefined()
  })

  it('does not record a trace that the caller does not record, and says so in traceresponse', async () => {
    const headers = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-00` }
    const silent = await tenant.sandbox.call('GET', '/v1/health', undefined, { headers })
    const [, traceId, spanId, flags] = RESPONSE.exec(silent.headers.get('traceresponse')!)!
    expect([traceId, flags]).toEqual([TRACE_ID, '00'])
    // Spans are sent in order: once this later one has arrived, the earlier one would have arrived as well.
    await traceOf(await tenant.sandbox.health())
    expect(spans.spans.map((span) => span.spanId)).not.toContain(spanId)
  })

  it('marks a span as an error when the service failed, and not when the caller did', async () => {
    const image = base64(await face('ada'))
    const failed = await traceOf(
      await tenant.sandbox.verify({ user_id: 'u+unavailable', image, action: 'x' }),
    )
    expect(failed.server).toMatchObject({ status: 2, attributes: { 'http.response.status_code': 503 } })
    expect(failed.server.attributes['error.type']).toBe(failed.server.attributes['countersign.code'])
    const refused = await traceOf(await running.anonymous('sandbox').health())
    expect(refused.server).toMatchObject({
      status: 0,
      attributes: { 'http.response.status_code': 401, 'countersign.code': 'missing_api_key' },
    })
    expect(refused.server.attributes).not.toHaveProperty('error.type')
  })

  it('puts no unknown path and no unknown method into a span', async () => {
    const { server } = await traceOf(await tenant.sandbox.call('BREW', `/v1/${tenant.sandboxKey}`))
    expect(server.name).toBe('HTTP')
    expect(server.attributes).toMatchObject({ 'http.request.method': '_OTHER' })
    expect(server.attributes).not.toHaveProperty('url.path')
  })

  it('puts neither user, key, secret, nonce, action nor picture into a span', async () => {
    const image = base64(await face('ada'))
    const request = {
      user_id: 'someone-in-particular+match',
      image,
      action: 'transfer-to-zoe',
      nonce: 'nonce-of-zoe',
    }
    await traceOf(await tenant.sandbox.verify(request))
    await traceOf(await tenant.sandbox.call('DELETE', '/v1/delete?user_id=someone-in-particular'))
    for (const secret of [
      'someone-in-particular',
      'transfer-to-zoe',
      'nonce-of-zoe',
      image.slice(0, 40),
      tenant.sandboxKey,
      tenant.secret.secret,
    ])
      expect(spans.text()).not.toContain(secret)
  })

  it("sends traces under the service's name, with the collector's key and the other standard variables", () => {
    expect(spans.resource).toMatchObject({
      'service.name': 'step-up',
      'service.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
      'deployment.environment.name': 'test',
    })
    expect(spans.headers['x-collector-key']).toBe('k-123')
  })

  it.skipIf(process.platform !== 'linux')(
    "passes none of the collector's settings to the engine process",
    () => {
      const { processId } = running.service.engine.health()
      expect(readFileSync(`/proc/${processId}/environ`, 'utf8')).not.toMatch(/OTEL_|k-123/)
    },
  )
})

describe('without a collector', () => {
  it('answers requests and ends while the configured collector is gone', async () => {
    const gone = await collector()
    await gone.close()
    const service = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: gone.url })
    const { sandbox } = await service.tenant()
    expect((await sandbox.health()).status).toBe(200)
    await service.stop()
  })

  it('traces nothing where no collector is configured', async () => {
    const service = await startService()
    try {
      const { sandbox } = await service.tenant()
      const headers = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` }
      const response = await sandbox.call('GET', '/v1/health', undefined, { headers })
      expect(response.headers.get('traceresponse')).toBeNull()
      expect(service.logText()).not.toContain('trace_id')
    } finally {
      await service.stop()
    }
  })

  it('loads only the bare interface of OpenTelemetry where no collector is configured', async () => {
    const moduleUrl = (name: string) => pathToFileURL(packageFile('dist', 'src', name)).href
    const script = `
      import Module from 'node:module'
      const loaded = () => Object.keys(Module._cache).filter((file) => /@opentelemetry.(?!api.)/.test(file)).length
      await import(${JSON.stringify(moduleUrl('app/service.js'))})
      const before = loaded()
      await import(${JSON.stringify(moduleUrl('features/tracing/tracing.js'))})
      console.log(JSON.stringify({ before, after: loaded() }))
      process.exit()`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
    const { before, after } = JSON.parse(stdout)
    expect(before).toBe(0)
    expect(after).toBeGreaterThan(20)
  })
})
