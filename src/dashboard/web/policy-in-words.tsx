/** Shows a policy, or one of its rules, in words. */
import type { ActionPolicy, PolicyRule } from '../../contract/action-policy.js'
import {
  checksInWords,
  conditionInWords,
  requirementsInWords,
  retentionInWords,
} from '../../contract/policy-words.js'
import { type Fact, Facts } from './base/parts.js'
import { Table } from './base/table.js'

const ACR = 'Least acr'

/** @param props.label name of the table for screen readers */
export function PolicyInWords({ policy, label }: { policy: ActionPolicy; label: string }) {
  const retention = retentionInWords(policy)
  return (
    <>
      <Table
        label={label}
        rows={policy.rules}
        columns={[
          { name: 'Rule', cell: ({ name }) => <code>{name}</code> },
          { name: 'For', isText: true, cell: (rule) => conditionInWords(rule.when) },
          { name: 'An approval needs', isText: true, cell: (rule) => <Requirements rule={rule} /> },
        ]}
      />
      <p class="muted small">The first rule that is for an action decides about it.</p>
      {retention && <p>{retention}</p>}
    </>
  )
}

function Requirements({ rule }: { rule: PolicyRule }) {
  const words = requirementsInWords(rule.require)
  if (words.length === 0) return <>nothing beyond the contract</>
  return (
    <ul class="plain">
      {words.map(([name, value]) => (
        <li key={name}>
          {name}: {value}
          {name === ACR && <span class="muted small"> ({checksInWords(value)})</span>}
        </li>
      ))}
    </ul>
  )
}

/** The rule that decides about an action, with everything that it asks of an approval. */
export function DecidingRule({ rule }: { rule: PolicyRule }) {
  const words = requirementsInWords(rule.require)
  return (
    <Facts
      rows={[
        ['Rule', <code>{rule.name}</code>],
        words.length === 0 && ['An approval needs', 'nothing beyond the contract'],
        ...words.map(
          ([name, value]): Fact => [name, name === ACR ? `${checksInWords(value)} (${value})` : value],
        ),
      ]}
    />
  )
}
