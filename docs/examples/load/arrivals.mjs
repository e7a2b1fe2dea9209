/** Sends verifications at a rate, as users do: node arrivals.mjs <rate> <seconds>, in the folder with the bodies of docs/guides/load-testing.md. */
import { readFileSync } from 'node:fs'
// @ts-expect-error: the package is installed for the test only, by npm install autocannon@8.
import autocannon from 'autocannon'

const [rate, seconds] = process.argv.slice(2).map(Number)
const bodies = Array.from({ length: 200 }, (_, i) => readFileSync(`verify-${i + 1}.json`, 'utf8'))
/** @type {Record<string, number>} */
const answers = {}
const result = await autocannon({
  url: `${process.env.CS_BASE_URL}/verify`,
  method: 'POST',
  headers: { authorization: `Bearer ${process.env.CS_API_KEY}`, 'content-type': 'application/json' },
  connections: 100,
  overallRate: rate,
  duration: seconds,
  timeout: 15,
  requests: [
    {
      /** @param {object} request */
      setupRequest: (request) => ({ ...request, body: bodies[Math.floor(Math.random() * bodies.length)] }),
      /**
       * @param {number} status
       * @param {string} body
       */
      onResponse(status, body) {
        const { verdict, code } = JSON.parse(body)
        const answer = `${status} ${verdict ?? code}`
        answers[answer] = (answers[answer] ?? 0) + 1
      },
    },
  ],
})
const { p50, p90, p97_5, p99, max } = result.latency
console.log(answers, { sent: result.requests.sent, timeouts: result.timeouts })
console.log({ p50, p90, p97_5, p99, max })
