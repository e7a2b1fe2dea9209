/** Secrets that are shown only once, and the button that copies a text. */
import { useState } from 'preact/hooks'
import { Button } from './form.js'

export function CopyButton({ value }: { value: string }) {
  const [copied, setCopied] = useState<boolean | null>(null)
  // Without TLS, browsers offer the clipboard only on localhost.
  const copy = () =>
    navigator.clipboard
      ? navigator.clipboard.writeText(value).then(
          () => setCopied(true),
          () => setCopied(false),
        )
      : setCopied(false)
  return <Button text={copied === null ? 'Copy' : copied ? 'Copied' : 'Copy by hand'} onClick={copy} />
}

/** A secret that is shown only once, with the texts that accompany it. */
export interface Revealed {
  label: string
  value: string
  /** Instruction to the person. By default, it is to put the secret into the backend's secret store. */
  hint?: string
  /** Further names and values that are no secrets, such as ids. */
  details?: Array<[name: string, value: string]>
}

export function Reveal({ label, value, hint, details = [], onDone }: Revealed & { onDone: () => void }) {
  return (
    <div class="reveal" role="status">
      <strong>{label}</strong>
      <p>Shown only now. {hint ?? 'Put it into the secret store of your backend.'}</p>
      <div class="copyable">
        <code>{value}</code>
        <CopyButton value={value} />
        <Button text="Hide" about={label} onClick={onDone} />
      </div>
      {details.map(([name, text]) => (
        <div class="copyable small muted" key={name}>
          <span>{name}</span>
          <code>{text}</code>
          <CopyButton value={text} />
        </div>
      ))}
    </div>
  )
}
