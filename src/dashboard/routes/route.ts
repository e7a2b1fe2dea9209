/** The types of the dashboard's routes: their input and their answer. The rights that they require are in `rights.ts`. */
import type { TSchema } from 'typebox'
import type { Actor } from '../../audit/audited-unit-of-work.js'
import type { IncomingRequest, Reply } from '../../http/listeners/listener.js'
import type { TenantRecord } from '../../storage/records.js'
import type { HoldsSecret, InputOf, OperatorRoutes, QueryOf, Secret, TenantRoutes } from '../contract.js'
import type { DashboardServices } from '../dashboard-services.js'
import type { Guest, Session } from '../sign-in/sessions.js'

/** The query parameters that the contract names. Their values are unchecked input. */
export interface Query<Parameters> {
  get(name: keyof Parameters & string): string | null
}

export interface OperatorCall<Shape> {
  services: DashboardServices
  actor: Actor
  input: InputOf<Shape>
  query: Query<QueryOf<Shape>>
  request: IncomingRequest
  session: Session
  guest: Guest
  deadlineMs: number
}

export interface TenantCall<Shape> extends OperatorCall<Shape> {
  tenant: TenantRecord
}

export interface RouteOptions {
  /** Status of the answer; 200 by default. */
  status?: 201
  /** Allows a body as large as the API's instead of a few kilobytes. */
  takesLargeBody?: true
  /** Answers with a key, a secret or a link that signs in, or takes one in a header, and therefore only over a confidential channel. */
  givesSecret?: true
  /** Open to a person who must choose a password before any other request. */
  choosesPassword?: true
}

type Route<Shape, Call> = RouteOptions &
  (Shape extends { body: infer Body extends TSchema } ? { body: Body } : unknown) &
  (Shape extends { answer: infer Answer }
    ? { answer: (call: Call) => Promise<Answer> } & (true extends HoldsSecret<Answer>
        ? { givesSecret: true }
        : unknown)
    : { reply: (call: Call) => Promise<Reply> })

/** One entry for each of the contract's routes that only operators may call. */
export type OperatorTable = {
  [Name in keyof OperatorRoutes]: Route<OperatorRoutes[Name], OperatorCall<OperatorRoutes[Name]>>
}

/** One entry for each of the contract's routes of a tenant, which the tenant and operators may call. */
export type TenantTable = {
  [Name in keyof TenantRoutes]: Route<TenantRoutes[Name], TenantCall<TenantRoutes[Name]>>
}

/** Marks a text of an answer as secret, so that no route without `givesSecret` can hold it. */
export function asSecret(text: string): Secret {
  return text as Secret
}
