/** A bank in Fastify: a transfer is carried out only with a verdict of the hosted capture page that this server has checked. */
import { ACTIVE_ACR, ApiError, Countersign, VerdictError } from 'countersign/client'
import Fastify from 'fastify'

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

const app = Fastify()

/**
 * Stands for your own session: who is signed in, and the capture session that this sign-in began.
 * @param {import('fastify').FastifyRequest} request
 */
const sessionOf = (request) => {
  const cookies = new URLSearchParams(request.headers.cookie?.replaceAll('; ', '&'))
  return { user: cookies.get('user') ?? '', began: cookies.get('began') }
}

// A page with one button. It signs in a user of the sandbox whom every check approves.
app.get('/', (_request, reply) => {
  reply.header('Set-Cookie', 'user=ada%2Bmatch; Path=/; HttpOnly; SameSite=Lax').type('text/html')
  return `<!doctype html><meta charset="utf-8"><title>Bank</title><button>Send 1250.00 EUR to Grace</button><script>
    document.querySelector('button').onclick = async () => {
      const headers = { 'Content-Type': 'application/json' }
      const body = JSON.stringify({ amount: '1250.00', to: 'Grace' })
      const { url, message } = await (await fetch('/transfers', { method: 'POST', headers, body })).json()
      if (url) location = url
      else alert(message)
    }
  </script>`
})

const transferBody = {
  type: 'object',
  required: ['amount', 'to'],
  properties: { amount: { type: 'string' }, to: { type: 'string' } },
}

app.post('/transfers', { schema: { body: transferBody } }, async (request, reply) => {
  const { user } = sessionOf(request)
  const { amount, to } = /** @type {{ amount: string, to: string }} */ (request.body)
  const action = { type: 'transfer', amount, to }
  const { session_id, url } = await countersign.createCaptureSession({
    user_id: user,
    action,
    require_liveness: 'active',
    description: `Transfer of ${amount} EUR to ${to}`,
    return_url: `${bankUrl}/confirmed`,
  })
  waiting.set(session_id, { user, action })
  reply.header('Set-Cookie', `began=${session_id}; Path=/; HttpOnly; SameSite=Lax`)
  return reply.code(201).send({ url })
})

// The page leads back here. Anybody may have sent the address: it has to be that of the transfer which this very sign-in began.
app.get('/confirmed', async (request, reply) => {
  const { user, began } = sessionOf(request)
  const { capture_session: id = '', capture_proof: proof } =
    /** @type {{ capture_session?: string, capture_proof?: string }} */ (request.query)
  const transfer = waiting.get(id)
  if (!transfer || transfer.user !== user || began !== id)
    return reply.code(404).send({ message: 'Nothing waits to be confirmed.' })
  // Only the browser that captured brings the proof. Another one may be that of a person who passed the link on.
  const session = await countersign.getCaptureSession(id, { proof })
  if (session.status === 'open' || session.status === 'in_progress')
    return reply.code(409).send({ message: 'This is not confirmed yet.' })
  if (session.result_withheld)
    return reply.code(403).send({ message: 'Please go back to the browser in which you confirmed.' })
  // The transfer no longer waits, whether it is carried out or not.
  waiting.delete(id)
  const { action } = transfer
  // Throws a VerdictError unless it is an approval of this action by this user in this session, used for the first time.
  const { jti } = await countersign.verifyVerdict(session, {
    userId: user,
    action,
    captureSessionId: id,
    acr: ACTIVE_ACR,
  })
  // Here the money moves.
  return { done: action, countersigned: jti }
})

app.setErrorHandler((error, _request, reply) => {
  // Rejected, cancelled, expired, or not of this person: the log says which.
  if (error instanceof VerdictError) {
    console.error(error.message)
    return reply.code(403).send({ message: 'Not confirmed.' })
  }
  if (error instanceof ApiError && error.code === 'reference_not_found')
    return reply.code(409).send({ message: 'Please set up your face first.' })
  // Too many rejections: trying again now would be refused again.
  if (error instanceof ApiError && error.code === 'locked_out')
    return reply.code(403).send({ message: 'No more tries for now. Please ask for another way.' })
  // Fastify's own: no JSON, or not a transfer.
  if (error instanceof Error && 'statusCode' in error && Number(error.statusCode) < 500)
    return reply.code(400).send({ message: 'This cannot be read.' })
  console.error(error)
  return reply.code(503).send({ message: 'Please try again later.' })
})

const address = await app.listen({ port: Number(PORT), host: '127.0.0.1' })
bankUrl ||= address
console.log(bankUrl)
