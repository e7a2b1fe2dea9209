/** `countersign tenant show | update | suspend | resume | delete`. */

import type { Command } from 'commander'
import { tenantErasureView } from '../../admin/views.js'
import { loadConfig } from '../../app/configuration.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { answers, UsageError } from '../lib/output.js'
import { assertReached } from '../lib/pack-in-place.js'
import { counted, fields } from '../lib/style.js'
import { withCore } from '../with-core.js'
import {
  type ContractOptions,
  describeSignedRate,
  operate,
  parseFmr,
  parseRateLimit,
  parseReplaceVerdict,
  parseRequirement,
  signedRate,
} from './tenant-options.js'
import { signedOf, signedRateView, tenantSummary, wholeTenantRows, wholeTenantView } from './tenant-view.js'

/** Word that removes a tenant's own rate, so that the configured one holds. */
const CONFIGURED = 'default'

export function registerTenantLifecycle(tenant: Command): void {
  answers(
    tenant
      .command('show <tenant>')
      .description('show the state, contract, keys and number of references of a tenant'),
    (name: string) =>
      withCore(async ({ tenancy, store }, config) => {
        const found = await tenancy.find(name)
        const signed = await signedRate(config, found)
        return wholeTenantView(store.read, found, { now: Date.now(), signed })
      }),
    (view) => fields(wholeTenantRows(view)),
  )

  answers(
    tenant
      .command('update <tenant>')
      .description('change the contract of a tenant; options that are not given stay')
      .option('--rate-limit <n/s>', 'sustained requests per second of the tenant in production, such as 50/s')
      .option(
        '--fmr <rate>',
        `false match rate of its verdicts, such as 1e-5; ${CONFIGURED}: the configured one`,
      )
      .option(
        '--require-liveness <what>',
        `liveness required of its captures: none, passive, active or both; ${CONFIGURED}: the configured value`,
      )
      .option(
        '--replace-verdict <age>',
        'replace a reference only after an approved verification of the user for it, at most this old, such as 10m; none: without one',
      ),
    update,
    (view) =>
      `The contract of ${view.name}: ${view.rate_limit_per_second}/s, ${fmrText(view.fmr)} (${describeSignedRate(signedOf(view))}), ${livenessText(view.require_liveness)}${view.replace_verdict_minutes === null ? '' : `, references replaced with a verdict of at most ${view.replace_verdict_minutes} minutes`}.`,
  )

  answers(
    tenant
      .command('suspend <tenant>')
      .description(
        'refuse every call of a tenant and end its dashboard sessions until it is resumed; nothing is deleted',
      ),
    (name: string) =>
      operate(name, async ({ lifecycle }, found) =>
        tenantSummary(await lifecycle.suspend(found, COMMAND_LINE)),
      ),
    ({ name }) =>
      `${name} is suspended: its calls are refused, its sessions and login links have ended, and all else is kept.`,
  )

  answers(
    tenant.command('resume <tenant>').description('accept the calls of a suspended tenant again'),
    (name: string) =>
      operate(name, async ({ lifecycle }, found) =>
        tenantSummary(await lifecycle.resume(found, COMMAND_LINE)),
      ),
    ({ name }) => `${name} may call again.`,
  )

  answers(
    tenant
      .command('delete <tenant>')
      .description('erase all users, keys and secrets of a tenant permanently; its audit log stays')
      .option('--confirm <name>', 'name of the tenant, to confirm'),
    (name: string, { confirm }: { confirm?: string }) =>
      operate(name, async ({ lifecycle }, found) => {
        if (confirm !== found.name)
          throw new UsageError(
            'not_confirmed',
            `This erases every user of ${found.name} permanently, and from every backup once the next one replaces the keys. To confirm, add --confirm ${found.name}.`,
          )
        return tenantErasureView(found, await lifecycle.delete(found, COMMAND_LINE))
      }),
    ({ erasure_id, erased, erased_at }) =>
      fields([
        ['Receipt', erasure_id],
        [
          'Erased',
          `${counted(erased.users, 'user')}, ${counted(erased.references, 'reference')}, ${counted(erased.captures, 'capture')}`,
        ],
        ['At', erased_at],
      ]),
    ({ name }) =>
      `${name} is deleted. Its audit log stays and records this. Make a backup now: older keys still open what was erased.`,
  )
}

async function update(name: string, options: ContractOptions) {
  const { requireLiveness: required, replaceVerdict } = options
  const changes = [options.rateLimit, options.fmr, required, replaceVerdict]
  if (changes.every((change) => change === undefined))
    throw new UsageError(
      'wrong_usage',
      'Nothing to change. Give --rate-limit, --fmr, --require-liveness or --replace-verdict.',
    )
  const rate = options.rateLimit === undefined ? null : parseRateLimit(options.rateLimit)
  const fmr = options.fmr === undefined || options.fmr === CONFIGURED ? null : parseFmr(options.fmr)
  if (fmr !== null) await assertReached(fmr, loadConfig())
  const liveness = required === undefined || required === CONFIGURED ? null : await parseRequirement(required)
  return operate(name, async ({ tenants }, found, config) => {
    const changed = await tenants.setContract(found, COMMAND_LINE, {
      ratePerSecond: rate ?? found.ratePerSecond,
      fmr: options.fmr === undefined ? found.fmr : fmr,
      requireLiveness: required === undefined ? found.requireLiveness : liveness,
      replaceVerdictMinutes:
        replaceVerdict === undefined ? found.replaceVerdictMinutes : parseReplaceVerdict(replaceVerdict),
    })
    return { ...tenantSummary(changed), ...signedRateView(await signedRate(config, changed)) }
  })
}

function livenessText(required: string | null): string {
  return required === null ? 'liveness as configured' : `liveness required: ${required}`
}

function fmrText(fmr: number | null): string {
  return fmr === null ? 'the configured false match rate' : `a false match rate of ${fmr}`
}
