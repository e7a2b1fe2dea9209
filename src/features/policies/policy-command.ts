/** `countersign policy`: what an approval of an action needs, for a tenant. A running service obeys a change from the next verdict on. */
import type { Command } from 'commander'
import type { Core } from '../../admin/core.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { answers, CommandError } from '../../cli/lib/output.js'
import { assertReached } from '../../cli/lib/pack-in-place.js'
import { readInput } from '../../cli/lib/read-input.js'
import { environmentOf, type SandboxOption } from '../../cli/lib/sandbox-option.js'
import { fields, listing } from '../../cli/lib/style.js'
import { type ActionPolicy, type PolicyRule, ruleFor } from '../../contract/action-policy.js'
import { requirementsInWords } from '../../contract/policy-words.js'
import { isoTime, systemClock } from '../../lib/clock.js'
import { parsePolicy } from './policy.js'
import { environmentsOf, PolicyOperations, policiesInForce, versionViews } from './policy-operations.js'

export function registerPolicyCommands(policy: Command, host: CommandHost): void {
  const { withCore } = host
  answers(
    policy
      .command('show <tenant> [hash]')
      .description('print the policy in force, or the version whose hash a verdict or an audit entry names')
      .option('--sandbox', 'the policy of the sandbox')
      .option('--json', 'print JSON, with the hash'),
    (name: string, hash: string | undefined, options: SandboxOption) =>
      withCore(async (core) => {
        const tenant = await core.tenancy.find(name)
        const asked = hash ?? policiesInForce(tenant)[environmentOf(options)]
        if (asked === null) return { policy_hash: null, first_set_at: null, policy: null }
        const version = await operationsOf(core).version(tenant, asked)
        return {
          policy_hash: version.hash,
          first_set_at: isoTime(version.firstSetAt),
          policy: JSON.parse(version.policy) as ActionPolicy,
        }
      }),
    ({ policy }) => (policy ? JSON.stringify(policy, null, 2) : NO_POLICY),
  )

  answers(
    policy
      .command('set <tenant>')
      .description('put a policy in force, in production and in the sandbox')
      .requiredOption('--file <file>', 'JSON file with the rules')
      .option('--sandbox', 'in the sandbox only, to try it'),
    async (name: string, options: SandboxOption & { file: string }) => {
      const { policy: given } = parsePolicy((await readInput(options.file)).toString())
      await assertRatesReached(given, host)
      return withCore((core) => change(core, name, given, options))
    },
    ({ name, policy_hash }, _tenant, { sandbox }) =>
      `${where(sandbox)}, ${name} obeys policy ${policy_hash.sandbox} from the next verdict on.`,
  )

  answers(
    policy
      .command('clear <tenant>')
      .description('take the policy out of force, in production and in the sandbox')
      .option('--sandbox', 'in the sandbox only'),
    (name: string, options: SandboxOption) => withCore((core) => change(core, name, null, options)),
    ({ name }, _tenant, { sandbox }) => `${where(sandbox)}, ${name} has no policy from the next verdict on.`,
  )

  answers(
    policy
      .command('check <tenant>')
      .description('show which rule decides about an action, and what it asks of an approval')
      .requiredOption('--action <file>', 'file with the action, as the backend sends it in `action`')
      .option('--file <file>', 'a policy that is not in force yet')
      .option('--sandbox', 'the policy of the sandbox'),
    async (name: string, { action, file, ...options }: SandboxOption & { action: string; file?: string }) => {
      const asked = actionOf((await readInput(action)).toString(), action)
      return withCore(async (core) => {
        const tenant = await core.tenancy.find(name)
        const hash = policiesInForce(tenant)[environmentOf(options)]
        if (file === undefined && hash === null) return { policy_hash: null, rule: null, require: null }
        const text =
          file === undefined
            ? (await operationsOf(core).version(tenant, hash!)).policy
            : (await readInput(file)).toString()
        const version = parsePolicy(text)
        const rule = ruleFor(version.policy, asked)
        return { policy_hash: version.hash, rule: rule.name, require: rule.require }
      })
    },
    ({ rule, require }) => (require === null ? NO_POLICY : fields([['Rule', rule], ...rowsOf(require)])),
  )

  answers(
    policy
      .command('history <tenant>')
      .description('list every version that was ever in force, the latest first'),
    (name: string) =>
      withCore(async ({ tenancy, store }) => {
        const views = await versionViews(store.read, await tenancy.find(name))
        return views.map(({ hash, ...view }) => ({ policy_hash: hash, ...view }))
      }),
    (views) =>
      listing(
        ['HASH', 'FIRST SET', 'IN FORCE', 'RULES'],
        views.map(({ policy_hash, first_set_at, in_force, rules }) => [
          policy_hash,
          first_set_at,
          in_force.join(', ') || '–',
          String(rules),
        ]),
      ),
  )
}

const NO_POLICY = 'No policy: the contract decides.'
const operationsOf = (core: Core) => new PolicyOperations({ ...core, clock: systemClock })
const where = (sandbox = false) => (sandbox ? 'In the sandbox' : 'In production and in the sandbox')

async function change(core: Core, name: string, policy: ActionPolicy | null, { sandbox }: SandboxOption) {
  const tenant = await core.tenancy.findLive(name)
  const environments = environmentsOf(sandbox)
  const { previous, now } = await operationsOf(core).set(tenant, COMMAND_LINE, policy, environments)
  return { tenant_id: tenant.id, name: tenant.name, policy_hash: now, previous }
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
