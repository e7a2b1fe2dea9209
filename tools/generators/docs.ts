/** Pages of docs/ that are made from the code; `UPDATE_DOCS=1 npx vitest run test/docs.test.ts test/openapi.test.ts` writes them. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { GUIDANCE_TEXTS } from '../../clients/capture/guidance-texts.js'
import { SETTING_GROUPS } from '../../src/config/settings.js'
import { ERRORS, type ErrorCategory } from '../../src/contract/error-codes.js'
import { CATEGORY_MEANINGS } from '../../src/http/openapi/errors-page.js'
import { markdownTable } from '../../src/lib/markdown-table.js'
import { OPERATOR_ERRORS } from '../../src/lib/operator-errors.js'
import { packageFile } from '../../src/lib/package-root.js'

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

Every error is a JSON object:

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

\`error\` is the category and \`code\` the exact reason; both are stable. \`message\` says what is wrong and \`remedy\` what to do
next; both are for a person and may change. \`doc_url\` leads to this table, which each API listener serves at \`/errors\`
without a key, the dashboard's at \`/errors\` of the admin listener. \`details\`, where it is there, names fields: \`[{ "path": "image", "issue": "…" }]\`. \`request_id\` is also in
the header \`X-Request-Id\`, and in the service's log. Where a retry makes sense after some time, \`Retry-After\` says how many
seconds.

## Guidance for the person

Each detail of a \`biometric_rejected\` has a stable \`guidance\` code, which the capture component has texts for in five
languages (\`element.texts[code]\`), and a \`hint\`, a sentence in English that may be shown to the person. The codes are those of
\`POST /v1/guidance\` and of \`liveness.guidance\`, with a few more for whole files.

${markdownTable(
  ['Guidance', 'Hint'],
  Object.entries(GUIDANCE_TEXTS).map(([code, hint]) => [`\`${code}\``, hint]),
)}

Where a quality component is at fault, \`hint\` may be more exact, such as "Lift your chin a little." for \`not_frontal\`.

${sections.join('\n')}
## On the command line and at the dashboard

These codes are no part of the API. A command prints \`error:\` and the message, then the next step and the path of a page of this
documentation on the same machine; with \`--json\` it prints \`{ "error": { "code", "message", "remedy", "doc" } }\`, all on stderr. The
dashboard answers them in the error body above.

${markdownTable(
  ['Code', 'What to do', 'More about it'],
  Object.entries(OPERATOR_ERRORS).map(([code, { remedy, page }]) => [
    `\`${code}\``,
    remedy,
    `[${page.split('#')[0]}](${page})`,
  ]),
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

Environment variables configure Countersign, and a file with more of them. Each is read once, at the start. An
empty variable counts as absent.

A value that cannot be read stops every command, with a message that names the variable. So does a name in the file that is not listed here.
In the environment, an unlisted name that begins with \`COUNTERSIGN_\` causes a warning, unless Kubernetes makes it for a Service called \`countersign\`.
\`countersign config check\` reports everything that is wrong at once, and warns of settings that are unwise or deprecated.

\`COUNTERSIGN_CONFIG\` names the file, or \`--config\` of a command. Its lines are \`NAME=value\`, as in the \`--env-file\`
of Docker and the \`EnvironmentFile\` of systemd. The environment wins over the file:

\`\`\`sh
# /etc/countersign/countersign.env
COUNTERSIGN_DATA_DIR=/var/lib/countersign
COUNTERSIGN_PRODUCTION_LISTEN=0.0.0.0:8080   # behind the proxy
COUNTERSIGN_MASTER_KEY_FILE=/run/secrets/countersign-master-key
COUNTERSIGN_OPERATOR_PASSWORD_FILE=/run/secrets/countersign-operator
\`\`\`

Quote a value that contains \`#\`, or a space at an end. Lines that are neither \`NAME=value\` nor a comment are refused.

Every secret can be given by a file, \`<variable>_FILE\`, as Docker and Kubernetes mount them. White space at its end is
dropped. Setting both is an error. The start and \`countersign doctor\` warn of a file with a secret that every user of the machine may open.
A master key file of the service's own user must be closed to all others (\`chmod 600\`).

A dash means that there is no fixed default; the description says what happens then.

${sections.join('\n')}`
}
