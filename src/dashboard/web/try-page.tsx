/** Try it: photos or the camera through enroll and verify, with all that the service made of them. */
import { useState } from 'preact/hooks'
import type { Inspection, TriedCall } from '../contract.js'
import { callTenant, tryCall } from './api.js'
import { Badge, Card, Facts, Problem } from './parts.js'
import { Camera, Photo } from './photo.js'
import { AnswerView } from './try-answer.js'
import { useAction } from './use-action.js'

const SUFFIXES = [
  '+match',
  '+no_match',
  '+spoof',
  '+low_quality',
  '+no_face',
  '+multiple_faces',
  '+different_people',
]
/** The API takes five; three are what misses fewest people for the trouble. */
const MOST_PHOTOS = { enroll: 5, verify: 1 }

export function TryPage({ tenantId, keysHref }: { tenantId: string; keysHref: string }) {
  const [key, setKey] = useState('')
  const [userId, setUserId] = useState('ada')
  const isSandbox = key.startsWith('svc-sbx-')
  const isProduction = key.startsWith('svc-prod-')
  return (
    <>
      <Card title="Key and user">
        <div class="fields">
          <div>
            <label for="key">
              API key {isSandbox && <Badge tone="plain">sandbox</Badge>}
              {isProduction && <Badge tone="warn">production</Badge>}
            </label>
            <input
              id="key"
              type="password"
              autocomplete="off"
              placeholder="svc-sbx-… or svc-prod-…"
              aria-describedby="key-hint"
              value={key}
              onInput={(event) => setKey(event.currentTarget.value.trim())}
            />
          </div>
          <div>
            <label for="try-user">User id</label>
            <input
              id="try-user"
              autocomplete="off"
              list="suffixes"
              value={userId}
              onInput={(event) => setUserId(event.currentTarget.value)}
            />
            <datalist id="suffixes">
              {SUFFIXES.map((suffix) => (
                <option key={suffix} value={`ada${suffix}`} />
              ))}
            </datalist>
          </div>
        </div>
        <p class="muted" id="key-hint">
          {isProduction
            ? 'In production photos are enrolled and verified for real, and the audit log is written.'
            : 'In the sandbox the end of the user id chooses the outcome: +match, +no_match, +spoof, +low_quality and so on. A production key enrols and verifies for real.'}
        </p>
        <p class="muted">
          A key is shown only once, when it is made. Lost it? Reissue it on the page{' '}
          <a href={keysHref}>Keys and secrets</a>.
        </p>
      </Card>
      <div class="grid">
        <Step tenantId={tenantId} operation="enroll" apiKey={key} userId={userId} />
        <Step tenantId={tenantId} operation="verify" apiKey={key} userId={userId} />
      </div>
    </>
  )
}

function Step(props: { tenantId: string; operation: 'enroll' | 'verify'; apiKey: string; userId: string }) {
  const { tenantId, operation, apiKey, userId } = props
  const [photos, setPhotos] = useState<string[]>([])
  const photo = photos.at(-1)
  const [inspection, setInspection] = useState<Inspection | null>(null)
  const [answer, setAnswer] = useState<TriedCall | null>(null)
  const [camera, setCamera] = useState(false)
  const [cameraProblem, setCameraProblem] = useState<string | null>(null)
  const { problem, isBusy, run } = useAction()
  const base64 = (url: string) => url.slice(url.indexOf(',') + 1)

  const take = (url: string) => {
    setCamera(false)
    setCameraProblem(null)
    setPhotos((taken) => (MOST_PHOTOS[operation] > 1 ? [...taken, url] : [url]))
    setInspection(null)
    setAnswer(null)
    return run(async () =>
      setInspection(await callTenant(tenantId, 'POST /try/inspect', { image: base64(url) })),
    )
  }
  const open = async (files: Iterable<File>) => {
    for (const file of [...files].slice(
      0,
      MOST_PHOTOS[operation] - (operation === 'enroll' ? photos.length : 0),
    ))
      await take(await dataUrl(file))
  }
  const startOver = () => {
    setPhotos([])
    setInspection(null)
    setAnswer(null)
  }
  const call = () =>
    run(async () => {
      const body = {
        user_id: userId,
        images: photos.map(base64),
        ...(operation === 'enroll' ? { replace: true } : { action: { type: 'dashboard_try' } }),
      }
      setAnswer(await tryCall(tenantId, { key: apiKey, operation, body }))
    })
  const isFull = operation === 'enroll' && photos.length >= MOST_PHOTOS.enroll
  const missing = !photo ? 'Choose a photo first.' : !apiKey ? 'Type an API key above first.' : null
  return (
    <Card
      title={operation === 'enroll' ? '1. Enroll' : '2. Verify'}
      hint={
        operation === 'enroll'
          ? 'Three photos become a reference that misses far fewer people than one does.'
          : 'Is compared with the reference.'
      }
    >
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
        <button type="button" aria-pressed={camera} disabled={isFull} onClick={() => setCamera(!camera)}>
          {camera ? 'Close the camera' : 'Use the camera'}
        </button>
        {operation === 'enroll' && photos.length > 0 && (
          <>
            <button type="button" onClick={startOver}>
              Start over
            </button>
            <span class="muted">
              {photos.length < 3 ? `${photos.length} of 3 photos` : `${photos.length} photos`}
            </span>
          </>
        )}
      </div>
      {camera ? (
        <Camera
          onShot={take}
          onError={(message) => {
            setCamera(false)
            setCameraProblem(message)
          }}
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
      <Problem message={problem ?? cameraProblem} />
      {inspection && (
        <Facts
          rows={[
            ['Quality', inspection.quality.score],
            ['Face width', `${inspection.quality.face_width_px} px`],
            ['Sharpness', inspection.quality.sharpness],
            ['Brightness', inspection.quality.brightness],
            ...(inspection.liveness.checked
              ? [['Liveness', inspection.liveness.score] as [string, number | null]]
              : []),
          ]}
        />
      )}
      <div class="toolbar">
        <button type="button" class="primary" disabled={missing !== null || isBusy} onClick={call}>
          {operation === 'verify'
            ? 'Verify this photo'
            : photos.length > 1
              ? `Enroll these ${photos.length} photos`
              : 'Enroll this photo'}
        </button>
        {missing && <span class="muted">{missing}</span>}
      </div>
      {answer && <AnswerView answer={answer} />}
    </Card>
  )
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result as string)
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
}
