/** Rotates the keys of the OpenID provider. */
import type { Environment } from '../../config/config.js'
import { DAY_MS, HOUR_MS } from '../../lib/clock.js'
import { type SigningKeyParts, SigningKeyRotation } from '../public-verdicts/exports.js'
import { newOpenIdKey } from './openid-keys.js'
import { OPENID_KEYS } from './openid-tables.js'

/**
 * Time between the publication of a key and its first signature, as Microsoft's reference of external methods asks for: Entra ID reads keys
 * once a day.
 */
export const OPENID_ANNOUNCED_MS = 2 * DAY_MS
/** Time between a key's last signature and its end: ID tokens live for minutes, but a relying party may check a stored one. */
export const OPENID_RETIRED_KEPT_MS = 25 * HOUR_MS

export class OpenIdKeyRotation extends SigningKeyRotation {
  constructor(parts: SigningKeyParts) {
    super(parts, {
      table: OPENID_KEYS,
      event: 'openid_key_rotated',
      waits: 'openid_key_waits',
      announcedMs: OPENID_ANNOUNCED_MS,
      retiredKeptMs: OPENID_RETIRED_KEPT_MS,
    })
  }

  protected newKey(environment: Environment) {
    return newOpenIdKey(this.parts, environment)
  }
}
