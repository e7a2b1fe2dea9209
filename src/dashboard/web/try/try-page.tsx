/** The page "Try it": sends photos or the frames of a challenge to enroll and verify, and shows the whole answer. */
import { useState } from 'preact/hooks'
import { SANDBOX_OUTCOMES } from '../../../contract/sandbox-rules.js'
import { Field, Segments } from '../base/form.js'
import { Badge, Card } from '../base/parts.js'
import { useTenantHref } from '../base/session.js'
import type { Trial } from './trial.js'
import { TryChallenge } from './try-challenge.js'
import { TryPhotos } from './try-photos.js'

const CAPTURES = [
  ['photos', 'Photos'],
  ['challenge', 'Challenge'],
] as const

export function TryPage({ tenantId }: { tenantId: string }) {
  const href = useTenantHref(tenantId)
  const [key, setKey] = useState('')
  const [typed, setTyped] = useState<string | null>(null)
  const isSandbox = key.startsWith('svc-sbx-')
  // No id is suggested for a production key, whose users are real people.
  const userId = typed ?? (isSandbox ? 'ada' : '')
  const isProduction = key.startsWith('svc-prod-')
  return (
    <>
      <Card title="Key and user">
        <datalist id="suffixes">
          {SANDBOX_OUTCOMES.map((suffix) => (
            <option key={suffix} value={`ada${suffix}`} />
          ))}
        </datalist>
        <div class="fields">
          <Field
            id="key"
            label={
              <>
                API key {isSandbox && <Badge tone="plain">sandbox</Badge>}
                {isProduction && <Badge tone="warn">production</Badge>}
              </>
            }
            type="password"
            placeholder="svc-sbx-… or svc-prod-…"
            aria-describedby="key-hint"
            value={key}
            onText={(text) => setKey(text.trim())}
          />
          <Field id="try-user" label="User id" list="suffixes" value={userId} onText={setTyped} />
        </div>
        <p class="muted" id="key-hint">
          {isProduction
            ? 'This key enrolls and verifies real users in production, and writes to the audit log.'
            : 'In the sandbox the end of the user id chooses the outcome: +match, +no_match, +spoof, +low_quality, or for a challenge +turn_more, +flat and so on. A production key enrolls and verifies real users.'}
        </p>
        <p class="muted">
          A key is shown only once, when it is made. Lost it? Reissue it on the page{' '}
          <a href={href('keys')}>Keys and secrets</a>.
        </p>
      </Card>
      <div class="grid">
        <Step tenantId={tenantId} operation="enroll" apiKey={key} userId={userId} />
        <Step tenantId={tenantId} operation="verify" apiKey={key} userId={userId} />
      </div>
    </>
  )
}

function Step(trial: Trial) {
  const [capture, setCapture] = useState<(typeof CAPTURES)[number][0]>('photos')
  const isEnrolment = trial.operation === 'enroll'
  return (
    <Card
      title={isEnrolment ? '1. Enroll' : '2. Verify'}
      hint={
        isEnrolment
          ? 'Enroll three photos: verifications then miss far fewer people than with one.'
          : 'Compares a photo with the reference.'
      }
    >
      <Segments
        label={`What to ${trial.operation}`}
        options={CAPTURES}
        value={capture}
        onChange={setCapture}
      />
      {capture === 'photos' ? <TryPhotos {...trial} /> : <TryChallenge {...trial} />}
    </Card>
  )
}
