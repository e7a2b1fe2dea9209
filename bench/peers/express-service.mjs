/**
 * A face verification service as a first version is often written: Express, JSON with base64, inference where the
 * request is handled.
 */
import express from 'express'
import { loadRecognizer } from './naive-recognition.mjs'

const recognizer = await loadRecognizer(process.argv[2])
const references = new Map()

const app = express()
app.use(express.json({ limit: '10mb' }))

app.post('/enroll', async (request, response) => {
  const { user, image } = request.body
  const embedding = await recognizer.embed(Buffer.from(image, 'base64'))
  if (!embedding) return response.status(422).json({ error: 'no face' })
  references.set(user, embedding)
  response.status(201).json({ enrolled: true })
})

app.post('/verify', async (request, response) => {
  const { user, image } = request.body
  const reference = references.get(user)
  if (!reference) return response.status(404).json({ error: 'unknown user' })
  const embedding = await recognizer.embed(Buffer.from(image, 'base64'))
  if (!embedding) return response.status(422).json({ error: 'no face' })
  response.json({ score: recognizer.score(embedding, reference) })
})

const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`)
})
// The service ends with the process that started it.
process.stdin.resume().on('end', () => process.exit(0))
