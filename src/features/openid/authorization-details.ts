/** Rich authorization requests (RFC 9396): one detail, which is the typed action that the person confirms. */
import { errors, type KoaContextWithOIDC } from 'oidc-provider'
import { typedActionFaults } from '../../contract/actions/typed-action-check.js'
import { TYPED_ACTION_TYPES } from '../../contract/actions/typed-actions.js'

/** Types of actions that a request can name. The list of a batch of payments is too long for a request. */
export const ACTION_TYPES = TYPED_ACTION_TYPES.filter((type) => type !== 'payment_batch')

export function authorizationDetailsTypes() {
  return Object.fromEntries(ACTION_TYPES.map((type) => [type, { validate: assertAction }]))
}

/**
 * The action that the person confirms: a sign-in, where the request names none.
 * @param details parameter `authorization_details`, checked already
 * @param application name of the application that asks
 */
export function actionOf(details: unknown, application: string): unknown {
  return typeof details === 'string' ? JSON.parse(details)[0] : { type: 'login', application }
}

/** @throws InvalidAuthorizationDetails */
function assertAction({ oidc }: KoaContextWithOIDC, detail: unknown): void {
  const { authorization_details: all } = oidc.params as { authorization_details: string }
  if (JSON.parse(all).length !== 1)
    throw new errors.InvalidAuthorizationDetails('authorization_details must hold exactly one action')
  const [fault] = typedActionFaults(detail)
  if (fault) throw new errors.InvalidAuthorizationDetails(`${fault.path} ${fault.issue}`)
}
