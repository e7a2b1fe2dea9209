/** A bank of one page: a transfer needs the face of who is signed in, or a call by a clerk. */
import { randomUUID } from 'node:crypto'
import { ACTIVE_ACR, ApiError, Countersign, CountersignError } from 'countersign/client'
import { stepUp } from 'countersign/client/express'
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

const app = express()
// The frames of a challenge. The SDK refuses what the service would not take.
app.use(express.json({ limit: '8mb' }))

/**
 * Stands for your own session: who is signed in.
 * @param {express.Request} request
 */
const signedIn = (request) => request.get('x-user') ?? ''

/**
 * Everything that matters in a transfer, read where it is carried out and nowhere else.
 * @param {express.Request} request
 */
const transferOf = ({ body }) => ({ type: 'transfer', amount: String(body.amount), to: String(body.to) })

/** After so many tries in a row that came to nothing, the person is offered the way without the face. */
const MOST_TRIES = 3

/**
 * Tries since the last approval, by user. Stands for your session store.
 * @type {Map<string, number>}
 */
const tries = new Map()

/** @param {string} user */
const hasTriedEnough = (user) => (tries.get(user) ?? 0) >= MOST_TRIES

/**
 * Transfers that wait for a clerk, who calls the number on file. Stands for your own way without the face.
 * @type {Map<string, { user: string, action: object }>}
 */
const forClerk = new Map()

/** @type {express.RequestHandler} */
function withPhotos(request, response, next) {
  const photos = request.body?.photos
  const areThere =
    Array.isArray(photos) && photos.length > 0 && photos.every((one) => typeof one === 'string')
  if (signedIn(request) && areThere) return next()
  response.status(400).json({ error: 'invalid_request', message: 'Sign in, and send photos.' })
}

// At sign-up, after consent: the photos, three of them, become the reference.
app.post('/enrolment', withPhotos, async (request, response) => {
  const { status, quality } = await countersign.enroll({
    user_id: signedIn(request),
    images: request.body.photos,
  })
  response.status(201).json({ status, views: quality.views })
})

/**
 * The challenge that a user is to answer, and for which action. The nonce stays here: the browser has no use for it. Stands for your
 * session store.
 * @type {Map<string, { challenge_id: string, nonce: string, action: import('countersign/client').Action }>}
 */
const challenges = new Map()

// The action must be countersigned, so the page asks for the movements that the person makes before the camera.
app.post('/step-up/challenge', async (request, response) => {
  const user = signedIn(request)
  if (!user) return response.status(401).json({ error: 'unauthenticated', message: 'Sign in first.' })
  const { action } = request.body
  const { nonce, ...challenge } = await countersign.createChallenge({ user_id: user, action })
  challenges.set(user, { challenge_id: challenge.challenge_id, nonce, action })
  response.status(201).json(challenge)
})

// The page sends the frames of these movements. A photo would not be enough: a printed one would pass.
app.post('/step-up', async (request, response) => {
  const user = signedIn(request)
  const asked = challenges.get(user)
  // Each challenge is good for one call.
  challenges.delete(user)
  if (!asked || !Array.isArray(request.body?.frames))
    return response
      .status(400)
      .json({ error: 'invalid_request', message: 'Ask for a challenge, and send its frames.' })
  tries.set(user, (tries.get(user) ?? 0) + 1)
  const { challenge_id, nonce, action } = asked
  const { verdict, reason, liveness, jwt } = await countersign.verify(
    {
      user_id: user,
      action,
      challenge: { challenge_id, nonce, frames: request.body.frames },
      require_liveness: 'active',
    },
    // The challenge is of this transfer only. Asked again, such as after a lost answer, the service gives the same answer.
    { idempotencyKey: `transfer-${challenge_id}` },
  )
  if (verdict === 'approved') tries.delete(user)
  // The page gets a token only if it may use it, and no more of a rejection than the guidance.
  if (verdict === 'approved') return response.json({ verdict, jwt })
  const [guidance] = liveness.guidance
  response.json({ verdict, reason, guidance, otherWay: reason === 'locked_out' || hasTriedEnough(user) })
})

// Open from the start: nobody has to fail first, and nobody has to say why. It is no weaker than the face, or it would be the attacker's way.
app.post('/transfers/by-phone', (request, response) => {
  const user = signedIn(request)
  if (!user) return response.status(401).json({ error: 'unauthenticated', message: 'Sign in first.' })
  const id = randomUUID()
  forClerk.set(id, { user, action: transferOf(request) })
  response.status(202).json({ waiting: id, message: 'We call you at the number that we know.' })
})

// The action itself: only with a verdict about this user and this very transfer, with active liveness, and only once. A capture
// that was seen before is refused, unless the route sets `acceptReplays`.
app.post(
  '/transfers',
  stepUp({ verifier: countersign, user: signedIn, action: transferOf, acr: ACTIVE_ACR }),
  (request, response) => {
    response.json({ done: transferOf(request), countersigned: response.locals.verdict.jti })
  },
)

/**
 * Last of all. A photo that cannot be used is the page's to take again; everything else is ours, and only the log says
 * what it was.
 * @type {express.ErrorRequestHandler}
 */
const onError = (error, request, response, next) => {
  if (response.headersSent) return next(error)
  const { code = '', category = '', details = [] } = error instanceof ApiError ? error : {}
  if (category === 'biometric_rejected' || details.some(({ path }) => /^(image|challenge)/.test(path))) {
    // `message` and `issue` are for developers; each detail's `hint` is what a person can do, and `guidance` the same as a code.
    const hints = details.flatMap(({ hint }) => hint ?? [])
    const message = ['Please take another photo.', ...new Set(hints)].join(' ')
    const otherWay = hasTriedEnough(signedIn(request)) ? { otherWay: true } : {}
    return response.status(422).json({ error: code, message, ...otherWay })
  }
  if (code === 'reference_not_found')
    return response.status(409).json({ error: code, message: 'Please set up your face first.' })
  // A lockout is answered before the person films anything.
  if (code === 'locked_out')
    return response.status(403).json({ error: code, message: 'No more tries for now.', otherWay: true })
  if (code === 'already_enrolled')
    return response.status(409).json({ error: code, message: 'Your face is set up already.' })
  // Express's own: no JSON, or too much of it.
  if (!(error instanceof CountersignError) && error.status < 500)
    return response.status(error.status).json({ error: 'invalid_request', message: 'This cannot be read.' })
  console.error(error instanceof CountersignError ? `${error.name}: ${error.message}` : error)
  response.status(503).json({ error: 'unavailable', message: 'Please try again later.' })
}
app.use(onError)

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address()
  if (address && typeof address === 'object') console.log(`http://127.0.0.1:${address.port}`)
})
