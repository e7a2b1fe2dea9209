/** Shows the service's answer to a tried photo: verdict, score, timings, signature and JWT. */
import type { Static } from 'typebox'
import { messagesIn } from '../../../../clients/capture/capture-texts.js'
import type { liveness } from '../../../api/schemas.js'
import type { ErrorDetail } from '../../../lib/domain-error.js'
import type { TriedCall } from '../../contract.js'
import { Badge, type Fact, Facts } from '../base/parts.js'

export function AnswerView({ answer }: { answer: TriedCall }) {
  const { body, jwt } = answer
  const verdict = (body.verdict ?? body.status ?? body.code) as string
  const isGood = verdict === 'approved' || verdict === 'enrolled'
  return (
    <div class="answer" role="status">
      <div class="verdict">
        <Badge tone={isGood ? 'good' : 'bad'}>{verdict}</Badge>
        <span class="muted">
          {answer.status} from {answer.environment}
        </span>
      </div>
      {typeof body.score === 'number' && (
        <Score score={body.score} threshold={body.threshold as number} fmr={body.fmr as number} />
      )}
      <Facts
        rows={[
          ...livenessRows(body.liveness as Liveness | undefined, jwt?.claims),
          row('For the person', forThePerson(body)),
          row('Reason, for your backend only', forTheBackend(body)),
          row('Message', body.message),
          row('Photos in the reference', (body.quality as { views?: number } | null | undefined)?.views),
          row('Replay', (body.replay as { suspected: boolean } | undefined)?.suspected && 'suspected'),
          ['Signature', <Validity isValid={answer.signature_valid} />],
          jwt && ['JWT', <Validity isValid={jwt.valid} />],
        ]}
      />
      <Timings header={answer.headers['Server-Timing'] ?? ''} />
      {jwt && (
        <details open>
          <summary>Decoded JWT</summary>
          <p class="muted">
            Signed with <code>{jwt.kid}</code>
          </p>
          <pre tabIndex={0}>{JSON.stringify(jwt.claims, null, 2)}</pre>
        </details>
      )}
    </div>
  )
}

const row = (name: string, value: unknown): Fact | false => Boolean(value) && [name, String(value)]

type Liveness = Static<typeof liveness>

/** Names the methods that checked liveness and the `acr` of the approval, instead of only "live". */
function livenessRows(liveness: Liveness | undefined, claims: unknown): Array<Fact | false> {
  if (!liveness) return []
  const { checked, passed, methods, score } = liveness
  const said = [
    checked ? `${passed ? 'passed' : 'failed'}: ${methods.join(', ')}` : 'not checked',
    ...(score === null ? [] : [`score ${score}`]),
  ]
  return [['Liveness', said.join(', ')], row('acr', (claims as { acr?: string } | undefined)?.acr)]
}

const TEXTS: Record<string, string> = messagesIn('en')

/** Returns the advice to the person, which a page may show. */
function forThePerson({ liveness, details }: TriedCall['body']): string {
  const { guidance = [] } = (liveness ?? {}) as Partial<Liveness>
  const found = (details ?? []) as ErrorDetail[]
  const ofVerdict = guidance.map((code) => (TEXTS[code] ? `${TEXTS[code]} (${code})` : code))
  const ofPhotos = found.flatMap((detail) => (detail.hint ? [`${detail.hint} (${detail.guidance})`] : []))
  return [...ofVerdict, ...ofPhotos].join(' ')
}

/** Returns the reasons for the backend, which no page may show: they would tell an attacker what to improve. */
function forTheBackend({ liveness, reason, details }: TriedCall['body']): string {
  const { findings = [] } = (liveness ?? {}) as Partial<Liveness>
  const issues = ((details ?? []) as ErrorDetail[]).map(({ path, issue }) => `${path} ${issue}`)
  return [...(reason ? [reason] : []), ...findings, ...issues].join(', ')
}

function Validity({ isValid }: { isValid: boolean }) {
  return isValid ? <Badge tone="good">valid</Badge> : <Badge tone="bad">not valid</Badge>
}

function Score({ score, threshold, fmr }: { score: number; threshold: number; fmr: number }) {
  const place = (value: number) => 100 * Math.min(Math.max(value, 0), 1)
  const side = score >= threshold ? 'var(--chart-good)' : 'var(--chart-bad)'
  const text = `Score ${score.toFixed(4)}, threshold ${threshold} for a false match rate of ${fmr}`
  return (
    <div class="score">
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={text}>
        <rect style={{ fill: 'var(--line)' }} width="100" height="6" />
        <rect style={{ fill: side }} width={place(score)} height="6" />
        <rect style={{ fill: 'var(--text)' }} x={place(threshold) - 0.25} width="0.5" height="6" />
      </svg>
      <p class="small muted">{text}</p>
    </div>
  )
}

/** Shows the header `Server-Timing: decode;dur=5.1, …` as a row of stages. */
function Timings({ header }: { header: string }) {
  const stages = [...header.matchAll(/(\w+);dur=([\d.]+)/g)]
  const total = stages.reduce((sum, [, , ms]) => sum + Number(ms), 0)
  return (
    <ul class="timings muted small" aria-label="Timings in milliseconds">
      {stages.map(([, stage, ms]) => (
        <li key={stage}>
          {stage} <b>{Number(ms).toFixed(1)}</b>
        </li>
      ))}
      <li>
        total <b>{total.toFixed(1)} ms</b>
      </li>
    </ul>
  )
}
