/** The page with the settings by which a tenant uses passkeys: domain, pages, which passkeys count for what, and what a registration needs. */
import { useState } from 'preact/hooks'
import { certificatesOf } from '../../../tenants/pem.js'
import type { InputOf, PasskeySettingsView, TenantRoutes } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { useAction, useData } from '../base/data.js'
import { Button, Choice, Field, type Given, sending } from '../base/form.js'
import { lines } from '../base/lines.js'
import { Badge, Card, Problem, useQuestion, Waiting } from '../base/parts.js'
import { useRights } from '../base/session.js'

type Settings = NonNullable<InputOf<TenantRoutes['POST /passkeys']>['settings']>

const SYNCED = [
  ['swk', 'count as a key in software (swk)'],
  ['refused', 'are refused'],
] as const
const REGISTRATION = [
  ['verified', 'needs a fresh verify with a check of liveness'],
  ['backend', 'needs only the API key'],
] as const

export function PasskeysPage({ tenantId }: { tenantId: string }) {
  const page = useData(tenantAddress(tenantId, 'GET /passkeys'))
  const mayChange = useRights().tenant('POST /passkeys')
  const [saved, setSaved] = useState<PasskeySettingsView | null>(null)
  const [ask, dialog] = useQuestion()
  const { problem, isBusy, isDone, forget, run } = useAction()
  const stored = saved ?? page.value
  if (!stored) return <Waiting data={page} />
  const save = (settings: Settings | null) =>
    run(async () => setSaved(await callTenant(tenantId, 'POST /passkeys', { settings })))
  const isOn = stored.rp_id !== null
  const turnOff = () =>
    ask({
      title: 'Turn passkeys off?',
      confirm: 'Turn off',
      isDanger: true,
      children: 'Every call with a passkey is refused from now on. Registered passkeys are kept.',
      onConfirm: () => save(null),
    })
  const submit = (given: Given) => {
    const settings = settingsIn(given)
    if (!isOn || stored.rp_id === settings.rp_id) return save(settings)
    ask({
      title: 'Change the domain?',
      confirm: 'Change',
      isDanger: true,
      children:
        'Passkeys that are registered belong to the old domain, and do not work any more. Every user must register a new one.',
      onConfirm: () => save(settings),
    })
  }
  return (
    <Card
      title="Settings"
      hint={
        <>
          A passkey proves the device next to the face. The{' '}
          <a href="/docs/guides/passkeys">guide to passkeys</a> says what each setting decides.
        </>
      }
      actions={isOn ? <Badge tone="good">in use</Badge> : <Badge tone="plain">not in use</Badge>}
    >
      <form key={isOn} class="narrow" onInput={forget} onSubmit={sending(submit)}>
        <Field
          id="passkey-domain"
          label="Domain (relying party id)"
          hint="Passkeys belong to it. After a change of the domain, no registered one works."
          required
          maxLength={253}
          placeholder="bank.example"
          autocapitalize="off"
          spellcheck={false}
          readOnly={!mayChange}
          defaultValue={stored.rp_id ?? ''}
        />
        <Field
          id="passkey-origins"
          label="Origins of the pages, one a line"
          hint="Each is the domain or below it."
          rows={3}
          required
          placeholder="https://app.bank.example"
          readOnly={!mayChange}
          defaultValue={stored.origins.join('\n')}
        />
        <Choice
          id="passkey-synced"
          label="Passkeys that their provider copies to other devices"
          options={SYNCED}
          disabled={!mayChange}
          initial={stored.synced ?? 'swk'}
        />
        <Choice
          id="passkey-registration"
          label="A registration"
          options={REGISTRATION}
          disabled={!mayChange}
          initial={stored.registration ?? 'verified'}
        />
        <Field
          id="passkey-recovery"
          label="Hours that the recovery of a lost passkey waits"
          type="number"
          required
          min={1}
          max={720}
          readOnly={!mayChange}
          defaultValue={stored.recovery_hours ?? 24}
        />
        <Field
          id="passkey-roots"
          label="Certificates (PEM) of the authorities whose attestation counts"
          hint="Only a passkey that one of them attests counts as a key in hardware (hwk). Without any, all count as swk."
          rows={3}
          spellcheck={false}
          readOnly={!mayChange}
          defaultValue={stored.roots.join('\n')}
        />
        <Field
          id="passkey-aaguids"
          label="Authenticators by AAGUID, one a line"
          hint="Leave empty to accept all. A list needs certificates."
          rows={2}
          readOnly={!mayChange}
          defaultValue={stored.aaguids.join('\n')}
        />
        <Problem message={problem} />
        {mayChange && (
          <div class="toolbar">
            <Button text={isOn ? 'Save' : 'Turn on'} type="submit" class="primary" disabled={isBusy} />
            {isOn && <Button text="Turn off…" class="danger" disabled={isBusy} onClick={turnOff} />}
          </div>
        )}
      </form>
      <p role="status">{isDone && 'Saved.'}</p>
      {dialog}
    </Card>
  )
}

function settingsIn({ text, number }: Given): Settings {
  return {
    rp_id: text('passkey-domain'),
    origins: lines(text('passkey-origins')),
    synced: text('passkey-synced'),
    registration: text('passkey-registration'),
    recovery_hours: number('passkey-recovery')!,
    roots: certificatesOf(text('passkey-roots')),
    aaguids: lines(text('passkey-aaguids')),
  }
}
