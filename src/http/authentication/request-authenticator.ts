/** Authenticates a request: finds the API key, its tenant and the tenant's signing secrets, and slows down callers that guess keys. */

import type { Environment } from '../../config/config.js'
import type { ErrorCode } from '../../contract/error-codes.js'
import { SECOND_MS } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import { StoreUnavailableError } from '../../storage/store.js'
import { isAllowedFrom, isShownBy } from '../../tenants/key-grants.js'
import type { Tenancy } from '../../tenants/tenancy.js'
import type { ClientAddresses } from '../listeners/client-address.js'
import type { IncomingRequest } from '../listeners/listener.js'
import type { RequestContext } from '../request-context.js'
import { type Identity, RecentCallers } from './recent-callers.js'
import type { WrongKeys } from './wrong-keys.js'

export interface AuthenticatorParts {
  environment: Environment
  tenancy: Tenancy
  wrongKeys: WrongKeys
  addresses: ClientAddresses
  /** Base URL of an environment, ending in /v1. */
  urlOf: (environment: Environment) => string
}

/** Codes of a wrong key. `wrong_environment` is none of them: only a valid key gets it. */
const WRONG_KEY = new Set<ErrorCode>(['malformed_api_key', 'invalid_api_key', 'revoked_api_key'])

export class RequestAuthenticator {
  private readonly recent = new RecentCallers()

  constructor(private readonly parts: AuthenticatorParts) {}

  /**
   * @param context gets the id of the key that was presented, also where the key is refused
   * @throws DomainError missing_api_key, malformed_api_key, invalid_api_key, revoked_api_key, wrong_environment, tenant_suspended, network_not_allowed, client_certificate_required, too_many_wrong_keys
   * @throws StoreUnavailableError
   */
  async authenticate(request: IncomingRequest, context: RequestContext): Promise<Identity> {
    const { tenancy, environment, wrongKeys, addresses } = this.parts
    // Undefined for an unknown address.
    const endpoint = context.destination?.route?.endpoint
    const { authorization } = request.headers
    try {
      const { secrets, ...caller } = await tenancy.authenticate(authorization, environment, (key) => {
        context.keyId = key.id
        context.keyTenantId = key.tenantId
      })
      if (!isAllowedFrom(caller.key, context.address)) throw new DomainError('network_not_allowed')
      if (!isShownBy(caller.key, request.clientCertificate))
        throw new DomainError('client_certificate_required')
      const identity = { caller, secrets }
      if (endpoint?.answersWithoutStore) this.recent.remember(authorization, identity)
      return identity
    } catch (error) {
      if (error instanceof DomainError && WRONG_KEY.has(error.code)) {
        const waitSeconds = await wrongKeys.wrong(addresses.of(request))
        if (waitSeconds > 0)
          throw new DomainError('too_many_wrong_keys', { retryAfterMs: waitSeconds * SECOND_MS })
      }
      if (error instanceof StoreUnavailableError && endpoint?.answersWithoutStore) {
        const identity = this.recent.find(authorization)
        if (identity) return identity
      }
      if (error instanceof DomainError && error.code === 'wrong_environment') throw this.wrongEnvironment()
      throw error
    }
  }

  private wrongEnvironment(): DomainError {
    const { environment, urlOf } = this.parts
    const other = environment === 'production' ? 'sandbox' : 'production'
    return new DomainError('wrong_environment', {
      message: `This is the ${environment} base URL; the API key is a ${other} key.`,
      remedy: `Use this key at ${urlOf(other)}, or send a ${environment} key here.`,
    })
  }
}
