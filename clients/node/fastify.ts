/** `countersign/client/fastify`: step-up on a Fastify route. */
import type { FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import { createStepUp, type StepUpOptions } from './step-up.js'
import type { Action, ActionLike, ApprovedClaims } from './types.js'

const verdicts = new WeakMap<FastifyRequest, ApprovedClaims<ActionLike>>()

/**
 * Makes a Fastify `preHandler` that lets the request through, or answers 401 or 403 with a challenge.
 * @throws TypeError for `acr` values that no header can hold
 * @example
 * app.post('/transfers', { preHandler: stepUp({ verifier: countersign, user, action }) }, (request) => carryOut(verdictOf(request)))
 */
export function stepUp<A extends ActionLike>(
  options: StepUpOptions<FastifyRequest, A>,
): preHandlerAsyncHookHandler {
  const check = createStepUp(options)
  return async (request, reply) => {
    const outcome = await check(request, (name) => {
      const value = request.headers[name.toLowerCase()]
      return Array.isArray(value) ? value[0] : value
    })
    if (!outcome.allowed) return reply.code(outcome.status).headers(outcome.headers).send(outcome.body)
    verdicts.set(request, outcome.verdict)
  }
}

/**
 * @returns the claims that let this request through
 * @throws TypeError on a route without `stepUp`
 * @example
 * const { verdict, action } = verdictOf<Transfer>(request)
 */
export function verdictOf<A extends ActionLike = Action>(request: FastifyRequest): ApprovedClaims<A> {
  const verdict = verdicts.get(request)
  if (!verdict) throw new TypeError('this route has no stepUp preHandler')
  // The type of the action is that of the route's own stepUp.
  return verdict as ApprovedClaims<A>
}
