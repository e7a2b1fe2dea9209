/** The button of all pages. It submits a form only where its type says so. */
import type { ComponentProps } from 'preact'

/** @param props.about further words for screen readers, where many buttons of a page have the same text */
export function Button({
  text,
  about,
  ...attributes
}: ComponentProps<'button'> & { text: string; about?: string }) {
  return (
    <button type="button" {...attributes}>
      {text}
      {about && <span class="for-readers"> {about}</span>}
    </button>
  )
}
