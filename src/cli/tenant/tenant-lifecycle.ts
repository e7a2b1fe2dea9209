/** `countersign tenant show | update | suspend | resume | delete`. */
import type { Command } from 'commander'
import { tenantErasureView } from '../../admin/views.js'
import { loadConfig } from '../../app/configuration.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { subcommand } from '../lib/command.js'
import { UsageError } from '../lib/output.js'
import { assertReached } from '../lib/pack-in-place.js'
import { counted, fields } from '../lib/style.js'
import { onLiveTenant, onTenant } from '../with-core.js'
import {
  assertServed,
  describeSignedRate,
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
  subcommand(tenant, 'show <tenant>', {
    does: 'show the state, contract, keys and number of references of a tenant',
    answer: ({ tenant }) =>
      onTenant(tenant, async ({ store }, found, config) => {
        const signed = await signedRate(config, found)
        return wholeTenantView(store.read, found, { now: Date.now(), signed })
      }),
    text: (view) => fields(wholeTenantRows(view)),
  })

  subcommand(tenant, 'update <tenant>', {
    does: 'change the contract of a tenant; options that are not given stay',
    options: {
      '--rate-limit <n/s>': {
        does: 'sustained requests per second of the tenant in production, such as 50/s',
        parse: parseRateLimit,
      },
      '--fmr <rate>': {
        does: `false match rate of its verdicts, such as 1e-5; ${CONFIGURED}: the configured one`,
        parse: (text, option) => (text === CONFIGURED ? null : parseFmr(text, option)),
      },
      '--require-liveness <what>': {
        does: `liveness required of its captures: none, passive, active or both; ${CONFIGURED}: the configured value`,
        parse: (text) => (text === CONFIGURED ? null : parseRequirement(text)),
      },
      '--replace-verdict <age>': {
        does: 'replace a reference only after an approved verification of the user for it, at most this old, such as 10m; none: without one',
        parse: parseReplaceVerdict,
      },
    },
    async answer({ tenant, rateLimit, fmr, requireLiveness, replaceVerdict }) {
      if ([rateLimit, fmr, requireLiveness, replaceVerdict].every((change) => change === undefined))
        throw new UsageError(
          'wrong_usage',
          'Nothing to change. Give --rate-limit, --fmr, --require-liveness or --replace-verdict.',
        )
      if (fmr) await assertReached(fmr, loadConfig())
      if (requireLiveness) await assertServed(requireLiveness)
      return onLiveTenant(tenant, async ({ operations }, found, config) => {
        const changed = await operations.tenants.setContract(found, COMMAND_LINE, {
          ratePerSecond: rateLimit ?? found.ratePerSecond,
          fmr: fmr === undefined ? found.fmr : fmr,
          requireLiveness: requireLiveness === undefined ? found.requireLiveness : requireLiveness,
          replaceVerdictMinutes: replaceVerdict === undefined ? found.replaceVerdictMinutes : replaceVerdict,
        })
        return { ...tenantSummary(changed), ...signedRateView(await signedRate(config, changed)) }
      })
    },
    text: (view) =>
      `The contract of ${view.name}: ${view.rate_limit_per_second}/s, ${fmrText(view.fmr)} (${describeSignedRate(signedOf(view))}), ${livenessText(view.require_liveness)}${view.replace_verdict_minutes === null ? '' : `, references replaced with a verdict of at most ${view.replace_verdict_minutes} minutes`}.`,
  })

  subcommand(tenant, 'suspend <tenant>', {
    does: 'refuse every call of a tenant and end its dashboard sessions until it is resumed; nothing is deleted',
    answer: ({ tenant }) =>
      onLiveTenant(tenant, async ({ operations }, found) =>
        tenantSummary(await operations.lifecycle.suspend(found, COMMAND_LINE)),
      ),
    text: ({ name }) =>
      `${name} is suspended: its calls are refused, its sessions and login links have ended, and all else is kept.`,
  })

  subcommand(tenant, 'resume <tenant>', {
    does: 'accept the calls of a suspended tenant again',
    answer: ({ tenant }) =>
      onLiveTenant(tenant, async ({ operations }, found) =>
        tenantSummary(await operations.lifecycle.resume(found, COMMAND_LINE)),
      ),
    text: ({ name }) => `${name} may call again.`,
  })

  subcommand(tenant, 'delete <tenant>', {
    does: 'erase all users, keys and secrets of a tenant permanently; its audit log stays',
    options: { '--confirm <name>': 'name of the tenant, to confirm' },
    answer: ({ tenant, confirm }) =>
      onLiveTenant(tenant, async ({ operations }, found) => {
        if (confirm !== found.name)
          throw new UsageError(
            'not_confirmed',
            `This erases every user of ${found.name} permanently, and from every backup once the next one replaces the keys. To confirm, add --confirm ${found.name}.`,
          )
        return tenantErasureView(found, await operations.lifecycle.delete(found, COMMAND_LINE))
      }),
    text: ({ erasure_id, erased, erased_at }) =>
      fields([
        ['Receipt', erasure_id],
        [
          'Erased',
          `${counted(erased.users, 'user')}, ${counted(erased.references, 'reference')}, ${counted(erased.captures, 'capture')}`,
        ],
        ['At', erased_at],
      ]),
    remark: ({ name }) =>
      `${name} is deleted. Its audit log stays and records this. Make a backup now: older keys still open what was erased.`,
  })
}

function livenessText(required: string | null): string {
  return required === null ? 'liveness as configured' : `liveness required: ${required}`
}

function fmrText(fmr: number | null): string {
  return fmr === null ? 'the configured false match rate' : `a false match rate of ${fmr}`
}
