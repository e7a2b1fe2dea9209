/** Takes the webhooks of a Countersign: checks the signature over the raw body, answers at once, acts once. */
import { SignatureError, verifyWebhook } from 'countersign/client'
import express from 'express'

const { CS_SIGNING_SECRETS = '', CS_ENVIRONMENT, PORT = '3001' } = process.env

// One secret signs for both environments, so events of the other environment are refused.
const environment = CS_ENVIRONMENT === 'sandbox' ? 'sandbox' : 'production'

const app = express()

/** Events that were seen: in your database, for a week, with a unique index on the id. */
const seen = new Set()

// The raw bytes: what has been parsed and written again is not what was signed.
app.post(
  '/countersign',
  express.raw({ type: 'application/json', limit: '64kb' }),
  async (request, response) => {
    // In production read them from your secret store here, for each event, so that a rotation needs no restart.
    const secrets = CS_SIGNING_SECRETS.split(',')
    const event = await verifyWebhook(request.headers, request.body, secrets, { environment })
    // Before the work, which may take longer than the service waits.
    response.sendStatus(204)
    if (seen.has(event.id)) return
    seen.add(event.id)
    act(event)
  },
)

/** @param {import('countersign/client').WebhookEvent} event */
function act({ type, data }) {
  if (type === 'user.locked_out') console.log(`${data.user_id} is locked out until ${data.ends_at}`)
  else if (type === 'user.disabled') console.log(`${data.user_id} must be enrolled again`)
  else if (type === 'user.erased') console.log(`${data.user_id} is erased: ${data.erasure_id}`)
  else console.log(type)
}

/** @type {express.ErrorRequestHandler} */
const refuse = (error, _request, response, next) => {
  if (response.headersSent) return next(error)
  if (error instanceof SignatureError) return void response.status(400).json({ error: error.code })
  console.error(error)
  response.status(500).json({ error: 'internal' })
}
app.use(refuse)

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address()
  console.log(`http://127.0.0.1:${typeof address === 'object' ? address?.port : PORT}/countersign`)
})
