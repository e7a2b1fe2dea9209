/** The parts that the route handlers share: the client, the transfers that wait, who is signed in, and the answers to errors. */
import { ApiError, Countersign, VerdictError } from 'countersign/client'

const {
  CS_BASE_URL = '',
  CS_API_KEY = '',
  CS_SIGNING_SECRETS = '',
  CS_TENANT_ID = '',
  CS_ACCEPT_EVALUATION,
} = process.env

/**
 * @typedef {{ user: string, action: { type: string, amount: string, to: string } }} Transfer
 * @typedef {{ bank?: { countersign: Countersign, waiting: Map<string, Transfer> } }} Kept
 */

// Next.js may bundle this file once for each route, so what the routes share is kept on `globalThis`. It stands for your database. Several
// processes need a shared `replayStore` too.
const kept = /** @type {Kept} */ (/** @type {unknown} */ (globalThis))
kept.bank ??= {
  countersign: new Countersign({
    baseUrl: CS_BASE_URL,
    apiKey: CS_API_KEY,
    signingSecret: CS_SIGNING_SECRETS.split(','),
    tenantId: CS_TENANT_ID,
    // The demo's model pack is of evaluation grade, whose verdicts production refuses. Do not set the variable in production.
    acceptEvaluationGrade: CS_ACCEPT_EVALUATION === 'true',
  }),
  waiting: new Map(),
}

/** Transfers that wait for a face, by the id of their session, and who is to confirm them. */
export const { countersign, waiting } = kept.bank

/**
 * Where browsers reach this bank. Its origin must be allowed: countersign tenant capture-page <tenant> --return-origin …
 */
export const bankUrl = () => process.env.BANK_URL ?? 'http://127.0.0.1:3000'

/**
 * Stands for your own session: who is signed in, and the capture session that this sign-in began.
 * @param {Request} request
 */
export const sessionOf = (request) => {
  const cookies = new URLSearchParams(request.headers.get('cookie')?.replaceAll('; ', '&'))
  return { user: cookies.get('user') ?? '', began: cookies.get('began') }
}

/** @param {number} status @param {string} message */
export const refuse = (status, message) => Response.json({ message }, { status })

/**
 * Makes a route handler that answers errors.
 * @param {(request: Request) => Promise<Response>} handler
 * @returns {(request: Request) => Promise<Response>}
 */
export const route = (handler) => async (request) => {
  try {
    return await handler(request)
  } catch (error) {
    // Rejected, cancelled, expired, or not of this person: the log says which.
    if (error instanceof VerdictError) {
      console.error(error.message)
      return refuse(403, 'Not confirmed.')
    }
    if (error instanceof ApiError && error.code === 'reference_not_found')
      return refuse(409, 'Please set up your face first.')
    // Too many rejections: trying again now would be refused again.
    if (error instanceof ApiError && error.code === 'locked_out')
      return refuse(403, 'No more tries for now. Please ask for another way.')
    console.error(error instanceof Error ? `${error.name}: ${error.message}` : error)
    return refuse(503, 'Please try again later.')
  }
}
