/** Script and style of the hosted page, read once: the capture component as it was built, and what is around it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { packageFile } from '../package-root.js'
import type { Reply } from '../server/listener.js'
import type { PageReplies } from './page-replies.js'
import { PAGE_STYLE } from './page-style.js'
import { ASSETS } from './session-page.js'

/** Replies by path. The modules name each other by their places in the folder, so they keep them. */
export function pageFiles(replies: PageReplies): Map<string, Reply> {
  const files = new Map([[`${ASSETS}/page.css`, replies.file('text/css; charset=utf-8', PAGE_STYLE)]])
  const folder = packageFile('dist', 'src', 'capture')
  if (!existsSync(folder)) return files
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.js'))
      files.set(
        `${ASSETS}/capture/${name.split(sep).join('/')}`,
        replies.file('text/javascript; charset=utf-8', readFileSync(join(folder, name))),
      )
  return files
}
