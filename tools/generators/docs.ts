/** Pages of docs/ that are made from the code; `UPDATE_DOCS=1 npx vitest run test/docs.test.ts test/openapi.test.ts` writes them. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { GUIDANCE_TEXTS } from '../../clients/capture/guidance-texts.js'
import { SETTING_GROUPS } from '../../src/config/settings.js'
import { ERRORS, type ErrorCategory } from '../../src/contract/error-codes.js'
import { CATEGORY_MEANINGS } from '../../src/http/openapi/errors-page.js'
import { markdownTable } from '../../src/lib/markdown-table.js'
import { OPERATOR_ERRORS } from '../../src/lib/operator-errors.js'
import { packageFile } from '../../src/lib/package-root.js'
import { RECOVERIES } from './error-recoveries.js'

const UPDATE = process.env.UPDATE_DOCS === '1'

/** The page as it stands in docs/; with UPDATE_DOCS=1, `made` is written there first. */
export function documentInDocs(name: string, made: string): string {
  return generatedSource(`docs/${name}`, made)
}

/** A generated file as it stands in the repository; with UPDATE_DOCS=1, `made` is written there first. */
export function generatedSource(path: string, made: string): string {
  const file = packageFile(path)
  if (UPDATE) writeFileSync(file, made)
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** docs/errors.md */
export function errorsPage(): string {
  const sections = (Object.keys(CATEGORY_MEANINGS) as ErrorCategory[]).map((category) => {
    const entries = Object.entries(ERRORS).filter(([, entry]) => entry.category === category)
    return [
      `## ${category}`,
      '',
      CATEGORY_MEANINGS[category],
      '',
      markdownTable(
        ['Code', 'Status', 'Message', 'What to do'],
        entries.map(([code, { status, message, remedy }]) => [
          `\`${code}\``,
          String(status),
          message,
          remedy,
        ]),
      ),
      '',
    ].join('\n')
  })
  return `# Errors

Every error of the API is a JSON object:

\`\`\`json
{
  "error": "invalid_request",
  "code": "malformed_json",
  "message": "The body is not valid JSON in UTF-8.",
  "remedy": "Send one JSON object, encoded as UTF-8.",
  "doc_url": "http://127.0.0.1:8080/errors#malformed_json",
  "request_id": "0190a0b0-1c2d-7e3f-8a4b-5c6d7e8f9a0b"
}
\`\`\`

- \`error\` is the category and \`code\` the exact reason. Both are stable: decide by them.
- \`message\` says what is wrong and \`remedy\` what to do next. Both are for people and may change.
- \`doc_url\` leads to the code on the page \`/errors\`, which each API listener serves without a key.
- \`details\`, where it is there, names fields: \`[{ "path": "image", "issue": "…" }]\`.
- \`request_id\` is also in the header \`X-Request-Id\` and in the service's log.
- \`Retry-After\` says after how many seconds a retry makes sense.

[Codes of the command line and the dashboard](operator-errors.md) are on a page of their own.

## Recover by

Several codes have the same way out. A code that you do not know has a category, which says enough.

${markdownTable(
  ['What your program does', 'Codes'],
  RECOVERIES.map(({ step, codes }) => [step, codes.map((code) => `\`${code}\``).join(', ')]),
)}

## Guidance for the person

Each detail of a \`biometric_rejected\` has a stable \`guidance\` code and a \`hint\`, an English sentence that you may show to the person. The capture component has texts
for the codes in five languages (\`element.texts[code]\`). \`POST /v1/guidance\` and \`liveness.guidance\` use the same codes.

${markdownTable(
  ['Guidance', 'Hint'],
  Object.entries(GUIDANCE_TEXTS).map(([code, hint]) => [`\`${code}\``, hint]),
)}

Where a quality component is at fault, \`hint\` may be more exact, such as "Lift your chin a little." for \`not_frontal\`.

${sections.join('\n').trimEnd()}
`
}

/** docs/operator-errors.md */
export function operatorErrorsPage(): string {
  return `# Errors for operators

These codes come from the command line and the dashboard, and are no part of the [API](errors.md). A command prints its error on stderr: the message, the next step, and the page of this
documentation that says more. With \`--json\` it prints \`{ "error": { "code", "message", "remedy", "doc" } }\`. The dashboard explains the codes at \`/errors\` of the admin listener.

${markdownTable(
  ['Code', 'What to do'],
  Object.entries(OPERATOR_ERRORS).map(([code, { remedy }]) => [`\`${code}\``, remedy]),
)}
`
}

/** docs/configuration.md. */
export function configurationPage(): string {
  const sections = Object.entries(SETTING_GROUPS).map(([title, settings]) => {
    const rows = Object.values(settings).map(({ variable, fallback, description }) => [
      `\`${variable}\``,
      fallback === undefined ? '–' : `\`${fallback}\``,
      description,
    ])
    return [`## ${title}`, '', markdownTable(['Variable', 'Default', 'Meaning'], rows), ''].join('\n')
  })
  return `# Configuration

Environment variables and a file with more of them configure Countersign. Each is read once, at the start. An empty variable counts as absent.

A value that cannot be read stops every command, with a message that names the variable. So does an unlisted name in the file. An unlisted name in the environment
that begins with \`COUNTERSIGN_\` causes a warning, unless Kubernetes makes it for a Service called \`countersign\`.
\`countersign config check\` reports everything that is wrong at once, and warns of settings that are unwise or deprecated.

\`COUNTERSIGN_CONFIG\`, or \`--config\` of a command, names the file. Its lines are \`NAME=value\`, as in the \`--env-file\` of Docker and the \`EnvironmentFile\` of systemd. The environment wins over the file:

\`\`\`sh
# /etc/countersign/countersign.env
COUNTERSIGN_DATA_DIR=/var/lib/countersign
COUNTERSIGN_PRODUCTION_LISTEN=0.0.0.0:8080   # behind the proxy
COUNTERSIGN_MASTER_KEY_FILE=/run/secrets/countersign-master-key
\`\`\`

Quote a value that contains \`#\`, or a space at an end. A line that is neither \`NAME=value\` nor a comment is refused.

Every secret can come from a file, \`<variable>_FILE\`; white space at its end is dropped. Setting both is an error. The start and \`countersign doctor\` warn of a file with a secret
that every user of the machine may open. Close a master key file of the service's own user to all others (\`chmod 600\`).

A dash means that there is no fixed default: the meaning says what happens then.

${sections.join('\n')}`
}
