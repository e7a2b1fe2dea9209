/** `countersign tenant show | update | suspend | resume | delete`. */

import type { Command } from 'commander'
import { tenantErasureView } from '../../admin/views.js'
import { loadConfig } from '../../app/configuration.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { action, note, type OutputOptions, print, UsageError } from '../lib/output.js'
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
  tenant
    .command('show <tenant>')
    .description('show the state, contract, keys and number of references of a tenant')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions) => {
        const view = await withCore(async ({ tenancy, store }, config) => {
          const found = await tenancy.find(name)
          return wholeTenantView(store.read, found, {
            now: Date.now(),
            signed: await signedRate(config, found),
          })
        })
        print(options, view, () => fields(wholeTenantRows(view)))
      }),
    )

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
    )
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions & ContractOptions) => {
        const { requireLiveness: required } = options
        const { replaceVerdict } = options
        const changes = [options.rateLimit, options.fmr, required, replaceVerdict]
        if (changes.every((change) => change === undefined))
          throw new UsageError(
            'wrong_usage',
            'Nothing to change. Give --rate-limit, --fmr, --require-liveness or --replace-verdict.',
          )
        const rate = options.rateLimit === undefined ? null : parseRateLimit(options.rateLimit)
        const fmr = options.fmr === undefined || options.fmr === CONFIGURED ? null : parseFmr(options.fmr)
        if (fmr !== null) await assertReached(fmr, loadConfig())
        const liveness =
          required === undefined || required === CONFIGURED ? null : await parseRequirement(required)
        const view = await operate(name, async ({ tenants }, found, config) => {
          const changed = await tenants.setContract(found, COMMAND_LINE, {
            ratePerSecond: rate ?? found.ratePerSecond,
            fmr: options.fmr === undefined ? found.fmr : fmr,
            requireLiveness: required === undefined ? found.requireLiveness : liveness,
            replaceVerdictMinutes:
              replaceVerdict === undefined
                ? found.replaceVerdictMinutes
                : parseReplaceVerdict(replaceVerdict),
          })
          return { ...tenantSummary(changed), ...signedRateView(await signedRate(config, changed)) }
        })
        print(
          options,
          view,
          () =>
            `The contract of ${view.name}: ${view.rate_limit_per_second}/s, ${fmrText(view.fmr)} (${describeSignedRate(signedOf(view))}), ${livenessText(view.require_liveness)}${view.replace_verdict_minutes === null ? '' : `, references replaced with a verdict of at most ${view.replace_verdict_minutes} minutes`}.`,
        )
      }),
    )

  tenant
    .command('suspend <tenant>')
    .description(
      'refuse every call of a tenant and end its dashboard sessions until it is resumed; nothing is deleted',
    )
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions) => {
        const view = await operate(name, async ({ lifecycle }, found) =>
          tenantSummary(await lifecycle.suspend(found, COMMAND_LINE)),
        )
        print(
          options,
          view,
          () =>
            `${view.name} is suspended: its calls are refused, its sessions and login links have ended, and all else is kept.`,
        )
      }),
    )

  tenant
    .command('resume <tenant>')
    .description('accept the calls of a suspended tenant again')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions) => {
        const view = await operate(name, async ({ lifecycle }, found) =>
          tenantSummary(await lifecycle.resume(found, COMMAND_LINE)),
        )
        print(options, view, () => `${view.name} may call again.`)
      }),
    )

  tenant
    .command('delete <tenant>')
    .description('erase all users, keys and secrets of a tenant permanently; its audit log stays')
    .option('--confirm <name>', 'name of the tenant, to confirm')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions & { confirm?: string }) => {
        const receipt = await operate(name, async ({ lifecycle }, found) => {
          if (options.confirm !== found.name)
            throw new UsageError(
              'not_confirmed',
              `This erases every user of ${found.name} permanently, and from every backup once the next one replaces the keys. To confirm, add --confirm ${found.name}.`,
            )
          return tenantErasureView(found, await lifecycle.delete(found, COMMAND_LINE))
        })
        const { erased } = receipt
        print(options, receipt, () =>
          fields([
            ['Receipt', receipt.erasure_id],
            [
              'Erased',
              `${counted(erased.users, 'user')}, ${counted(erased.references, 'reference')}, ${counted(erased.captures, 'capture')}`,
            ],
            ['At', receipt.erased_at],
          ]),
        )
        if (!options.json)
          note(
            `${receipt.name} is deleted. Its audit log stays and records this. Make a backup now: older keys still open what was erased.`,
          )
      }),
    )
}

function livenessText(required: string | null): string {
  return required === null ? 'liveness as configured' : `liveness required: ${required}`
}

function fmrText(fmr: number | null): string {
  return fmr === null ? 'the configured false match rate' : `a false match rate of ${fmr}`
}
