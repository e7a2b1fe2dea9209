/** A bank that has transfers confirmed on the hosted capture page: it sends the person there and acts when they are back. */
import { ACTIVE_ACR, ApiError, Countersign, VerdictError } from 'countersign/client'
import express from 'express'

const {
  CS_BASE_URL = '',
  CS_API_KEY = '',
  CS_SIGNING_SECRETS = '',
  CS_TENANT_ID = '',
  CS_ACCEPT_EVALUATION,
  PORT = '3000',
} = process.env
/** Where browsers reach this bank. Its origin must be allowed: countersign tenant capture-page <tenant> --return-origin … */
let bankUrl = process.env.BANK_URL ?? ''

const countersign = new Countersign({
  baseUrl: CS_BASE_URL,
  apiKey: CS_API_KEY,
  signingSecret: CS_SIGNING_SECRETS.split(','),
  tenantId: CS_TENANT_ID,
  // The demo's model pack is of evaluation grade, whose verdicts production refuses. Do not set the variable in production.
  acceptEvaluationGrade: CS_ACCEPT_EVALUATION === 'true',
})

/**
 * Transfers that wait for a face, by the id of their session, and who is to confirm them. Stands for your database.
 * @type {Map<string, { user: string, action: { type: string, amount: string, to: string } }>}
 */
const waiting = new Map()

const app = express()
app.use(express.json())

/**
 * Stands for your own session: who is signed in, and the capture session that this sign-in began.
 * @param {express.Request} request
 */
const sessionOf = (request) => {
  const cookies = new URLSearchParams(request.get('cookie')?.replaceAll('; ', '&'))
  return { user: cookies.get('user') ?? '', began: cookies.get('began') }
}

app.post('/transfers', async (request, response) => {
  const { user } = sessionOf(request)
  const { amount, to } = request.body
  const action = { type: 'transfer', amount: String(amount), to: String(to) }
  const { session_id, url } = await countersign.createCaptureSession({
    user_id: user,
    action,
    require_liveness: 'active',
    description: `Transfer of ${action.amount} EUR to ${action.to}`,
    return_url: `${bankUrl}/confirmed`,
  })
  waiting.set(session_id, { user, action })
  response.cookie('began', session_id, { httpOnly: true, sameSite: 'lax' }).status(201).json({ url })
})

// The page leads back here. Anybody may have sent the address: it has to be that of the transfer which this very sign-in began.
app.get('/confirmed', async (request, response) => {
  const { user, began } = sessionOf(request)
  const id = String(request.query.capture_session)
  const transfer = waiting.get(id)
  if (!transfer || transfer.user !== user || began !== id)
    return response.status(404).json({ message: 'Nothing waits to be confirmed.' })
  // Only the browser that captured brings the proof. Another one may be that of a person who passed the link on.
  const proof = String(request.query.capture_proof ?? '')
  const session = await countersign.getCaptureSession(id, { proof })
  if (session.status === 'open' || session.status === 'in_progress')
    return response.status(409).json({ message: 'This is not confirmed yet.' })
  if (session.result_withheld)
    return response.status(403).json({ message: 'Please go back to the browser in which you confirmed.' })
  // The transfer no longer waits, whether it is carried out or not.
  waiting.delete(id)
  const { action } = transfer
  const { jti } = await countersign.verifyVerdict(session, {
    userId: user,
    action,
    captureSessionId: id,
    acr: ACTIVE_ACR,
  })
  response.json({ done: action, countersigned: jti })
})

/** @type {express.ErrorRequestHandler} */
const onError = (error, _request, response, next) => {
  if (response.headersSent) return next(error)
  // Rejected, cancelled, expired, or not of this person: the log says which.
  if (error instanceof VerdictError) {
    console.error(error.message)
    return response.status(403).json({ message: 'Not confirmed.' })
  }
  if (error instanceof ApiError && error.code === 'reference_not_found')
    return response.status(409).json({ message: 'Please set up your face first.' })
  // Too many rejections: trying again now would be refused again.
  if (error instanceof ApiError && error.code === 'locked_out')
    return response.status(403).json({ message: 'No more tries for now. Please ask for another way.' })
  console.error(error instanceof Error ? `${error.name}: ${error.message}` : error)
  response.status(503).json({ message: 'Please try again later.' })
}
app.use(onError)

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address()
  if (!address || typeof address !== 'object') return
  bankUrl ||= `http://127.0.0.1:${address.port}`
  console.log(bankUrl)
})
