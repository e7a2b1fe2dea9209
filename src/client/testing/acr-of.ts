/** The `acr` of an approval, or of one that a request offers, in the service in memory. */

/** @returns the one of `ACR_VALUES` for this combination of methods */
export function acrOf(
  methods: readonly string[],
  isOfChallenge: boolean,
  possession?: 'hwk' | 'swk' | undefined,
): string {
  const active = methods.find((method) => method.startsWith('active-'))?.replace(/@.*/, '')
  const parts = [
    'face',
    ...(active ? [active === 'active-geometry' ? 'active' : active] : isOfChallenge ? ['no-motion'] : []),
    ...(methods.some((method) => method.startsWith('passive:')) ? ['pad'] : []),
    ...(possession ? [possession] : []),
  ]
  return `urn:countersign:acr:${parts.join('-')}`
}
