/** The types of the routes behind the dashboard's pages, those of features included: their input, their answer and what they get. */
import type { Static, TSchema } from 'typebox'
import type { Actor } from '../../audit/audited-unit-of-work.js'
import type { Environment } from '../../config/config.js'
import type { IncomingRequest, Reply } from '../../http/listeners/listener.js'
import type { TenantRecord } from '../../storage/records.js'

/** A key, a secret, a password or a link that signs in. The type of a route demands `givesSecret` where its answer holds one. */
export type Secret = string & { readonly isSecret: true }

export type InputOf<Shape> = Shape extends { body: infer Body extends TSchema } ? Static<Body> : undefined
export type AnswerOf<Shape> = Shape extends { answer: infer Answer } ? Answer : never
/** Whether an answer has a secret anywhere in it. */
type HoldsSecret<Answer> = Answer extends Secret
  ? true
  : Answer extends ReadonlyArray<infer One>
    ? HoldsSecret<One>
    : Answer extends object
      ? true extends { [Field in keyof Answer]: HoldsSecret<Answer[Field]> }[keyof Answer]
        ? true
        : false
      : false
export type QueryOf<Shape> = Shape extends { query: infer Query } ? Query : Record<never, never>

export type Urls = Record<Environment | 'admin', string>

/** The query parameters that the contract names. Their values are unchecked input. */
export interface Query<Parameters> {
  get(name: keyof Parameters & string): string | null
}

/** A call of a route. */
export interface Call<Shape> {
  actor: Actor
  input: InputOf<Shape>
  query: Query<QueryOf<Shape>>
  request: IncomingRequest
  urls: () => Urls
}

/** A call of a route of one tenant. */
export interface ConsoleCall<Shape> extends Call<Shape> {
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

export type Route<Shape, Call> = RouteOptions &
  (Shape extends { body: infer Body extends TSchema } ? { body: Body } : unknown) &
  (Shape extends { answer: infer Answer }
    ? { answer: (call: Call) => Promise<Answer> } & (true extends HoldsSecret<Answer>
        ? { givesSecret: true }
        : unknown)
    : { reply: (call: Call) => Promise<Reply> })

/** A route of any table, with its body and answer left open. */
export type AnyRoute<Call> = RouteOptions & { body?: TSchema } & (
    | { answer: (call: Call) => Promise<unknown> }
    | { reply: (call: Call) => Promise<Reply> }
  )

/** The routes of a tenant that a feature has, one for each of its shapes, by method and path. */
export type ConsoleTable<Shapes> = { [Name in keyof Shapes]: Route<Shapes[Name], ConsoleCall<Shapes[Name]>> }

/** The routes of all features. */
export type ConsoleRoutes = Readonly<Record<string, AnyRoute<ConsoleCall<never>>>>

/** Marks a text of an answer as secret, so that no route without `givesSecret` can hold it. */
export function asSecret(text: string): Secret {
  return text as Secret
}
