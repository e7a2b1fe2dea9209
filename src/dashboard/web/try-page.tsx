/** Try it: two photos or the camera through enroll and verify, with all that the service made of them. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { post } from './api.js'
import { Badge, Card, Facts, Problem } from './parts.js'

interface Inspection {
  box: { x: number; y: number; width: number; height: number }
  landmarks: Array<[number, number]> | null
  quality: Record<string, number>
  timings_ms: Record<string, number>
}
interface Answer {
  environment: string
  status: number
  headers: Record<string, string>
  body: Record<string, unknown>
  signature_valid: boolean
  jwt?: { valid: boolean; kid: string; claims: unknown }
}

export function TryPage({ tenantId }: { tenantId: string }) {
  const [key, setKey] = useState('')
  const [userId, setUserId] = useState('ada')
  return (
    <>
      <Card title="Key and user">
        <div class="fields">
          <div>
            <label for="key">API key</label>
            <input
              id="key"
              type="password"
              autocomplete="off"
              placeholder="svc-sbx-… or svc-prod-…"
              value={key}
              onInput={(event) => setKey(event.currentTarget.value.trim())}
            />
          </div>
          <div>
            <label for="try-user">User id</label>
            <input id="try-user" value={userId} onInput={(event) => setUserId(event.currentTarget.value)} />
          </div>
        </div>
        <p class="muted">
          A sandbox key gets synthetic verdicts; a production key enrols and verifies for real and writes to
          the audit log.
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
  const [photo, setPhoto] = useState<string | null>(null)
  const [inspection, setInspection] = useState<Inspection | null>(null)
  const [answer, setAnswer] = useState<Answer | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [camera, setCamera] = useState(false)
  const path = `/tenants/${tenantId}/try`
  const base64 = (url: string) => url.slice(url.indexOf(',') + 1)

  const take = async (url: string) => {
    setCamera(false)
    setPhoto(url)
    setInspection(null)
    setAnswer(null)
    setProblem(null)
    await post<Inspection>(`${path}/inspect`, { image: base64(url) }).then(setInspection, (error: Error) =>
      setProblem(error.message),
    )
  }
  const open = (file: File | undefined) => {
    if (!file) return
    const reader = new FileReader()
    reader.onload = () => void take(reader.result as string)
    reader.readAsDataURL(file)
  }
  const run = async () => {
    setProblem(null)
    const body = {
      user_id: userId,
      image: base64(photo!),
      ...(operation === 'enroll' ? { replace: true } : { action: { type: 'dashboard_try' } }),
    }
    await post<Answer>(`${path}/call`, { key: apiKey, operation, body }).then(setAnswer, (error: Error) =>
      setProblem(error.message),
    )
  }
  const title = operation === 'enroll' ? '1. Enroll' : '2. Verify'
  return (
    <Card title={title}>
      <div class="toolbar">
        <label class="button file">
          Choose a photo
          <input
            type="file"
            accept="image/jpeg,image/png,image/webp"
            aria-label={`Photo to ${operation}`}
            onChange={(event) => open(event.currentTarget.files?.[0])}
          />
        </label>
        <button type="button" onClick={() => setCamera(true)}>
          Use the camera
        </button>
      </div>
      {camera && (
        <Camera
          onShot={take}
          onError={(message) => {
            setCamera(false)
            setProblem(message)
          }}
        />
      )}
      {photo && <Photo url={photo} inspection={inspection} />}
      <Problem message={problem} />
      {inspection && (
        <Facts
          rows={[
            ['Quality', inspection.quality.score],
            ['Face width', `${inspection.quality.face_width_px} px`],
            ['Sharpness', inspection.quality.sharpness],
            ['Brightness', inspection.quality.brightness],
          ]}
        />
      )}
      <button type="button" class="primary" disabled={!photo || !apiKey} onClick={run}>
        {operation === 'enroll' ? 'Enroll this photo' : 'Verify this photo'}
      </button>
      {answer && <AnswerView answer={answer} />}
    </Card>
  )
}

function Photo({ url, inspection }: { url: string; inspection: Inspection | null }) {
  const [size, setSize] = useState<[number, number] | null>(null)
  return (
    <div class="photo">
      <img
        src={url}
        alt="Chosen"
        onLoad={(event) => setSize([event.currentTarget.naturalWidth, event.currentTarget.naturalHeight])}
      />
      {size && inspection && (
        <svg viewBox={`0 0 ${size[0]} ${size[1]}`} role="img" aria-label="Detected face and landmarks">
          <rect {...inspection.box} />
          {inspection.landmarks?.map(([x, y]) => (
            <circle key={`${x},${y}`} cx={x} cy={y} r={size[0] / 110} />
          ))}
        </svg>
      )}
    </div>
  )
}

function Camera({ onShot, onError }: { onShot: (url: string) => void; onError: (message: string) => void }) {
  const video = useRef<HTMLVideoElement>(null)
  useEffect(() => {
    let stream: MediaStream | undefined
    let gone = false
    const stop = () => {
      for (const track of stream?.getTracks() ?? []) track.stop()
    }
    const asked = navigator.mediaDevices?.getUserMedia({ video: { facingMode: 'user' } })
    if (!asked) onError('The browser gives no camera here; it does so on https:// and on localhost.')
    asked?.then(
      (opened) => {
        stream = opened
        if (gone) stop()
        else video.current!.srcObject = opened
      },
      () => onError('The camera cannot be used.'),
    )
    return () => {
      gone = true
      stop()
    }
  }, [])
  const shoot = () => {
    const { videoWidth, videoHeight } = video.current!
    const canvas = Object.assign(document.createElement('canvas'), { width: videoWidth, height: videoHeight })
    canvas.getContext('2d')!.drawImage(video.current!, 0, 0)
    onShot(canvas.toDataURL('image/jpeg', 0.9))
  }
  return (
    <div class="photo">
      <video ref={video} autoplay muted playsInline />
      <button type="button" onClick={shoot}>
        Take the photo
      </button>
    </div>
  )
}

function AnswerView({ answer }: { answer: Answer }) {
  const { body } = answer
  const verdict = (body.verdict ?? body.status ?? body.code) as string
  const isGood = verdict === 'approved' || verdict === 'enrolled'
  return (
    <div class="answer" role="status">
      <Facts
        rows={[
          [
            'Answer',
            <>
              <Badge tone={isGood ? 'good' : 'bad'}>{verdict}</Badge> {answer.status} · {answer.environment}
            </>,
          ],
          ...(body.reason ? [['Reason', String(body.reason)] as [string, string]] : []),
          ...(body.message ? [['Message', String(body.message)] as [string, string]] : []),
          ...(typeof body.score === 'number'
            ? [['Score', `${body.score} (threshold ${body.threshold})`] as [string, string]]
            : []),
          [
            'Signature',
            answer.signature_valid ? <Badge tone="good">valid</Badge> : <Badge tone="bad">not valid</Badge>,
          ],
          ...(answer.jwt
            ? [
                [
                  'JWT',
                  answer.jwt.valid ? <Badge tone="good">valid</Badge> : <Badge tone="bad">not valid</Badge>,
                ] as [string, preact.ComponentChild],
              ]
            : []),
          ['Timings', answer.headers['Server-Timing']?.replaceAll(';dur=', ' ') ?? '–'],
        ]}
      />
      {answer.jwt && (
        <details>
          <summary>Claims of the JWT</summary>
          <pre tabIndex={0}>{JSON.stringify(answer.jwt.claims, null, 2)}</pre>
        </details>
      )}
    </div>
  )
}
