/** The page of the signed-in person's second factor: an authenticator app, and recovery codes. */
import { useState } from 'preact/hooks'
import { encode } from 'uqr'
import { callOperator } from '../base/api.js'
import { Button, CodeField, Field, type Given, sending } from '../base/form.js'
import { Card, useActions } from '../base/parts.js'
import { CopyButton } from '../base/reveal.js'
import { useSession } from '../base/session.js'

export function SecondFactorPage(props: { onChanged: () => void }) {
  const session = useSession()
  const [begun, setBegun] = useState<{ secret: string; uri: string } | null>(null)
  const [recovery, setRecovery] = useState<string[] | null>(null)
  const { isBusy, run, ask, feedback } = useActions()
  const begin = () => run(async () => setBegun(await callOperator('POST /second-factor')))
  const confirm = (given: Given) =>
    run(async () => {
      const code = given.text('second-factor-code')
      setRecovery((await callOperator('POST /second-factor/confirm', { code })).recovery_codes)
      setBegun(null)
      props.onChanged()
    })
  const remove = () =>
    ask({
      title: 'Remove your second factor?',
      confirm: 'Remove',
      isDanger: true,
      children: (
        <>
          <p>
            You then sign in with your password only, and the recovery codes stop working. Your other sessions
            end.
          </p>
          <CodeField id="removal-code" />
        </>
      ),
      act: async (given) => {
        await callOperator('POST /second-factor/remove', { code: given.text('removal-code') })
        setRecovery(null)
        props.onChanged()
      },
    })
  return (
    <>
      {feedback}
      {recovery && <RecoveryCodes codes={recovery} onDone={() => setRecovery(null)} />}
      <Card
        title="Authenticator app"
        hint="An app on your phone shows a code of six digits. You then need this code and your password to sign in."
      >
        {session.second_factor === 'enrolled' ? (
          <>
            <p>You need a code to sign in.</p>
            <div class="toolbar">
              <Button text="Remove…" class="danger" disabled={isBusy} onClick={remove} />
            </div>
          </>
        ) : begun ? (
          <form onSubmit={sending(confirm)}>
            <p>
              Scan this with an authenticator app, or type the secret there. Then enter the code that the app
              shows.
            </p>
            <QrCode text={begun.uri} />
            <div class="copyable">
              <code>{begun.secret}</code>
              <CopyButton value={begun.secret} />
            </div>
            <Field
              id="second-factor-code"
              label="Code"
              inputMode="numeric"
              autocomplete="one-time-code"
              required
              maxLength={6}
              pattern="[0-9]{6}"
            />
            <div class="toolbar">
              <Button text="Confirm" type="submit" class="primary" disabled={isBusy} />
              <Button text="Cancel" onClick={() => setBegun(null)} />
            </div>
          </form>
        ) : (
          <>
            <p>
              {session.second_factor === 'required'
                ? 'Everybody who signs in here by a password or a link needs a second factor. Add yours to open the other pages.'
                : 'You sign in with your password only.'}
            </p>
            <div class="toolbar">
              <Button text="Add a second factor" class="primary" disabled={isBusy} onClick={begin} />
            </div>
          </>
        )}
      </Card>
    </>
  )
}

function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  return (
    <div class="reveal" role="status">
      <strong>Recovery codes</strong>
      <p>
        Shown only now. If you lose your phone, each code signs you in once. Keep the codes apart from the
        phone.
      </p>
      <pre tabIndex={0}>
        <code>{codes.join('\n')}</code>
      </pre>
      <div class="toolbar">
        <CopyButton value={codes.join('\n')} />
        <Button text="Hide the codes" onClick={onDone} />
      </div>
    </div>
  )
}

const QUIET_ZONE = 4

/** Shows a QR code, black on white in either theme, since many scanners read no other. */
function QrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 0 })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  const whole = size + 2 * QUIET_ZONE
  return (
    <svg
      role="img"
      aria-label="QR code of the secret"
      width="200"
      height="200"
      viewBox={`${-QUIET_ZONE} ${-QUIET_ZONE} ${whole} ${whole}`}
      shape-rendering="crispEdges"
    >
      <rect x={-QUIET_ZONE} y={-QUIET_ZONE} width={whole} height={whole} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
