/** The page with the settings by which a tenant uses passkeys: domain, pages, which passkeys count for what, and what a registration needs. */
import { useState } from 'preact/hooks'
import { certificatesOf } from '../../../tenants/pem.js'
import type { InputOf, PasskeySettingsView, TenantRoutes } from '../../contract.js'
import { callTenant, tenantAddress } from '../base/api.js'
import { useData } from '../base/data.js'
import { Button, Choice, Field, type Given, lines, sending } from '../base/form.js'
import { Badge, Card, Problem, useActions, Waiting } from '../base/parts.js'
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
  const { problem, isBusy, isDone, forget, run, ask, dialog } = useActions()
  const stored = saved ?? page.value
  if (!stored) return <Waiting data={page} />
  const save = async (settings: Settings | null) =>
    setSaved(await callTenant(tenantId, 'POST /passkeys', { settings }))
  const isOn = stored.rp_id !== null
  const turnOff = () =>
    ask({
      title: 'Turn passkeys off?',
      confirm: 'Turn off',
      isDanger: true,
      children: 'Every call with a passkey is refused from now on. Registered passkeys are kept.',
      act: () => save(null),
    })
  const submit = (given: Given) => {
    const settings = settingsIn(given)
    if (!isOn || stored.rp_id === settings.rp_id) return run(() => save(settings))
    ask({
      title: 'Change the domain?',
      confirm: 'Change',
      isDanger: true,
      children:
        'Passkeys that are registered belong to the old domain, and do not work any more. Every user must register a new one.',
      act: () => save(settings),
    })
  }
  const field = (name: string, value: string | number) => ({
    id: `passkey-${name}`,
    readOnly: !mayChange,
    defaultValue: value,
  })
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
          {...field('domain', stored.rp_id ?? '')}
          label="Domain (relying party id)"
          hint="Passkeys belong to it. After a change of the domain, no registered one works."
          required
          maxLength={253}
          placeholder="bank.example"
          autocapitalize="off"
          spellcheck={false}
        />
        <Field
          {...field('origins', stored.origins.join('\n'))}
          label="Origins of the pages, one a line"
          hint="Each is the domain or below it."
          rows={3}
          required
          placeholder="https://app.bank.example"
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
          {...field('recovery', stored.recovery_hours ?? 24)}
          label="Hours that the recovery of a lost passkey waits"
          type="number"
          required
          min={1}
          max={720}
        />
        <Field
          {...field('roots', stored.roots.join('\n'))}
          label="Certificates (PEM) of the authorities whose attestation counts"
          hint="Only a passkey that one of them attests counts as a key in hardware (hwk). Without any, all count as swk."
          rows={3}
          spellcheck={false}
        />
        <Field
          {...field('aaguids', stored.aaguids.join('\n'))}
          label="Authenticators by AAGUID, one a line"
          hint="Leave empty to accept all. A list needs certificates."
          rows={2}
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
