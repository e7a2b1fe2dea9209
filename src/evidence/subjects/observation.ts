/** Judges what can be seen afterwards and while it happens: audit log, log, metrics, clocks. */
import { always, type Evidence, judged, met, notMet, partly } from '../evidence.js'

export const auditLog: Evidence = always(
  partly(
    'Every production call and act is in a hash-chained log, verified daily. Only an anchor that you keep elsewhere shows that all of it was put back.',
  ),
  {
    tests: [
      'test/audit/audit-log.test.ts',
      'test/audit/break.test.ts',
      'test/jobs/audit-verification.test.ts',
      'test/cli/audit.test.ts',
    ],
    documents: ['operations/audit-log.md'],
  },
)

export const logging: Evidence = judged(
  ({ config }) =>
    ['silent', 'fatal', 'error', 'warn'].includes(config.logLevel)
      ? notMet(
          `The log's level is ${config.logLevel}: refused keys and single requests are not in it.`,
          'logLevel',
        )
      : met(
          'The log has each request with key id and address, refused keys included, and never a secret, user id or photo.',
        ),
  {
    settings: ['logLevel'],
    tests: [
      'test/app/logging.test.ts',
      'test/http/observation/request-log.test.ts',
      'test/http/errors.test.ts',
    ],
    documents: ['operations/monitoring.md#log-lines', 'operations/monitoring.md#request-lines'],
  },
)

export const monitoring: Evidence = always(
  partly(
    'Metrics, alert rules and a runbook for each reason come with it. Loading the rules and answering the alerts is yours.',
  ),
  {
    tests: [
      'test/http/metrics/metrics.test.ts',
      'test/deployment/monitoring.test.ts',
      'test/deployment/runbooks.test.ts',
    ],
    documents: ['operations/monitoring.md', 'operations/runbooks.md'],
  },
)

export const clocks: Evidence = always(
  partly(
    "A clock that jumps or differs from the other nodes is reported, and nothing ended comes back. Keeping it right is the machine's.",
  ),
  {
    tests: ['test/jobs/clock-watch.test.ts', 'test/faults/clock.test.ts'],
    documents: ['operations/runbooks.md#wrong_clock', 'operations/runbooks.md#clock_jumped'],
  },
)
