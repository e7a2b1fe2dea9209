/** Pages of docs/ that are made from the code; `UPDATE_DOCS=1 npx vitest run test/docs.test.ts test/openapi.test.ts` writes them. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { GUIDANCE_TEXTS } from '../../clients/capture/guidance-texts.js'
import type { EndpointDescription } from '../../src/api/endpoint.js'
import { ALL_SETTING_GROUPS } from '../../src/app/configuration.js'
import { ERRORS, type ErrorCategory } from '../../src/contract/error-codes.js'
import { CATEGORY_MEANINGS } from '../../src/features/api-documents/exports.js'
import { OPERATOR_ERRORS } from '../../src/lib/operator-errors.js'
import { packageFile } from '../../src/lib/package-root.js'
import { RECOVERIES, type Recovery } from './error-recoveries.js'
import { markdownList } from './markdown-list.js'

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
      markdownList(
        entries.map(([code, { status, message, remedy }]) => [
          `\`${code}\` (${status})`,
          explanationOf(message, remedy),
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
- \`message\` says what is wrong, \`remedy\` what to do next. They are for people and may change.
- \`doc_url\` leads to the code on the page \`/errors\`, which each API listener serves without a key.
- \`details\`, where it is there, names fields: \`[{ "path": "image", "issue": "…" }]\`.
- \`request_id\` is also in the header \`X-Request-Id\` and in the service's log.
- \`Retry-After\` says after how many seconds a retry makes sense.

The command line and the dashboard have [codes of their own](operator-errors.md).

## Recover by

A code that you do not know has a category, which says enough.

${RECOVERIES.map(recoveryLine).join('\n')}

## Guidance for the person

Each detail of a \`biometric_rejected\` has a stable \`guidance\` code and a \`hint\`, an English sentence that you may show to the person. The capture component has these texts
in five languages (\`element.texts[code]\`). \`POST /v1/guidance\` and \`liveness.guidance\` use the same codes.

${markdownList(Object.entries(GUIDANCE_TEXTS).map(([code, hint]) => [`\`${code}\``, hint]))}

Where a quality component is at fault, \`hint\` may be more exact, such as "Lift your chin a little." for \`not_frontal\`.

${sections.join('\n').trimEnd()}
`
}

/** Says what went wrong, and the next step. The page says once what `Retry-After` means. */
export function explanationOf(message: string, remedy: string): string {
  return remedy === 'Retry after the time in `Retry-After`.' ? message : `${message} ${remedy}`
}

/** A category stands for its codes where all of them have the same way out. */
function recoveryLine({ step, codes }: Recovery): string {
  const whole = (Object.keys(CATEGORY_MEANINGS) as ErrorCategory[]).filter((category) =>
    Object.entries(ERRORS).every(
      ([code, entry]) => entry.category !== category || (codes as readonly string[]).includes(code),
    ),
  )
  const names = [
    ...whole.map((category) => `every \`${category}\``),
    ...codes.filter((code) => !whole.includes(ERRORS[code].category)).map((code) => `\`${code}\``),
  ]
  return `- ${step.replace(/\.$/, ':')} ${names.join(', ')}`
}

/** @returns docs/api-overview.md with a line for each operation of the OpenAPI document that it does not list yet, and without those that are gone */
export function withEndpoints(
  page: string,
  descriptions: readonly EndpointDescription[],
  paths: object,
): string {
  const there = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const lines = page.split('\n')
  const listed = (line: string) => /^- `([A-Z]+ \/v1\/[^`]+)`/.exec(line)?.[1]
  const known = lines.map(listed)
  const further = descriptions
    .filter(({ method, path }) => !known.includes(`${method} ${path}`))
    .map(({ method, path, success, summary }) => `- \`${method} ${path}\`: ${success.status}. ${summary}`)
  const last = known.findLastIndex((name) => name !== undefined)
  const isKept = (line: string) => there.includes(listed(line) ?? there[0]!)
  return [...lines.slice(0, last + 1).filter(isKept), ...further, ...lines.slice(last + 1)].join('\n')
}

/** docs/operator-errors.md: codes with the same next step share a line. */
export function operatorErrorsPage(): string {
  const codesByRemedy = new Map<string, string[]>()
  for (const [code, { remedy }] of Object.entries(OPERATOR_ERRORS))
    codesByRemedy.set(remedy, [...(codesByRemedy.get(remedy) ?? []), `\`${code}\``])
  return `# Errors for operators

Codes of the command line and the dashboard; the [API](errors.md) has others. A command prints its error on stderr: the message, the next step, and the page of this
documentation that says more. With \`--json\` it prints \`{ "error": { "code", "message", "remedy", "doc" } }\`. The dashboard explains its codes at \`/errors\` of the admin listener.

${markdownList([...codesByRemedy].map(([remedy, codes]) => [codes.join(', '), remedy]))}
`
}

/** Leaves out the defaults that the page states once for all settings. */
export function briefOf(description: string): string {
  return description.replace(/ Default: (?:none[.;].*|made from the listen address\.)$/, '')
}

/** docs/configuration.md */
export function configurationPage(): string {
  const sections = Object.entries(ALL_SETTING_GROUPS).map(([title, settings]) => {
    const items = Object.values(settings).map(({ variable, fallback, description }) => {
      const standard = fallback ? ` (\`${fallback}\`)` : ''
      return [`\`${variable}\`${standard}`, briefOf(description)] as const
    })
    return [`## ${title}`, '', markdownList(items), ''].join('\n')
  })
  return `# Configuration

Settings are environment variables, or lines of a file, read once at the start. An empty variable counts as absent.

A value that cannot be read, and an unlisted name in the file, stop every command with a message that names the variable. An unlisted \`COUNTERSIGN_…\` in the environment
causes a warning, unless Kubernetes makes it for a Service called \`countersign\`.
\`countersign config check\` reports all mistakes at once, and unwise or deprecated settings.

\`COUNTERSIGN_CONFIG\`, or \`--config\` of a command, names the file. Its lines are those of Docker's \`--env-file\` and systemd's \`EnvironmentFile\`. The environment wins over the file:

\`\`\`sh
# /etc/countersign/countersign.env
COUNTERSIGN_DATA_DIR=/var/lib/countersign
COUNTERSIGN_PRODUCTION_LISTEN=0.0.0.0:8080   # behind the proxy
COUNTERSIGN_MASTER_KEY_FILE=/run/secrets/countersign-master-key
\`\`\`

Quote a value that contains \`#\`, or a space at an end. A line that is neither \`NAME=value\` nor a comment is refused.

Every secret can come from a file, \`<variable>_FILE\`; white space at its end is dropped. Setting both is an error. The start and \`countersign doctor\` warn of a file with a secret
that every user of the machine may open. Close a master key file of the service's own user to all others (\`chmod 600\`).

Defaults are in brackets. A setting without one is off, unless its text names another default; a URL is made from its listen address.

${sections.join('\n')}`
}
