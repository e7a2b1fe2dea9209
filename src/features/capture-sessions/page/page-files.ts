/** The files of the hosted page, which are read once: the scripts, of which one is bundled for each language, the style sheet and the icon. */
import { existsSync, readFileSync } from 'node:fs'
import { DISPLAY_LOCALES } from '../../../contract/locales.js'
import type { Reply } from '../../../http/listeners/listener.js'
import { packageFile } from '../../../lib/package-root.js'
import { ASSETS } from './html.js'
import type { PageReplies } from './page-replies.js'
import { PAGE_STYLE } from './page-style.js'

/** An oval with a tick: readable on light and on dark tabs. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b57d0"/><ellipse cx="16" cy="16" rx="8" ry="10.5" fill="none" stroke="#fff" stroke-width="2.5"/><path d="m11.5 16.5 3.2 3.2 6-7" fill="none" stroke="#fff" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/></svg>`

/** Returns the replies by path. */
export function pageFiles(replies: PageReplies): Map<string, Reply> {
  const icon = replies.file('image/svg+xml', ICON)
  const files = new Map([
    [`${ASSETS}/page.css`, replies.file('text/css; charset=utf-8', PAGE_STYLE)],
    [`${ASSETS}/icon.svg`, icon],
    // Browsers ask for this file when a page names no icon.
    ['/favicon.ico', icon],
  ])
  const scripts = [
    ['begin', packageFile('dist', 'clients', 'capture', 'page', 'begin.js')],
    ...DISPLAY_LOCALES.map((language) => [
      `page.${language}`,
      packageFile('dist', 'src', 'features', 'capture-sessions', 'script', `${language}.js`),
    ]),
  ] as Array<[name: string, path: string]>
  for (const [name, path] of scripts)
    if (existsSync(path))
      files.set(`${ASSETS}/${name}.js`, replies.file('text/javascript; charset=utf-8', readFileSync(path)))
  return files
}
