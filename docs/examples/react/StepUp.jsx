'use client'
/** A transfer that is confirmed in front of the camera. The backend is that of docs/examples/capture. */
import 'countersign/capture'
import { useEffect, useRef, useState } from 'react'

/**
 * @param {{ transfer: { amount: string, to: string }, onDone: (done: { countersigned: string }) => void }} props
 */
export function StepUp({ transfer, onDone }) {
  /** @type {import('react').RefObject<import('countersign/capture').CountersignCapture | null>} */
  const element = useRef(null)
  const [message, setMessage] = useState('')
  const [mayTryAgain, setMayTryAgain] = useState(false)
  // A parent that renders again must not turn the camera off: what it passes is read when it is needed.
  const latest = useRef({ transfer, onDone })
  latest.current = { transfer, onDone }

  useEffect(() => {
    const capture = element.current
    if (!capture) return
    const mounted = new AbortController()
    const { signal } = mounted

    // The challenge is asked for only when the camera shows a picture: its time begins now.
    const askForChallenge = async () => {
      capture.challenge = null
      const response = await post('/challenges', latest.current.transfer, signal)
      const body = await response.json()
      if (response.ok) capture.challenge = body
      else refuse(body)
    }
    const sendFrames = async (/** @type {CustomEvent} */ { detail }) => {
      if (detail.mode !== 'challenge') return
      // Each challenge is good for one call.
      capture.challenge = null
      setMessage('Checking …')
      const frames = detail.frames.map(async (frame) => ({ ...frame, image: await toDataUrl(frame.image) }))
      const response = await post('/transfers', { frames: await Promise.all(frames) }, signal)
      const body = await response.json()
      if (!response.ok) return refuse(body)
      setMessage(`${body.done.amount} went to ${body.done.to}.`)
      latest.current.onDone(body)
    }
    const refuse = (/** @type {{ message: string, guidance?: string, again?: boolean }} */ body) => {
      capture.cancel()
      // The component has this text in the person's language.
      setMessage(`${body.message} ${capture.texts[body.guidance ?? ''] ?? ''}`.trim())
      setMayTryAgain(body.again === true)
    }
    const failed = (/** @type {unknown} */ error) => {
      if (!signal.aborted) refuse({ message: 'Please try again later.', again: true })
      if (!signal.aborted) console.error(error)
    }
    capture.addEventListener('cs-ready', () => askForChallenge().catch(failed), { signal })
    capture.addEventListener('cs-capture', (event) => sendFrames(event).catch(failed), { signal })
    return () => {
      mounted.abort()
      capture.cancel()
    }
  }, [])

  function tryAgain() {
    setMessage('')
    setMayTryAgain(false)
    element.current?.retry()
  }

  return (
    <section>
      <h1>
        {transfer.amount} to {transfer.to}
      </h1>
      <countersign-capture ref={element} mode="challenge" guide-url="/guidance">
        <p slot="consent">
          Your face is compared with the one you enrolled. No picture is kept. You can call us instead.
        </p>
        <p slot="done">The camera is off.</p>
      </countersign-capture>
      <output>{message}</output>
      {mayTryAgain && (
        <button type="button" onClick={tryAgain}>
          Another try
        </button>
      )}
    </section>
  )
}

function post(path, body, signal) {
  return fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  })
}

/** @param {Blob} image @returns {Promise<string>} */
function toDataUrl(image) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(image)
  })
}
