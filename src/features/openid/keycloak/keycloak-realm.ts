/** A realm of a Keycloak server that asks the OpenID provider by its authentication channel: who it is, and where it is. */
import { CodedError } from '../../../lib/errors.js'
import { safeOrigin } from '../../../tenants/safe-origin.js'

export interface KeycloakRealm {
  /** Issuer of the realm, as its tokens name it. */
  issuer: string
  /** URL at which this service reaches the realm. */
  url: string
  /** The name of a person by which they are enrolled: their id in the realm, which never changes, or their user name. */
  user: 'sub' | 'login_hint'
  /** Whether a request without a message is taken, too: then the person can only tell by its time who began it. */
  isMessageOptional?: boolean
}

class KeycloakRealmError extends CodedError<'invalid_realm'> {}

/** The realm as commands and audit entries name it. */
export function realmView({ issuer, url, user, isMessageOptional = false }: KeycloakRealm) {
  const message = isMessageOptional ? ('optional' as const) : ('required' as const)
  return { realm: issuer, realm_url: url, user_id: user, message }
}

/** @throws KeycloakRealmError */
export function assertKeycloakRealm({ issuer, url }: KeycloakRealm): void {
  const unsafe = [issuer, url].find((text) => safeOrigin(text) === null || /[?#]|\/$/.test(text))
  if (unsafe !== undefined)
    throw new KeycloakRealmError(
      'invalid_realm',
      `${unsafe} is no https address of a realm, such as https://sso.bank.example/realms/bank, without a slash at its end (http only for localhost).`,
    )
}
