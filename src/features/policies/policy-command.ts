/** `countersign policy`: what an approval of an action needs, for a tenant. A running service obeys a change from the next verdict on. */
import type { Command } from 'commander'
import type { Core } from '../../admin/core.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { action, CommandError, type OutputOptions, print } from '../../cli/lib/output.js'
import { assertReached } from '../../cli/lib/pack-in-place.js'
import { readInput } from '../../cli/lib/read-input.js'
import { fields, listing } from '../../cli/lib/style.js'
import type { Environment } from '../../config/config.js'
import { type ActionPolicy, type PolicyRule, ruleFor } from '../../contract/action-policy.js'
import { requirementsInWords } from '../../contract/policy-words.js'
import { isoTime, systemClock } from '../../lib/clock.js'
import { checkedPolicy, parsePolicy } from './policy.js'
import { type PoliciesInForce, PolicyOperations, policiesInForce } from './policy-operations.js'
import { policyReader } from './policy-table.js'

const BOTH: readonly Environment[] = ['production', 'sandbox']
const SANDBOX: readonly Environment[] = ['sandbox']

interface SandboxOption extends OutputOptions {
  sandbox?: boolean
}

export function registerPolicyCommands(policy: Command, host: CommandHost): void {
  const { withCore } = host
  policy
    .command('show <tenant> [hash]')
    .description('print the policy in force, or the version whose hash a verdict or an audit entry names')
    .option('--sandbox', 'the policy of the sandbox')
    .option('--json', 'print JSON, with the hash')
    .action(
      action(async (name: string, hash: string | undefined, options: SandboxOption) => {
        const view = await withCore(async (core) => {
          const tenant = await core.tenancy.find(name)
          const asked = hash ?? policiesInForce(tenant)[environmentOf(options)]
          if (asked === null) return { policy_hash: null, first_set_at: null, policy: null }
          const version = await operationsOf(core).version(tenant, asked)
          return {
            policy_hash: version.hash,
            first_set_at: isoTime(version.firstSetAt),
            policy: JSON.parse(version.policy) as ActionPolicy,
          }
        })
        print(options, view, () =>
          view.policy ? JSON.stringify(view.policy, null, 2) : 'No policy: the contract decides.',
        )
      }),
    )

  policy
    .command('set <tenant>')
    .description('put a policy in force, in production and in the sandbox')
    .requiredOption('--file <file>', 'JSON file with the rules')
    .option('--sandbox', 'in the sandbox only, to try it')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: SandboxOption & { file: string }) => {
        const { policy: given } = parsePolicy((await readInput(options.file)).toString())
        await assertRatesReached(given, host)
        await change(name, given, options, host)
      }),
    )

  policy
    .command('clear <tenant>')
    .description('take the policy out of force, in production and in the sandbox')
    .option('--sandbox', 'in the sandbox only')
    .option('--json', 'print JSON')
    .action(action(async (name: string, options: SandboxOption) => change(name, null, options, host)))

  policy
    .command('check <tenant>')
    .description('show which rule decides about an action, and what it asks of an approval')
    .requiredOption('--action <file>', 'file with the action, as the backend sends it in `action`')
    .option('--file <file>', 'a policy that is not in force yet')
    .option('--sandbox', 'the policy of the sandbox')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: SandboxOption & { action: string; file?: string }) => {
        const asked = actionOf((await readInput(options.action)).toString(), options.action)
        const view = await withCore(async (core) => {
          const tenant = await core.tenancy.find(name)
          const hash = policiesInForce(tenant)[environmentOf(options)]
          if (options.file === undefined && hash === null)
            return { policy_hash: null, rule: null, require: null }
          const text =
            options.file === undefined
              ? (await operationsOf(core).version(tenant, hash!)).policy
              : (await readInput(options.file)).toString()
          const version = parsePolicy(text)
          const rule = ruleFor(version.policy, asked)
          return { policy_hash: version.hash, rule: rule.name, require: rule.require }
        })
        print(options, view, () =>
          view.require === null
            ? 'No policy: the contract decides.'
            : fields([['Rule', view.rule], ...rowsOf(view.require)]),
        )
      }),
    )

  policy
    .command('history <tenant>')
    .description('list every version that was ever in force, the latest first')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: OutputOptions) => {
        const views = await withCore(async ({ tenancy, store }) => {
          const tenant = await tenancy.find(name)
          const inForce = policiesInForce(tenant)
          return (await store.read.statements(policyReader).versions(tenant.id)).map(
            ({ hash, firstSetAt, policy: text }) => ({
              policy_hash: hash,
              first_set_at: isoTime(firstSetAt),
              in_force: BOTH.filter((environment) => inForce[environment] === hash),
              rules: (JSON.parse(text) as ActionPolicy).rules.length,
            }),
          )
        })
        print(options, views, () =>
          listing(
            ['HASH', 'FIRST SET', 'IN FORCE', 'RULES'],
            views.map((view) => [
              view.policy_hash,
              view.first_set_at,
              view.in_force.join(', ') || '–',
              String(view.rules),
            ]),
          ),
        )
      }),
    )
}

const operationsOf = (core: Core) => new PolicyOperations({ ...core, clock: systemClock })

async function change(
  name: string,
  value: ActionPolicy | null,
  options: SandboxOption,
  { withCore }: CommandHost,
): Promise<void> {
  const environments = options.sandbox ? SANDBOX : BOTH
  const view = await withCore(async (core) => {
    const tenant = await core.tenancy.findLive(name)
    const { previous, now } = await operationsOf(core).set(tenant, COMMAND_LINE, value, environments)
    return {
      tenant_id: tenant.id,
      name: tenant.name,
      policy_hash: hashesOf(now),
      previous: hashesOf(previous),
    }
  })
  const where = options.sandbox ? 'In the sandbox' : 'In production and in the sandbox'
  print(options, view, () =>
    value === null
      ? `${where}, ${view.name} has no policy from the next verdict on.`
      : `${where}, ${view.name} obeys policy ${checkedPolicy(value).hash} from the next verdict on.`,
  )
}

function hashesOf({ production, sandbox }: PoliciesInForce) {
  return { production, sandbox }
}

function environmentOf({ sandbox }: SandboxOption): Environment {
  return sandbox ? 'sandbox' : 'production'
}

/** A rate that the installed pack does not reach would refuse every approval. @throws PackGradeError fmr_not_reached */
async function assertRatesReached({ rules }: ActionPolicy, host: CommandHost): Promise<void> {
  for (const { require } of rules)
    if (require.max_fmr !== undefined) await assertReached(require.max_fmr, await host.loadConfig())
}

/** The action: JSON, or the text itself where it is none, since an action may be a string. @throws CommandError file_unreadable */
function actionOf(text: string, file: string): unknown {
  const trimmed = text.trim()
  if (trimmed === '') throw new CommandError('file_unreadable', `${file} is empty.`)
  try {
    return JSON.parse(trimmed)
  } catch {
    return trimmed
  }
}

function rowsOf(required: PolicyRule['require']): Array<readonly [string, string]> {
  const rows = requirementsInWords(required)
  return rows.length > 0 ? rows : [['Requirements', 'none beyond the contract']]
}
