/** The `acr` of an approval: its names, and the checks that each of them stands for. Service, SDK and fake name them with this module. */

/** Each name of an `acr`, and the checks that it stands for. */
const ACR = /^urn:countersign:acr:face(?:-(active|active-turn|active-nod|no-motion))?(-pad)?(-hwk|-swk)?$/
const CHALLENGE_CHECKS: Record<string, readonly AcrCheck[]> = {
  active: ['challenge', 'turn', 'nod'],
  'active-turn': ['challenge', 'turn'],
  'active-nod': ['challenge', 'nod'],
  'no-motion': ['challenge'],
}

/**
 * `challenge`: frames of a challenge; `turn` and `nod`: its movements; `pad`: the network for liveness; `swk`: a passkey; `hwk`: one whose
 * key is in hardware.
 */
export type AcrCheck = 'challenge' | 'turn' | 'nod' | 'pad' | 'swk' | 'hwk'

/** Proof that the person holds a key (RFC 8176): `hwk` for one in hardware, `swk` for one in software. */
export type Possession = 'hwk' | 'swk'

/**
 * The `acr` of an approval. Each combination of methods has a name of its own, and so has a challenge that asks for no movement.
 * @param methods such as `active-turn@1` and `passive:pack@1`
 * @param possession the proof that a passkey gave
 */
export function acrOf(
  methods: readonly string[],
  isOfChallenge: boolean,
  possession?: Possession | null,
): string {
  const active = methods.find((method) => method.startsWith('active-'))?.replace(/@.*/, '')
  const parts = [
    'urn:countersign:acr:face',
    ...(active ? [active === 'active-geometry' ? 'active' : active] : isOfChallenge ? ['no-motion'] : []),
    ...(methods.some((method) => method.startsWith('passive:')) ? ['pad'] : []),
    ...(possession ? [possession] : []),
  ]
  return parts.join('-')
}

/** @returns the checks that an `acr` stands for; null for a text that is no `acr` of an approval */
export function checksOf(acr: string): AcrCheck[] | null {
  const match = ACR.exec(acr)
  if (!match) return null
  const [, challenge, pad, possession] = match
  return [
    ...(challenge ? CHALLENGE_CHECKS[challenge]! : []),
    ...(pad ? ['pad' as const] : []),
    // A key in hardware also does where one in software is enough.
    ...(possession ? ['swk' as const] : []),
    ...(possession === '-hwk' ? ['hwk' as const] : []),
  ]
}

/** @returns the checks of the required `acr` that the other lacks: none where it is at least as strong */
export function missingChecks(required: string, passed: string): AcrCheck[] {
  const has = checksOf(passed) ?? []
  return (checksOf(required) ?? []).filter((check) => !has.includes(check))
}
