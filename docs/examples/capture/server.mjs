/** The backend of the page: it holds the API key, asks for challenges, and believes a verdict only after its JWT was checked. */
import { fileURLToPath } from 'node:url'
import { ACTIVE_ACR, ApiError, Countersign } from 'countersign/client'
import express from 'express'

const {
  CS_BASE_URL = '',
  CS_API_KEY = '',
  CS_SIGNING_SECRETS = '',
  CS_TENANT_ID = '',
  CS_ACCEPT_EVALUATION,
  PORT = '3000',
} = process.env

const countersign = new Countersign({
  baseUrl: CS_BASE_URL,
  apiKey: CS_API_KEY,
  signingSecret: CS_SIGNING_SECRETS.split(','),
  tenantId: CS_TENANT_ID,
  // The demo's model pack is of evaluation grade, whose verdicts production refuses. Do not set the variable in production.
  acceptEvaluationGrade: CS_ACCEPT_EVALUATION === 'true',
})

/**
 * Transfers that wait for a face, by user; what is carried out is what the challenge was made for. Stands for your session store.
 * @type {Map<string, { action: { type: string, amount: string, to: string }, challenge_id: string, nonce: string }>}
 */
const waiting = new Map()

/** Your way without the face is no weaker than the face. */
const LOCKED_OUT = {
  message: 'No more tries for now. Please call us at the number on your card.',
}

const app = express()
app.use((_request, response, next) => {
  response.set('Content-Security-Policy', "default-src 'none'; script-src 'self'; connect-src 'self'")
  response.set('Permissions-Policy', 'camera=(self)')
  next()
})
// This stands for signing in: a browser that opens `/?user=ada` is Ada's from then on.
app.get('/', (request, response, next) => {
  response.cookie('user', String(request.query.user ?? ''), { httpOnly: true, sameSite: 'strict' })
  next()
})
// The component and what it imports lie in one folder.
app.use('/capture', express.static(fileURLToPath(new URL('.', import.meta.resolve('countersign/capture')))))
for (const [path, file] of [
  ['/', 'index.html'],
  ['/page.mjs', 'page.mjs'],
])
  app.get(path, (_request, response) =>
    response.type(file).sendFile(fileURLToPath(new URL(file, import.meta.url))),
  )
app.use(express.json({ limit: '8mb' }))

/**
 * Stands for your own session: who is signed in.
 * @param {express.Request} request
 */
const signedIn = (request) =>
  new URLSearchParams(request.get('cookie')?.replaceAll('; ', '&')).get('user') ?? ''

/**
 * The last good look ahead by user, from which a nod is measured: in memory, until the frames come. Stands for your session store.
 * @type {Map<string, Buffer>}
 */
const ahead = new Map()

app.post('/guidance', express.raw({ type: 'image/jpeg', limit: '100kb' }), async (request, response) => {
  const user = signedIn(request)
  const step = /** @type {import('countersign/client').ChallengeStep} */ (request.query.step)
  const frontal = ahead.get(user)
  const frame = { image: request.body, step, ...(frontal ? { frontal } : {}), user_id: user }
  // Advice that comes late is none, and the person goes on without it.
  const { guidance } = await countersign.guide(frame, { timeoutMs: 2000 })
  if (step === 'frontal' && guidance.length === 0) ahead.set(user, request.body)
  response.json({ guidance })
})

app.post('/challenges', async (request, response) => {
  const user = signedIn(request)
  const { amount, to } = request.body
  const action = { type: 'transfer', amount: String(amount), to: String(to) }
  // The nonce stays here: the browser has no use for it.
  const { nonce, ...challenge } = await countersign.createChallenge({ user_id: user, action })
  waiting.set(user, { action, challenge_id: challenge.challenge_id, nonce })
  response.status(201).json(challenge)
})

app.post('/transfers', async (request, response) => {
  const user = signedIn(request)
  const transfer = waiting.get(user)
  waiting.delete(user)
  ahead.delete(user)
  if (!transfer) return response.status(409).json({ message: 'Nothing waits to be confirmed.' })
  const { action, challenge_id, nonce } = transfer
  const answer = await countersign.verify(
    {
      user_id: user,
      action,
      challenge: { challenge_id, nonce, frames: request.body.frames },
      require_liveness: 'active',
    },
    // The challenge is of this transfer only. Asked again, such as after a lost answer, the service gives the same answer.
    { idempotencyKey: `transfer-${challenge_id}` },
  )
  if (answer.reason === 'locked_out') return response.status(403).json(LOCKED_OUT)
  if (answer.verdict !== 'approved')
    // The page may have the guidance; findings and scores stay here.
    return response.status(403).json({
      message: 'Not confirmed.',
      guidance: answer.liveness.guidance[0],
      again: true,
    })
  const { jti } = await countersign.verifyVerdict(answer, {
    userId: user,
    action,
    acr: ACTIVE_ACR,
  })
  response.json({ done: action, countersigned: jti })
})

// Stands for your way without a face.
app.get('/call', (_request, response) => {
  response.type('text').send('Call us at 555-0100: we ask you what only you know.')
})

/** @type {express.ErrorRequestHandler} */
const onError = (error, _request, response, next) => {
  if (response.headersSent) return next(error)
  const isOfCapture = error instanceof ApiError && error.category === 'biometric_rejected'
  if (isOfCapture) return response.status(422).json({ message: 'Please try again.', again: true })
  // A lockout is answered before the person films anything.
  if (error instanceof ApiError && error.code === 'locked_out') return response.status(403).json(LOCKED_OUT)
  if (error instanceof ApiError && error.code === 'reference_not_found')
    return response.status(409).json({ message: 'Please set up your face first.' })
  console.error(error instanceof Error ? `${error.name}: ${error.message}` : error)
  response.status(503).json({ message: 'Please try again later.', again: true })
}
app.use(onError)

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address()
  if (address && typeof address === 'object') console.log(`http://127.0.0.1:${address.port}`)
})
