/** Traces of requests, sent to a collector. Without this feature, or where no collector is configured, no traces are made. */
import { ownValues } from '../../config/own-settings.js'
import type { Feature } from '../feature.js'
import { TRACING_SETTINGS } from './own.js'

export const tracing: Feature = {
  async open(_, config) {
    const { otlpEndpoint, otelServiceName } = ownValues(TRACING_SETTINGS, config)
    if (!otlpEndpoint) return {}
    const { Tracing } = await import('./tracing.js')
    return {
      attach({ log }) {
        // OpenTelemetry reads the environment itself, where a variable wins over the configuration file.
        for (const [name, value] of Object.entries(config.libraryVariables)) process.env[name] ??= value
        const traces = new Tracing(otlpEndpoint, otelServiceName, log)
        return {
          trace: (request, route) => traces.begin(request, route),
          jobs: { last: [{ start() {}, stop: () => traces.stop() }] },
        }
      },
    }
  },
}
