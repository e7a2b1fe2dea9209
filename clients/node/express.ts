/** `countersign/client/express`: step-up on an Express route. */
import type { Request, RequestHandler } from 'express'
import { createStepUp, type StepUpOptions } from './step-up.js'
import type { ActionLike } from './types.js'

/**
 * Makes an Express handler that puts the verdict's claims into `response.locals.verdict`, or answers 401 or 403 with a challenge.
 * @throws TypeError for `acr` values that no header can hold
 * @example
 * app.post('/transfers', stepUp({ verifier: countersign, user: signedInUser, action: transferOf }), carryOut)
 */
export function stepUp<A extends ActionLike>(options: StepUpOptions<Request, A>): RequestHandler {
  const check = createStepUp(options)
  return (request, response, next) => {
    check(request, (name) => request.get(name)).then((outcome) => {
      if (!outcome.allowed) return response.status(outcome.status).set(outcome.headers).json(outcome.body)
      response.locals.verdict = outcome.verdict
      next()
      // Express 4 does not handle rejected promises, so errors go to next().
    }, next)
  }
}
