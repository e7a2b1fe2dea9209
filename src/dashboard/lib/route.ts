/**
 * A route behind the dashboard's pages, those of features included. Its declaration says who may call it, what it takes, what it answers
 * and how; schema, rights and the types of the pages follow from it.
 */
import type { Static, TObject, TProperties } from 'typebox'
import type { Actor } from '../../audit/audited-unit-of-work.js'
import type { Environment } from '../../config/config.js'
import type { IncomingRequest, Reply } from '../../http/listeners/listener.js'
import type { TenantRecord } from '../../storage/records.js'

/**
 * `read` allows requests that change nothing. `write` belongs to the admins of the tenant and of the installation, `admin` only to those of
 * the installation. Everybody has `own`, which covers the person's own matters.
 */
export type Right = 'read' | 'write' | 'admin' | 'own'

/** A key, a secret, a password or a link that signs in. The type of a route demands `givesSecret` where its answer holds one. */
export type Secret = string & { readonly isSecret: true }

export type Urls = Record<Environment | 'admin', string>

/** A call of a route, such as a feature's of operators, without its input. */
export interface Call {
  actor: Actor
  request: IncomingRequest
  urls: () => Urls
}

/** A call of a feature's route of one tenant, without its input. */
export interface ConsoleCall extends Call {
  tenant: TenantRecord
}

/** The query parameters that the route names. Their values are unchecked input. */
export interface Query<Parameters> {
  get(name: keyof Parameters & string): string | null
}

/** The input of a route: the checked body, and the query. */
export interface Taken<Fields, Parameters> {
  input: Fields extends TProperties ? Static<TObject<Fields>> : undefined
  query: Query<Parameters>
}

export interface RouteOptions {
  right: Right
  /**
   * Why a stolen session gains nothing by the route, which therefore asks for no fresh sign-in. Every other route but GET asks for one, so
   * that a route without a decision is refused rather than open.
   */
  harmless?: string
  /** Status of the answer; 200 by default. */
  status?: 201
  /** Allows a body as large as the API's instead of a few kilobytes. */
  takesLargeBody?: true
  /** Answers with a key, a secret or a link that signs in, or takes one in a header, and therefore only over a confidential channel. */
  givesSecret?: true
  /** Open to a person who must choose a password before any other request. */
  choosesPassword?: true
}

/** A route that answers with JSON. */
export interface Route<Caller, Fields, Parameters, Answer> extends RouteOptions {
  /** The fields of the body, which has no others. */
  body?: Fields
  /** A value of `asks`. */
  query?: Parameters
  answer(call: Caller & Taken<Fields, Parameters>): Promise<Answer>
}

/** A route of any table. `reply` answers with something else than JSON. */
export type AnyRoute<Call> = RouteOptions & { body?: TProperties | undefined; query?: object } & (
    | { answer(call: Call): Promise<unknown> }
    | { reply(call: Call): Promise<Reply> }
  )

/** The routes of features, by method and path: those of a tenant, and those of operators. */
export type ConsoleRoutes = Readonly<Record<string, AnyRoute<ConsoleCall & Taken<never, never>>>>
export type OperatorConsoleRoutes = Readonly<Record<string, AnyRoute<Call & Taken<never, never>>>>

export type InputOf<One> = One extends { answer(call: infer Call extends { input: unknown }): unknown }
  ? Call['input']
  : never
export type QueryOf<One> = One extends { query?: infer Parameters } ? Exclude<Parameters, undefined> : never
export type AnswerOf<One> = One extends { answer(call: never): Promise<infer Answer> } ? Answer : never

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

/** Whether JSON changes an answer, as it does a time or a buffer: the pages would get something else than its type says. */
type IsChangedByJson<Answer> = unknown extends Answer
  ? false
  : Answer extends string | number | boolean | null
    ? false
    : Answer extends ReadonlyArray<infer One>
      ? IsChangedByJson<One>
      : Answer extends { toJSON: unknown } | ((...parameters: never) => unknown) | Iterable<unknown>
        ? true
        : Answer extends object
          ? true extends {
              [Field in keyof Answer]: IsChangedByJson<Exclude<Answer[Field], undefined>>
            }[keyof Answer]
            ? true
            : false
          : true

type Rules<Answer> = (true extends HoldsSecret<Answer> ? { givesSecret: true } : unknown) &
  (true extends IsChangedByJson<Answer> ? { answer: 'JSON changes this answer' } : unknown)

/** @returns the function by which routes with calls of this kind are declared; the types of their input and answer are inferred */
export function routesFor<Caller>() {
  return <
    Fields extends TProperties | undefined = undefined,
    Parameters extends object = Record<never, never>,
    const Answer = unknown,
  >(
    route: Route<Caller, Fields, Parameters, Answer> & Rules<Answer>,
  ): Route<Caller, Fields, Parameters, Answer> => route
}

/** Declares a route of a feature: of one tenant. */
export const consoleRoute = routesFor<ConsoleCall>()

/** Declares a route of a feature: of operators. */
export const operatorConsoleRoute = routesFor<Call>()

/** Names the query parameters of a route. They are a type only: their values are unchecked input. */
export function asks<Parameters extends object>(): Parameters {
  return {} as Parameters
}

/** Marks a text of an answer as secret, so that no route without `givesSecret` can hold it. */
export function asSecret(text: string): Secret {
  return text as Secret
}

/** Reasons why a route that is no GET is harmless. */
export const READS = 'It only reads; the body keeps the question out of the address.'
export const SIGNS_OUT = 'It only ends sessions and links, and an intruder must be shut out at once.'
