/** Typed actions: actions with a published schema, which Countersign checks and shows to the person itself. */

/** A person or company that is paid. */
export interface Payee {
  /** At most 140 characters. */
  name: string
  /** IBAN or other account number: at most 64 printable ASCII characters. */
  account: string
}

/** One payment to one payee. */
export interface PaymentAction {
  /** Names the schema. */
  type: 'payment'
  /** Decimal number as text, such as `1250.00`: at most 15 digits before the point, and as many after it as the currency has. */
  amount: string
  /** ISO 4217 code, such as `EUR`. */
  currency: string
  /** The person or company that is paid. */
  payee: Payee
  /** At most 140 characters, shown to the person. */
  reference?: string
}

/** Payments that are confirmed together. The list travels next to the action, which binds its total, length and hash. */
export interface PaymentBatchAction {
  /** Names the schema. */
  type: 'payment_batch'
  /** Exact sum of the amounts, as text. */
  total: string
  /** ISO 4217 code, such as `EUR`. */
  currency: string
  /** 1 to 1,000. */
  payees_count: number
  /** SHA-256 of the list in RFC 8785 canonical form, in lower-case hex. */
  payees_hash: string
  /** At most 140 characters, shown to the person. */
  reference?: string
}

/** A change of the account's data or protection. */
export interface AccountChangeAction {
  /** Names the schema. */
  type: 'account_change'
  /** The kind of change. */
  change: 'email' | 'phone' | 'password' | 'address' | 'device' | 'limit' | 'other'
  /** The old value as the person knows it: at most 200 characters. */
  from?: string
  /** The new value: at most 200 characters. */
  to?: string
}

/** A sign-in. */
export interface LoginAction {
  /** Names the schema. */
  type: 'login'
  /** The application that the person signs in to: at most 140 characters. */
  application?: string
  /** Address from which the sign-in comes, as text. */
  ip?: string
  /** Place from which the sign-in comes: at most 140 characters. */
  location?: string
}

/** An agreement to a text. */
export interface ConsentAction {
  /** Names the schema. */
  type: 'consent'
  /** At most 140 characters. */
  title: string
  /** The text that the person agrees to: at most 3,000 characters. */
  text: string
  /** Version of the text: at most 64 characters. */
  version: string
}

/** Any other action, as a title and fields. */
export interface GenericAction {
  /** Names the schema. */
  type: 'generic'
  /** At most 140 characters. */
  title: string
  /** 1 to 20 fields, shown in this order. */
  fields: Array<{ label: string; value: string }>
}

/** An action whose `type` has a published schema. */
export type TypedAction =
  | PaymentAction
  | PaymentBatchAction
  | AccountChangeAction
  | LoginAction
  | ConsentAction
  | GenericAction

/** The values of `type` that have a published schema. */
export const TYPED_ACTION_TYPES = [
  'payment',
  'payment_batch',
  'account_change',
  'login',
  'consent',
  'generic',
] as const satisfies ReadonlyArray<TypedAction['type']>

/** A `type` with a published schema. */
export type TypedActionType = TypedAction['type']

/**
 * @returns the type with a published schema that the action names, or null: the application's own actions have any shape
 * @example
 * if (typedActionType(claims.action) === 'payment') return true
 */
export function typedActionType(action: unknown): TypedActionType | null {
  if (typeof action !== 'object' || action === null || !('type' in action)) return null
  return TYPED_ACTION_TYPES.find((type) => type === action.type) ?? null
}
