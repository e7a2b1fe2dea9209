/** What the page does: it asks for a challenge, hands the frames to the bank, and shows what came of it. */

/** @typedef {import('countersign/capture').CountersignCapture} CountersignCapture */

const capture = /** @type {CountersignCapture} */ (document.querySelector('countersign-capture'))
const outcome = /** @type {HTMLOutputElement} */ (document.querySelector('output'))
const again = /** @type {HTMLButtonElement} */ (document.querySelector('main > button'))

// Not before the camera shows a picture: the time in which the frames must come begins now.
capture.addEventListener('cs-ready', async () => {
  outcome.value = ''
  // What is left of a capture that failed is not what the bank waits for.
  capture.challenge = null
  const response = await post('/challenges', { amount: '1250.00', to: 'Grace' })
  const body = await response.json()
  if (response.ok) capture.challenge = body
  else fail(body.message)
})

capture.addEventListener('cs-capture', async ({ detail }) => {
  if (detail.mode !== 'challenge') return
  // Each challenge is good for one call.
  capture.challenge = null
  const frames = detail.frames.map(async (frame) => ({ ...frame, image: await toDataUrl(frame.image) }))
  const response = await post('/transfers', { frames: await Promise.all(frames) })
  const { done, message, guidance, again: mayTryAgain = false } = await response.json()
  // In the person's language, as the component says it.
  const advice = capture.texts[/** @type {keyof typeof capture.texts} */ (guidance)] ?? ''
  outcome.value = response.ok ? `${done.amount} went to ${done.to}.` : `${message} ${advice}`.trim()
  again.hidden = !mayTryAgain
})

again.addEventListener('click', () => {
  again.hidden = true
  capture.retry()
})

/** @param {string} message */
function fail(message) {
  capture.cancel()
  outcome.value = message
}

/**
 * @param {string} path
 * @param {object} body
 */
function post(path, body) {
  return fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
}

/**
 * @param {Blob} image
 * @returns {Promise<string>}
 */
function toDataUrl(image) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(image)
  })
}
