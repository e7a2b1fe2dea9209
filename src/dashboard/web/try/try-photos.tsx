/** Takes photos from files or the camera, shows the engine's findings on each, and makes the call with them. */
import { useState } from 'preact/hooks'
import type { Inspection } from '../../contract.js'
import { callTenant } from '../base/api.js'
import { Button } from '../base/form.js'
import { Facts } from '../base/parts.js'
import { base64Of, dataUrl, Photo } from '../base/photo.js'
import { Capture } from './capture.js'
import { missingText, type Trial, useTrial } from './trial.js'
import { AnswerView } from './try-answer.js'

/** Most photos of a call; the API accepts no more. */
const MAX_PHOTOS = { enroll: 5, verify: 1 }

export function TryPhotos(trial: Trial) {
  const { tenantId, operation, userId } = trial
  const [photos, setPhotos] = useState<string[]>([])
  const photo = photos.at(-1)
  const [inspection, setInspection] = useState<Inspection | null>(null)
  const [camera, setCamera] = useState(false)
  const { isBusy, run, feedback, answer, setAnswer, send } = useTrial(trial)

  const take = async (file: Blob) => {
    const url = await dataUrl(file)
    setCamera(false)
    setPhotos((taken) => (MAX_PHOTOS[operation] > 1 ? [...taken, url] : [url]))
    setInspection(null)
    setAnswer(null)
    await run(async () =>
      setInspection(await callTenant(tenantId, 'POST /try/inspect', { image: base64Of(url) })),
    )
  }
  const open = async (files: Iterable<File>) => {
    const room = MAX_PHOTOS[operation] - (operation === 'enroll' ? photos.length : 0)
    for (const file of [...files].slice(0, room)) await take(file)
  }
  const startOver = () => {
    setPhotos([])
    setInspection(null)
    setAnswer(null)
  }
  const call = () => run(() => send({ user_id: userId, images: photos.map(base64Of) }))
  const enrolText = photos.length > 1 ? `Enroll these ${photos.length} photos` : 'Enroll this photo'
  const callText = operation === 'verify' ? 'Verify this photo' : enrolText
  const isFull = operation === 'enroll' && photos.length >= MAX_PHOTOS.enroll
  const missing = !photo ? 'Choose a photo first.' : missingText(trial)
  return (
    <>
      <div class="toolbar">
        <label class="button file">
          {operation === 'enroll' ? 'Choose photos' : 'Choose a photo'}
          <input
            type="file"
            multiple={operation === 'enroll'}
            disabled={isFull}
            accept="image/jpeg,image/png,image/webp"
            aria-label={`Photo to ${operation}`}
            onChange={(event) => void open(event.currentTarget.files ?? [])}
          />
        </label>
        <Button
          text={camera ? 'Close the camera' : 'Use the camera'}
          aria-pressed={camera}
          disabled={isFull}
          onClick={() => setCamera(!camera)}
        />
        {operation === 'enroll' && photos.length > 0 && (
          <>
            <Button text="Start over" onClick={startOver} />
            <span class="muted">
              {photos.length < 3 ? `${photos.length} of 3 photos` : `${photos.length} photos`}
            </span>
          </>
        )}
      </div>
      {camera ? (
        <Capture
          mode="photo"
          trial={trial}
          onCapture={(detail) => detail.mode === 'photo' && void take(detail.images[0]!)}
          onCancel={() => setCamera(false)}
        />
      ) : photo ? (
        <>
          <Photo url={photo} inspection={inspection} />
          {photos.length > 1 && (
            <ol class="thumbs" aria-label={`${photos.length} photos to enroll`}>
              {photos.map((url, index) => (
                <li key={url}>
                  <img src={url} alt={`Number ${index + 1}`} />
                </li>
              ))}
            </ol>
          )}
        </>
      ) : (
        <div class="photo none">No photo yet</div>
      )}
      {feedback}
      {inspection && (
        <Facts
          rows={[
            ['Quality', inspection.quality.score],
            ['Face width', `${inspection.quality.face_width_px} px`],
            ['Sharpness', inspection.quality.sharpness],
            ['Brightness', inspection.quality.brightness],
            inspection.liveness.checked && ['Liveness', inspection.liveness.score],
          ]}
        />
      )}
      <div class="toolbar">
        <Button text={callText} class="primary" disabled={missing !== null || isBusy} onClick={call} />
        {missing && <span class="muted">{missing}</span>}
      </div>
      {answer && <AnswerView answer={answer} />}
    </>
  )
}
