/** Types of actions to which the service gives a meaning of its own: an approved verify for one of them allows something, once. */

export const REPLACE_ACTION = 'replace_reference'
export const REGISTER_ACTION = 'register_passkey'
export const RECOVER_ACTION = 'recover_passkey'

/** Whether an action is of this type. */
export function isOfType(action: unknown, type: string): boolean {
  return typeof action === 'object' && action !== null && 'type' in action && action.type === type
}
