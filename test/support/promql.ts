/** Takes PromQL apart with Prometheus's own grammar. */
import type { SyntaxNode } from '@lezer/common'
import { parser } from '@prometheus-io/lezer-promql'

export interface Selector {
  metric: string
  matchers: Array<{ label: string; value: string }>
}

export interface Query {
  /** Where the text is no PromQL. */
  errors: string[]
  selectors: Selector[]
  /** Labels that `by`, `on` and the like name. */
  groupings: string[]
}

export function parseQuery(text: string): Query {
  const query: Query = { errors: [], selectors: [], groupings: [] }
  const textOf = ({ from, to }: { from: number; to: number }) => text.slice(from, to)
  parser.parse(text).iterate({
    enter(node) {
      if (node.type.isError) query.errors.push(text.slice(Math.max(0, node.from - 20), node.to + 20))
      if (node.name === 'VectorSelector') query.selectors.push(selectorOf(node.node, textOf))
      if (node.name === 'GroupingLabels')
        query.groupings.push(...node.node.getChildren('LabelName').map(textOf))
    },
  })
  return query
}

function selectorOf(node: SyntaxNode, textOf: (node: SyntaxNode) => string): Selector {
  const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []
  return {
    metric: textOf(node.getChild('Identifier')!),
    matchers: matchers.map((matcher) => ({
      label: textOf(matcher.getChild('LabelName')!),
      value: textOf(matcher.getChild('StringLiteral')!).slice(1, -1),
    })),
  }
}
