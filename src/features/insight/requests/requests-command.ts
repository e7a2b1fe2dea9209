/** `countersign requests`: the request log of the dashboard, in the shell. */
import type { Command } from 'commander'
import { type Asked, declare, wholeNumberTo } from '../../../cli/lib/command.js'
import type { CommandHost } from '../../../cli/lib/feature-command.js'
import { UsageError } from '../../../cli/lib/output.js'
import { environmentOf } from '../../../cli/lib/sandbox-option.js'
import { listing } from '../../../cli/lib/style.js'
import { LAST_REQUEST_ID, type RequestRecord, requestReader } from './request-table.js'
import { explained, MAX_NAMED, requestFacts, subjectOf } from './request-view.js'

const LIMIT = 20
const MAX_LIMIT = 1000

const OPTIONS = {
  '--id <id>': 'only requests of this request id, verification id or X-Request-Id, in both environments',
  '--user <user>': 'only requests for this user; in production, one who is enrolled',
  '--code <code>': 'only requests that ended with this error code or reason, such as no_match',
  '--sandbox': 'requests of the sandbox instead of production',
  '--limit <n>': {
    does: `how many, newest first, at most ${MAX_LIMIT}`,
    default: String(LIMIT),
    parse: wholeNumberTo(MAX_LIMIT),
  },
} as const

export function registerRequestsCommand(requests: Command, { onTenant }: CommandHost): void {
  declare(requests, '<tenant>', {
    options: OPTIONS,
    async answer({ tenant, ...asked }) {
      if ([asked.id, asked.user, asked.code].filter((one) => one !== undefined).length > 1)
        throw new UsageError('invalid_option', 'Give only one of --id, --user and --code.')
      return onTenant(tenant, async ({ keys, ...core }, { id }) => {
        const records = await found(core, id, asked)
        return records.map((record) => ({ ...requestFacts(record, keys), error: explained(record) }))
      })
    },
    text: (views) =>
      views.length === 0
        ? 'There are no such requests in the log.'
        : listing(
            ['AT', 'REQUEST ID', 'ENDPOINT', 'STATUS', 'VERDICT', 'CODE OR REASON', 'MS'],
            views.map((view) => [
              ...[view.at, view.request_id, view.endpoint, String(view.status)],
              ...[view.verdict ?? '–', view.code ?? '–', String(view.duration_ms)],
            ]),
          ),
    remark(views) {
      const error = views.length === 1 ? views[0]!.error : null
      return error && `${error.message} ${error.remedy}`
    },
  })
}

type Core = Parameters<typeof subjectOf>[0]

async function found(
  core: Core,
  tenantId: string,
  { id, user, code, limit, ...options }: Asked<'', typeof OPTIONS>,
): Promise<RequestRecord[]> {
  const requests = core.store.read.statements(requestReader)
  if (id !== undefined) return requests.named(tenantId, id, Math.min(limit, MAX_NAMED))
  const environment = environmentOf(options)
  const subject = user === undefined ? undefined : await subjectOf(core, tenantId, environment, user)
  // A user who is not enrolled in production has no pseudonym in the log.
  if (subject === null) return []
  return requests.list({
    tenantId,
    environment,
    from: '',
    before: LAST_REQUEST_ID,
    limit,
    ...(subject === undefined ? {} : { subject }),
    ...(code === undefined ? {} : { code }),
  })
}
