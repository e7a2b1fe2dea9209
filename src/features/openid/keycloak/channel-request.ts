/** Reads the body that Keycloak posts to its authentication channel (`AuthenticationChannelRequest`), and makes the action from it. */
import { typedActionFaults } from '../../../contract/actions/typed-action-check.js'
import type { RealmRequest } from './realm-token.js'

export interface ChannelRequest {
  /** User name of the person in the realm. */
  loginHint: string
  /** Text that the person also sees where they began; null for none. */
  bindingMessage: string | null
  /** Names of assurance levels, separated by spaces; null for none. */
  acrValues: string | null
  /** Whether the client of the realm wants the person to agree to scopes, too. */
  isConsentRequired: boolean
}

/** @returns null for a body that Keycloak does not send. Members that are not known here are ignored: Keycloak adds the client's own. */
export function parseChannelRequest(body: Buffer): ChannelRequest | null {
  const fields = jsonObject(body.toString())
  if (!fields) return null
  const { login_hint: loginHint, binding_message, acr_values, is_consent_required } = fields
  const bindingMessage = binding_message ?? null
  const acrValues = acr_values ?? null
  const isTextOrNull = (value: unknown): value is string | null => value === null || typeof value === 'string'
  if (typeof loginHint !== 'string' || loginHint === '') return null
  if (!isTextOrNull(bindingMessage) || !isTextOrNull(acrValues)) return null
  if (typeof is_consent_required !== 'boolean') return null
  return { loginHint, bindingMessage, acrValues, isConsentRequired: is_consent_required }
}

/**
 * The typed action that the person confirms: the message of the request, or a sign-in where it has none.
 * @returns null where the page could not show it
 */
export function actionFor({ client }: RealmRequest, { bindingMessage }: ChannelRequest): unknown {
  const action =
    bindingMessage === null
      ? { type: 'login', application: client }
      : { type: 'generic', title: client, fields: [{ label: 'Message', value: bindingMessage }] }
  return typedActionFaults(action).length === 0 ? action : null
}

function jsonObject(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
