/** The settings of tracing, which are known without loading it. */
import { baseUrl, text } from '../../config/parsers.js'
import { optional, setting } from '../../config/setting.js'
import type { OwnParts } from '../feature.js'

export const TRACING_SETTINGS = {
  group: 'Log, metrics and traces',
  settings: {
    otlpEndpoint: {
      ...optional(
        '',
        'Base URL of an OpenTelemetry collector, to which traces are sent by OTLP over HTTP. Default: none; no traces are made.',
        baseUrl,
      ),
      variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    },
    otelServiceName: {
      ...setting('', 'countersign', 'Name of the service in traces.', text),
      variable: 'OTEL_SERVICE_NAME',
    },
  },
  libraryPrefix: 'OTEL_',
}

export const TRACING: OwnParts = { settings: TRACING_SETTINGS }
