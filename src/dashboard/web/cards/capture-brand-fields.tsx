/** Fields for the color and the logo of the hosted capture page. The logo is sent with the other fields when the form is saved. */
import { useId } from 'preact/hooks'
import { HEX_COLOR, themeColors } from '../../../contract/accent-color.js'
import { useAction } from '../base/data.js'
import { Button, Labeled } from '../base/form.js'
import { Problem } from '../base/parts.js'
import { dataUrl } from '../base/photo.js'

/** Largest file that the service accepts, in KiB. */
const MAX_LOGO_KIB = 512
/** The browser's color picker shows this color until one is chosen. It is the page's own. */
const OWN_COLOR = '#0b57d0'

export function BrandFields(props: {
  color: string
  /** Address of the picture (`data:`), or null for none. */
  logo: string | null
  isReadOnly: boolean
  onChange: (change: { color?: string; logo?: string | null }) => void
}) {
  const { color, logo, isReadOnly, onChange } = props
  const id = useId()
  const { problem, run } = useAction()
  const choose = (input: HTMLInputElement) =>
    run(async () => {
      const [file] = input.files ?? []
      // The same file can be chosen again after it was removed.
      input.value = ''
      if (!file) return
      if (file.size > MAX_LOGO_KIB * 1024)
        throw new Error(
          `The file has ${Math.ceil(file.size / 1024)} KiB. Choose one of at most ${MAX_LOGO_KIB} KiB.`,
        )
      onChange({ logo: await dataUrl(file) })
    })
  return (
    <>
      <Labeled id={`${id}-color`} label="Color" hint={colorHint(color)}>
        <div class="color-field">
          <input
            id={`${id}-color`}
            type="text"
            maxLength={7}
            placeholder={OWN_COLOR}
            aria-describedby={`${id}-color-hint`}
            value={color}
            readOnly={isReadOnly}
            onInput={(event) => onChange({ color: event.currentTarget.value })}
          />
          <input
            type="color"
            aria-label="Choose a color"
            value={hexOf(color) ?? OWN_COLOR}
            disabled={isReadOnly}
            onInput={(event) => onChange({ color: event.currentTarget.value })}
          />
        </div>
      </Labeled>
      <span class="label">Logo</span>
      <div class="toolbar">
        {!isReadOnly && (
          <label class="button file">
            {logo ? 'Choose another logo' : 'Choose a logo'}
            <input
              type="file"
              accept="image/png,image/webp"
              aria-describedby={`${id}-logo-hint`}
              onChange={(event) => void choose(event.currentTarget)}
            />
          </label>
        )}
        {!isReadOnly && logo && <Button text="Remove the logo" onClick={() => onChange({ logo: null })} />}
        {isReadOnly && <span class="muted">{logo ? 'As in the preview.' : 'None.'}</span>}
      </div>
      <Problem message={problem} />
      <p id={`${id}-logo-hint`} class="muted small">
        PNG or WebP, at most {MAX_LOGO_KIB} KiB and 4 megapixels. It is shown above the name, at most 240 × 64
        pixels large.
      </p>
    </>
  )
}

/** Returns the color as the service spells it, or null when the text is no color. */
export function hexOf(text: string): string | null {
  const color = text.trim().toLowerCase()
  return HEX_COLOR.test(color) ? color : null
}

function colorHint(text: string): string {
  const color = hexOf(text)
  if (color === null)
    return 'Color of buttons and lines: # and six hexadecimal digits. Leave empty for the page’s own blue.'
  const { light, dark } = themeColors(color)
  return `Shown as ${light.accent} on the light page and ${dark.accent} on the dark one, so that it stays readable.`
}
