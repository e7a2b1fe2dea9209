/** A bank of one page: a transfer needs the face of who is signed in. */
import { Countersign } from 'countersign/client'
import { stepUp } from 'countersign/client/express'
import express from 'express'

const { CS_BASE_URL, CS_API_KEY, CS_SIGNING_SECRETS, CS_TENANT_ID, PORT = '3000' } = process.env

const countersign = new Countersign({
  baseUrl: CS_BASE_URL,
  apiKey: CS_API_KEY,
  signingSecret: CS_SIGNING_SECRETS.split(','),
  tenantId: CS_TENANT_ID,
})

const app = express()
app.use(express.json({ limit: '8mb' }))

/** Stands for your own session: who is signed in. */
const signedIn = (request) => request.get('x-user')

/** Everything that matters in a transfer, read where it is carried out and nowhere else. */
const transferOf = ({ body }) => ({ type: 'transfer', amount: body.amount, to: body.to })

// At sign-up, after consent: the photo becomes the reference.
app.post('/enrolment', async (request, response) => {
  const { status } = await countersign.enroll({ user_id: signedIn(request), image: request.body.photo })
  response.status(201).json({ status })
})

// The page was challenged, took a photo, and asks for the action to be countersigned.
app.post('/step-up', async (request, response) => {
  const { action, photo } = request.body
  const { verdict, reason, jwt } = await countersign.verify({
    user_id: signedIn(request),
    image: photo,
    action,
  })
  response.json({ verdict, reason, jwt })
})

// The action itself: only with a verdict about this user and this very transfer, and only once.
app.post(
  '/transfers',
  stepUp({ verifier: countersign, user: signedIn, action: transferOf }),
  (request, response) => {
    response.json({ done: transferOf(request), countersigned: response.locals.verdict.jti })
  },
)

app.listen(Number(PORT), '127.0.0.1', function listening() {
  console.log(`http://127.0.0.1:${this.address().port}`)
})
