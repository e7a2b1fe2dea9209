/** `countersign requests`: the request log of the dashboard, in the shell. */
import type { Command } from 'commander'
import type { CommandHost } from '../../../cli/lib/feature-command.js'
import { answers, UsageError } from '../../../cli/lib/output.js'
import { environmentOf, type SandboxOption } from '../../../cli/lib/sandbox-option.js'
import { listing } from '../../../cli/lib/style.js'
import { LAST_REQUEST_ID, type RequestRecord, requestReader } from './request-table.js'
import { explained, MAX_NAMED, requestFacts, subjectOf } from './request-view.js'

interface RequestsOptions extends SandboxOption {
  id?: string
  user?: string
  code?: string
  limit: string
}

const LIMIT = 20
const MAX_LIMIT = 1000

export function registerRequestsCommand(requests: Command, { withCore }: CommandHost): void {
  answers(
    requests
      .option(
        '--id <id>',
        'only requests of this request id, verification id or X-Request-Id, in both environments',
      )
      .option('--user <user>', 'only requests for this user; in production, one who is enrolled')
      .option('--code <code>', 'only requests that ended with this error code or reason, such as no_match')
      .option('--sandbox', 'requests of the sandbox instead of production')
      .option('--limit <n>', `how many, newest first, at most ${MAX_LIMIT}`, String(LIMIT)),
    async (name: string, options: RequestsOptions) => {
      const limit = limitOf(options.limit)
      if ([options.id, options.user, options.code].filter((one) => one !== undefined).length > 1)
        throw new UsageError('invalid_option', 'Give only one of --id, --user and --code.')
      return withCore(async ({ keys, ...core }) => {
        const { id } = await core.tenancy.find(name)
        const records = await found(core, id, options, limit)
        return records.map((record) => ({ ...requestFacts(record, keys), error: explained(record) }))
      })
    },
    (views) =>
      views.length === 0
        ? 'There are no such requests in the log.'
        : listing(
            ['AT', 'REQUEST ID', 'ENDPOINT', 'STATUS', 'VERDICT', 'CODE OR REASON', 'MS'],
            views.map((view) => [
              view.at,
              view.request_id,
              view.endpoint,
              String(view.status),
              view.verdict ?? '–',
              view.code ?? '–',
              String(view.duration_ms),
            ]),
          ),
    (views) => {
      const error = views.length === 1 ? views[0]!.error : null
      return error && `${error.message} ${error.remedy}`
    },
  )
}

type Core = Parameters<typeof subjectOf>[0]

async function found(
  core: Core,
  tenantId: string,
  { id, user, code, ...options }: RequestsOptions,
  limit: number,
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

/** @throws UsageError invalid_option */
function limitOf(text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_LIMIT) return Number(text)
  throw new UsageError(
    'invalid_option',
    `--limit is "${text}"; expected a whole number from 1 to ${MAX_LIMIT}.`,
  )
}
