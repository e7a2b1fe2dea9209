/** `countersign/client/hono`: step-up on a Hono route. */
import type { Context, MiddlewareHandler } from 'hono'
import { createStepUp, type StepUpOptions } from './step-up.js'
import type { ActionLike, ApprovedClaims } from './types.js'

/**
 * Makes a Hono middleware that puts the verdict's claims into `c.var.verdict`, or answers 401 or 403 with a challenge.
 * @throws TypeError for `acr` values that no header can hold
 * @example
 * app.post('/transfers', stepUp({ verifier: countersign, user: signedInUser, action: transferOf }), carryOut)
 */
export function stepUp<A extends ActionLike>(
  options: StepUpOptions<Context, A>,
): MiddlewareHandler<{ Variables: { verdict: ApprovedClaims<A> } }> {
  const check = createStepUp(options)
  return async (context, next) => {
    const outcome = await check(context, (name) => context.req.header(name))
    if (!outcome.allowed) return context.json(outcome.body, outcome.status, outcome.headers)
    context.set('verdict', outcome.verdict)
    await next()
  }
}
