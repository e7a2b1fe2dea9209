/** What a route of the dashboard's API is: what goes in, and what comes out. Who may call it stands in `rights.ts`. */
import type { TSchema } from 'typebox'
import type { Actor } from '../audit/audited-unit-of-work.js'
import type { IncomingRequest, Reply } from '../http/listeners/listener.js'
import type { TenantRecord } from '../storage/records.js'
import type { InputOf, OperatorRoutes, QueryOf, TenantRoutes } from './contract.js'
import type { DashboardServices } from './dashboard-services.js'
import type { Guest, Session } from './sessions.js'

/** The parameters that the contract names; anybody may have written their values. */
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
  /** 200 where it is not named. */
  status?: 201
  /** The body may be as large as the API's; else a few kilobytes. */
  takesPhotos?: true
  /** Answers with a key, a secret or a link that signs in: over a confidential channel alone. */
  givesSecret?: true
  /** Reveals a secret, destroys something or lets somebody in: asks for a fresh sign-in. */
  asksFreshSignIn?: true
  /** Open to a person who has to choose a password before anything else. */
  choosesPassword?: true
}

type Route<Shape, Call> = RouteOptions &
  (Shape extends { body: infer Body extends TSchema } ? { body: Body } : unknown) &
  (Shape extends { answer: infer Answer }
    ? { answer: (call: Call) => Promise<Answer> }
    : { reply: (call: Call) => Promise<Reply> })

/** One route for each of the contract's, for the operator alone. */
export type OperatorTable = {
  [Name in keyof OperatorRoutes]: Route<OperatorRoutes[Name], OperatorCall<OperatorRoutes[Name]>>
}

/** One route for each of the contract's, for the operator and for the tenant that it is about. */
export type TenantTable = {
  [Name in keyof TenantRoutes]: Route<TenantRoutes[Name], TenantCall<TenantRoutes[Name]>>
}
