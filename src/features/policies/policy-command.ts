/** `countersign policy`: what an approval of an action needs, for a tenant. A running service obeys a change from the next verdict on. */
import type { Command } from 'commander'
import { commandsOn, declare } from '../../cli/lib/command.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { CommandError } from '../../cli/lib/output.js'
import { assertReached } from '../../cli/lib/pack-in-place.js'
import { readInput } from '../../cli/lib/read-input.js'
import { environmentOf } from '../../cli/lib/sandbox-option.js'
import { fields, listing } from '../../cli/lib/style.js'
import { type ActionPolicy, type PolicyRule, ruleFor } from '../../contract/action-policy.js'
import { requirementsInWords } from '../../contract/policy-words.js'
import { isoTime } from '../../lib/clock.js'
import { parsePolicy } from './policy.js'
import {
  actionIn,
  environmentsOf,
  PolicyOperations,
  policiesInForce,
  versionViews,
} from './policy-operations.js'

export function registerPolicyCommands(policy: Command, host: CommandHost): void {
  const { tenantCommand } = commandsOn(host)
  tenantCommand(policy, 'show <tenant> [hash]', {
    does: 'print the policy in force, or the version whose hash a verdict or an audit entry names',
    options: { '--sandbox': 'the policy of the sandbox' },
    json: 'print JSON, with the hash',
    async answer({ tenant, ...core }, { hash, ...options }) {
      const asked = hash ?? policiesInForce(tenant)[environmentOf(options)]
      if (asked === null) return { policy_hash: null, first_set_at: null, policy: null }
      const version = await new PolicyOperations(core).version(tenant, asked)
      return {
        policy_hash: version.hash,
        first_set_at: isoTime(version.firstSetAt),
        policy: JSON.parse(version.policy) as ActionPolicy,
      }
    },
    text: ({ policy }) => (policy ? JSON.stringify(policy, null, 2) : NO_POLICY),
  })

  declare(policy, 'set <tenant>', {
    does: 'put a policy in force, in production and in the sandbox',
    options: {
      '--file <file>': { does: 'JSON file with the rules', required: true },
      '--sandbox': 'in the sandbox only, to try it',
    },
    async answer({ tenant, file, sandbox }) {
      const { policy: given } = parsePolicy((await readInput(file)).toString())
      await assertRatesReached(given, host)
      return change(host, tenant, given, sandbox)
    },
    text: ({ name, policy_hash }, { sandbox }) =>
      `${where(sandbox)}, ${name} obeys policy ${policy_hash.sandbox} from the next verdict on.`,
  })

  declare(policy, 'clear <tenant>', {
    does: 'take the policy out of force, in production and in the sandbox',
    options: { '--sandbox': 'in the sandbox only' },
    answer: ({ tenant, sandbox }) => change(host, tenant, null, sandbox),
    text: ({ name }, { sandbox }) => `${where(sandbox)}, ${name} has no policy from the next verdict on.`,
  })

  declare(policy, 'check <tenant>', {
    does: 'show which rule decides about an action, and what it asks of an approval',
    options: {
      '--action <file>': {
        does: 'file with the action, as the backend sends it in `action`',
        required: true,
      },
      '--file <file>': 'a policy that is not in force yet',
      '--sandbox': 'the policy of the sandbox',
    },
    async answer({ tenant, action, file, ...options }) {
      const asked = (await readInput(action)).toString().trim()
      if (asked === '') throw new CommandError('file_unreadable', `${action} is empty.`)
      return host.onTenant(tenant, async (core, found) => {
        const hash = policiesInForce(found)[environmentOf(options)]
        if (file === undefined && hash === null) return { policy_hash: null, rule: null, require: null }
        const text =
          file === undefined
            ? (await new PolicyOperations(core).version(found, hash!)).policy
            : (await readInput(file)).toString()
        const version = parsePolicy(text)
        const rule = ruleFor(version.policy, actionIn(asked))
        return { policy_hash: version.hash, rule: rule.name, require: rule.require }
      })
    },
    text: ({ rule, require }) =>
      require === null ? NO_POLICY : fields([['Rule', rule], ...rowsOf(require)]),
  })

  tenantCommand(policy, 'history <tenant>', {
    does: 'list every version that was ever in force, the latest first',
    answer: async ({ store, tenant }) =>
      (await versionViews(store.read, tenant)).map(({ hash, ...view }) => ({ policy_hash: hash, ...view })),
    text: (views) =>
      listing(
        ['HASH', 'FIRST SET', 'IN FORCE', 'RULES'],
        views.map(({ policy_hash, first_set_at, in_force, rules }) => [
          ...[policy_hash, first_set_at, in_force.join(', ') || '–', String(rules)],
        ]),
      ),
  })
}

const NO_POLICY = 'No policy: the contract decides.'
const where = (sandbox: boolean) => (sandbox ? 'In the sandbox' : 'In production and in the sandbox')

function change(host: CommandHost, name: string, policy: ActionPolicy | null, isSandboxOnly: boolean) {
  return host.onLiveTenant(name, async (core, tenant) => {
    const environments = environmentsOf(isSandboxOnly)
    const { previous, now } = await new PolicyOperations(core).set(tenant, core.actor, policy, environments)
    return { tenant_id: tenant.id, name: tenant.name, policy_hash: now, previous }
  })
}

/** A rate that the installed pack does not reach would refuse every approval. @throws PackGradeError fmr_not_reached */
async function assertRatesReached({ rules }: ActionPolicy, host: CommandHost): Promise<void> {
  for (const { require } of rules)
    if (require.max_fmr !== undefined) await assertReached(require.max_fmr, await host.loadConfig())
}

function rowsOf(required: PolicyRule['require']): Array<readonly [string, string]> {
  const rows = requirementsInWords(required)
  return rows.length > 0 ? rows : [['Requirements', 'none beyond the contract']]
}
