/** Tries a challenge: requests it when the camera shows a picture, and sends the frames as soon as they are taken. */
import { useRef, useState } from 'preact/hooks'
import type {
  CaptureChallenge,
  CaptureDetail,
  CapturedFrame,
  CountersignCapture,
} from '../../../../clients/capture/capture.js'
import { tryCall } from '../base/api.js'
import { Button } from '../base/form.js'
import { base64Of, dataUrl } from '../base/photo.js'
import { Capture } from './capture.js'
import { missingText, TRIED_ACTION, type Trial, useTrial } from './trial.js'
import { AnswerView } from './try-answer.js'

/** `modes` of the challenge, by their name on the page. */
const MOVEMENTS = {
  'Turns and nods': ['turn', 'nod'],
  'Only turns': ['turn'],
  'Only nods': ['nod'],
  'No movement': [],
} as const
type Movements = keyof typeof MOVEMENTS

interface AskedChallenge extends CaptureChallenge {
  challenge_id: string
  nonce: string
  user_id: string
}

export function TryChallenge(trial: Trial) {
  const { tenantId, operation, apiKey, userId } = trial
  const [movements, setMovements] = useState<Movements>('Turns and nods')
  const [camera, setCamera] = useState(false)
  const [sent, setSent] = useState<{
    steps: readonly string[]
    frames: Array<CapturedFrame & { url: string }>
  } | null>(null)
  const asked = useRef<AskedChallenge | null>(null)
  const { isBusy, run, feedback, answer, setAnswer, send } = useTrial(trial)
  const isEnrolment = operation === 'enroll'
  const missing = missingText(trial)

  const open = () => {
    setSent(null)
    setAnswer(null)
    setCamera(true)
  }
  const ask = (capture: CountersignCapture) =>
    run(async () => {
      const body = {
        user_id: userId,
        purpose: operation,
        modes: MOVEMENTS[movements],
        ...(isEnrolment ? {} : { action: TRIED_ACTION }),
      }
      const call = { key: apiKey, operation: 'challenge', body } as const
      const challenge = await tryCall(tenantId, call).catch((error) => {
        setCamera(false)
        throw error
      })
      if (challenge.status !== 201) {
        setCamera(false)
        setAnswer(challenge)
        return
      }
      asked.current = challenge.body as unknown as AskedChallenge
      capture.challenge = asked.current
    })
  const answerWith = (detail: CaptureDetail) =>
    run(async () => {
      setCamera(false)
      if (detail.mode !== 'challenge') return
      const { challenge_id, nonce, user_id, steps } = asked.current!
      const frames = await Promise.all(
        detail.frames.map(async (frame) => ({ ...frame, url: await dataUrl(frame.image) })),
      )
      setSent({ steps, frames })
      const taken = frames.map(({ url, ...frame }) => ({ ...frame, image: base64Of(url) }))
      await send({ user_id, challenge: { challenge_id, nonce, frames: taken } })
    })
  return (
    <>
      <label for={`movements-${operation}`}>Movements</label>
      <div class="toolbar">
        <select
          id={`movements-${operation}`}
          value={movements}
          disabled={camera}
          onChange={(event) => setMovements(event.currentTarget.value as Movements)}
        >
          {Object.keys(MOVEMENTS).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        {camera ? (
          <Button text="Close the camera" onClick={() => setCamera(false)} />
        ) : (
          <Button
            text={isEnrolment ? 'Enroll by a challenge' : 'Verify by a challenge'}
            class="primary"
            disabled={missing !== null || isBusy}
            onClick={open}
          />
        )}
        {missing && <span class="muted">{missing}</span>}
      </div>
      {camera && (
        <Capture
          mode="challenge"
          trial={trial}
          onReady={ask}
          onCapture={answerWith}
          onCancel={() => setCamera(false)}
        />
      )}
      {sent && (
        <ol class="thumbs small" aria-label={`${sent.frames.length} frames that were sent`}>
          {sent.frames.map(({ step, t_ms: tMs, url }) => (
            <li key={tMs}>
              <img
                src={url}
                alt={`${sent.steps[step]}, after ${tMs} ms`}
                title={`${sent.steps[step]}, ${tMs} ms`}
              />
            </li>
          ))}
        </ol>
      )}
      {isBusy && sent && <p class="muted">Checking…</p>}
      {feedback}
      {answer && <AnswerView answer={answer} />}
    </>
  )
}
