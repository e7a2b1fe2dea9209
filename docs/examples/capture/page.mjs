/** The page asks for a challenge, hands the frames to the bank, and has the component show the outcome. */

/** @typedef {import('countersign/capture').CountersignCapture} CountersignCapture */
/** @typedef {import('countersign/capture').CaptureOutcome} CaptureOutcome */

const capture = /** @type {CountersignCapture} */ (document.querySelector('countersign-capture'))

// The challenge is asked for only when the camera shows a picture: its time begins now.
capture.addEventListener('cs-ready', async () => {
  // Frames of an earlier capture that failed do not answer this challenge.
  capture.challenge = null
  const response = await post('/challenges', { amount: '1250.00', to: 'Grace' })
  const body = await response.json()
  if (response.ok) capture.challenge = body
  // A lockout is shown before anything is filmed.
  else capture.refuse(body.message, { retry: body.again === true })
})

capture.addEventListener('cs-capture', ({ detail }) => {
  if (detail.mode !== 'challenge') return
  // Each challenge is good for one call.
  capture.challenge = null
  // Until the answer is there, the component says that the capture is being checked.
  capture.wait(confirm(detail.frames))
})

/**
 * @param {import('countersign/capture').CapturedFrame[]} captured
 * @returns {Promise<CaptureOutcome>}
 */
async function confirm(captured) {
  const frames = captured.map(async (frame) => ({ ...frame, image: await toDataUrl(frame.image) }))
  const response = await post('/transfers', { frames: await Promise.all(frames) })
  const { done, message, guidance, again = false } = await response.json()
  if (response.ok) return { ok: true, message: `${done.amount} went to ${done.to}.` }
  // The component has this text in the person's language.
  const advice = capture.texts[/** @type {keyof typeof capture.texts} */ (guidance)] ?? ''
  return { ok: false, message: `${message} ${advice}`.trim(), retry: again }
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
