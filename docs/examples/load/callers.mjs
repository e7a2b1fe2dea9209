/** Callers who verify, each one call after the other, and what they saw: node callers.mjs <folder of photos> [callers] [seconds] */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Countersign } from 'countersign/client'

const { CS_BASE_URL = '', CS_API_KEY = '', CS_SIGNING_SECRETS = '' } = process.env
const [folder = '.', callers = '8', seconds = '60'] = process.argv.slice(2)

const fresh = () => ({ approved: 0, failed: 0, triedAgain: 0, longestMs: 0 })
const total = fresh()
let second = fresh()

const countersign = new Countersign({
  baseUrl: CS_BASE_URL,
  apiKey: CS_API_KEY,
  signingSecret: CS_SIGNING_SECRETS.split(','),
  onRetry: () => {
    total.triedAgain++
    second.triedAgain++
  },
})

const names = ['ada.jpg', 'ada-2.jpg', 'ada-3.jpg', 'ada-today.jpg']
const [image = Buffer.alloc(0), ...images] = (
  await Promise.all(names.map((name) => readFile(join(folder, name))))
).reverse()
await countersign.enroll({ user_id: 'ada-load', images, replace: true })

const startedAt = performance.now()
const elapsed = () => (performance.now() - startedAt) / 1000

async function call() {
  const began = performance.now()
  /** @type {'approved' | 'failed'} */
  let outcome = 'failed'
  try {
    const { verdict } = await countersign.verify({ user_id: 'ada-load', image, action: 'load' })
    if (verdict === 'approved') outcome = verdict
    else console.log(verdict)
  } catch (error) {
    console.log(String(error))
  }
  const tookMs = Math.round(performance.now() - began)
  for (const count of [total, second]) {
    count[outcome]++
    count.longestMs = Math.max(count.longestMs, tookMs)
  }
}

const timer = setInterval(() => {
  console.log(`${Math.round(elapsed())} s`, JSON.stringify(second))
  second = fresh()
}, 1000)
await Promise.all(
  Array.from({ length: Number(callers) }, async () => {
    while (elapsed() < Number(seconds)) await call()
  }),
)
clearInterval(timer)
console.log('all', JSON.stringify(total))
