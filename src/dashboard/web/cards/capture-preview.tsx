/** Previews the first step of the hosted capture page with the settings that are being typed, in light and in dark. */
import { useState } from 'preact/hooks'
import { type Theme, themeColors } from '../../../contract/accent-color.js'
import { hexOf } from './capture-brand-fields.js'

/** Largest stored picture in pixels: two of its pixels make one of the page. */
const MAX_STORED = { width: 480, height: 128 }

interface PreviewProps {
  company: string
  color: string
  logo: string | null
  consent: string
  returnOrigins: string[]
}

export function CapturePreview(props: PreviewProps) {
  return (
    <div class="capture-previews">
      <Step {...props} theme="light" />
      <Step {...props} theme="dark" />
    </div>
  )
}

function Step({ theme, company, color, logo, consent, returnOrigins }: PreviewProps & { theme: Theme }) {
  const hex = hexOf(color)
  const chosen = hex && themeColors(hex)[theme]
  // Without a color of the tenant, the page's own of the style sheet applies.
  const style = chosen ? { '--accent': chosen.accent, '--on-accent': chosen.onAccent } : {}
  return (
    <section class={`capture-preview ${theme}`} aria-label={`Preview, ${theme}`} style={style}>
      {logo && <Logo key={logo} url={logo} />}
      <p class="quiet company">{company}</p>
      <h3>Confirm that it is you</h3>
      {consent === '' ? (
        <p class="quiet">The page's own text appears here, with the name {company}.</p>
      ) : (
        consent.split(/\n\s*\n/).map((paragraph) => <p key={paragraph}>{paragraph}</p>)
      )}
      {/* These buttons show the color and do nothing. */}
      <p class="sample" aria-hidden="true">
        <span class="filled">Agree and continue</span>
        <span>Cancel</span>
      </p>
      <p class="quiet small">Leads back to {returnOrigins.join(', ') || 'nowhere: add a return origin'}.</p>
    </section>
  )
}

/** Shows the logo in the size that it has on the page, after the service has made it smaller. */
function Logo({ url }: { url: string }) {
  const [width, setWidth] = useState<number | null>(null)
  return (
    <img
      class="logo"
      src={url}
      alt="Logo"
      hidden={width === null}
      width={width ?? 0}
      onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => {
        const { width: mostWidth, height: mostHeight } = MAX_STORED
        const scale = Math.min(1, mostWidth / naturalWidth, mostHeight / naturalHeight)
        setWidth(Math.ceil(Math.round(naturalWidth * scale) / 2))
      }}
    />
  )
}
