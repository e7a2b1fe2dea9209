/** The field `include` of a request: parts of the answer that are left out unless they are asked for. */
import Type from 'typebox'

export const includeField = Type.Array(Type.Literal('quality'), {
  maxItems: 1,
  uniqueItems: true,
  description:
    'Parts of the answer that are left out otherwise. `quality`: `quality.images`, every measurement of every photo.',
})

export function includesQuality({ include = [] }: { include?: string[] }): boolean {
  return include.includes('quality')
}
