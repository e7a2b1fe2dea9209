/** Finds the names that Markdown pages have in inline code, and what is wrong with them. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { ALL_SETTINGS } from '../../src/app/configuration.js'
import { createProgram } from '../../src/cli/program.js'
import { ERRORS } from '../../src/contract/error-codes.js'
import { DASHBOARD_ERRORS } from '../../src/dashboard/dashboard-error.js'
import { UNKNOWN_HOST } from '../../src/http/admin/host-guard.js'
import { packageFile } from '../../src/lib/package-root.js'
import { SHOWN_STATUSES } from './descriptions.js'
import { FENCE } from './plain-prose.js'

const INLINE_CODE = /`([^`\n]+)`/g

/** Names of other programs, with which ours work together. */
const FOREIGN_NAMES = new Set(
  `
  client_body_buffer_size proxy_add_x_forwarded_for forwardedHeaders insecureSkipVerify retryOn rootCAs serversTransports
  autovacuum_vacuum_cost_limit autovacuum_vacuum_scale_factor pg_last_wal_receive_lsn SQLITE_NOTADB ptrace_scope w_await
  source_image target_image image_id faceId
  HTTPS_PROXY LD_LIBRARY_PATH NODE_EXTRA_CA_CERTS OTEL_TRACES_SAMPLER libonnxruntime_providers_tensorrt
  server_error jwks_urls oidc_context target_audience token_from trusted_issuers trustClaims cacheMaxAge
  allowsInlineMediaPlayback vmForks vmThreads third_party
  countersign_before
  `
    .trim()
    .split(/\s+/),
)
const FOREIGN_OPTIONS = new Set(
  `
  --bundle --delete --deploy-hook --force-recreate --from-file --gpus --hostname --key --kill-whom --max-depth --mutate
  --no-build --no-build-isolation --no-git-tag-version --previous --schema-only --silent --statement --tail --url --wait --wheel-dir
  `
    .trim()
    .split(/\s+/),
)
/** Folders that a program makes. */
const MADE_PATHS = ['test/mutation/node_modules', 'test/fuzz/crashes']

const SOURCES = [
  'src',
  'clients',
  'models',
  'tools',
  'bench',
  'test',
  'scripts',
  'native/src',
  'docs/examples',
]
const IS_SOURCE =
  /\.(?:ts|tsx|mjs|cjs|js|py|go|c|cc|h|json|ya?ml|conf|cfg|sh|toml|css|html|service|timer|tpl)$/
/** They name what is in the pages, and so would prove every name. */
const IS_LEFT_OUT = /(?:^|\/)node_modules\/|documented-names/

let knownWords: Set<string> | undefined
/** Every word of the sources, and every setting. */
function sourceWords(): Set<string> {
  if (knownWords) return knownWords
  const files = [...SOURCES, 'docs/operations'].flatMap((folder) =>
    readdirSync(packageFile(...folder.split('/')), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((name) => IS_SOURCE.test(name) && !IS_LEFT_OUT.test(name)),
  )
  const top = ['package.json', 'compose.yaml', 'compose.cluster.yaml', 'Dockerfile', 'docs/openapi.json']
  const texts = [...files, ...top].map((file) => readFileSync(packageFile(...file.split('/')), 'utf8'))
  const found = texts.flatMap((text) => text.match(/[A-Za-z]\w*|--[a-z][a-z0-9-]+/g) ?? [])
  knownWords = new Set([...found, ...Object.values(ALL_SETTINGS).map(({ variable }) => variable)])
  return knownWords
}

let knownOptions: Set<string> | undefined
/** Options of `countersign`, and of the programs that npm scripts run. */
async function options(): Promise<Set<string>> {
  if (knownOptions) return knownOptions
  const all = (command: Command): string[] => [
    ...command.options.flatMap(({ long, short }) => [long, short]).filter((name) => name != null),
    ...command.commands.flatMap(all),
  ]
  const program = await createProgram([], true)
  knownOptions = new Set(
    [...all(program), '--help', ...sourceWords()].filter((name) => name.startsWith('--')),
  )
  return knownOptions
}

const SNAKE = /(?<![\w*…-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w*…])/g
const UPPER = /(?<![\w*…-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w*…])/g
const CAMEL = /(?<![\w.\\/…-])[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]*)+(?![\w.\\/…-])/g
const OPTION = /(?<![\w-])--[a-z][a-z0-9-]+/g
const PATH =
  /(?<![\w./-])(?:src|test|tools|clients|models|bench|scripts|native|docs|findings)\/[\w./@-]*\w(?![\w*{<…-])/g
const NPM_SCRIPT = /(?<=\bnpm run )[a-z][\w:-]*/g
const ENDPOINT = /\b(GET|POST|PUT|PATCH|DELETE) (\/v1\/[\w/{}-]+)/g
/** The beginning of an id, as in `cap_01a2…`. */
const IS_ID = /^[a-z]{2,4}_[0-9a-f]{6,}$/
const STATUS =
  /\b([45]\d\d) `([a-z]+(?:_[a-z]+)+)`|`([a-z]+(?:_[a-z]+)+)` \(([45]\d\d)\)|\b([45]\d\d), `([a-z]+(?:_[a-z]+)+)`/g

/** Names of a page that nothing has. @param page only names the place of a finding */
export async function unknownNamesIn(page: string, text: string): Promise<string[]> {
  const words = sourceWords()
  const flags = await options()
  const scripts = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')).scripts
  const isName = (name: string) => words.has(name) || FOREIGN_NAMES.has(name) || IS_ID.test(name)
  const isOption = (name: string) => flags.has(name) || FOREIGN_OPTIONS.has(name)
  const isPath = (path: string) => MADE_PATHS.includes(path) || existsSync(packageFile(...path.split('/')))
  const prose = text.replace(FENCE, (fence) => fence.replace(/[^\n]/g, ' '))
  return [...prose.matchAll(INLINE_CODE)].flatMap(({ index, 1: code = '' }) => {
    const unknown = [
      ...[SNAKE, UPPER, CAMEL].flatMap((form) => code.match(form) ?? []).filter((name) => !isName(name)),
      ...(code.match(OPTION) ?? []).filter((name) => !isOption(name)),
      ...(code.match(PATH) ?? []).filter((path) => !isPath(path)),
      ...(code.match(NPM_SCRIPT) ?? []).filter((name) => !(name in scripts)),
      ...[...code.matchAll(ENDPOINT)].filter(([, ...call]) => !isEndpoint(...call)).map(([call]) => call),
    ]
    return unknown.map((name) => `${page}:${prose.slice(0, index).split('\n').length}: ${name}`)
  })
}

let knownEndpoints: [method: string, path: RegExp][] | undefined
function isEndpoint(method = '', path = ''): boolean {
  if (!knownEndpoints) {
    const { paths } = JSON.parse(readFileSync(packageFile('docs', 'openapi.json'), 'utf8'))
    knownEndpoints = Object.entries<object>(paths).flatMap(([known, methods]) =>
      Object.keys(methods).map((name): [string, RegExp] => [
        name.toUpperCase(),
        new RegExp(`^${known.replaceAll(/\{[^}]*\}/g, '[^/]+')}$`),
      ]),
    )
  }
  return knownEndpoints.some(([name, form]) => name === method && form.test(path))
}

/** Errors of a page that it gives another status than they have. */
export function wrongStatusesIn(page: string, text: string): string[] {
  const statuses = new Map<string, number>([
    ...Object.entries(SHOWN_STATUSES),
    ...Object.entries(DASHBOARD_ERRORS).map(([code, [status]]): [string, number] => [code, status]),
    [UNKNOWN_HOST.code, UNKNOWN_HOST.status],
    ...Object.entries(ERRORS).map(([code, { status }]): [string, number] => [code, status]),
  ])
  return [...text.matchAll(STATUS)].flatMap(([found, a, b, c, d, e, f]) => {
    const [status, code] = [a ?? d ?? e, b ?? c ?? f]
    const known = statuses.get(code!)
    return known === undefined || known === Number(status) ? [] : [`${page}: ${found}, which is ${known}`]
  })
}

const SETTING_VALUE = /\b(COUNTERSIGN_[A-Z_]+)=(?:'([^'\n]*)'|"([^"\n]*)"|([^\s`'"|;&)]+))/g
/** A word that stands for another. */
const IS_PLACEHOLDER = /[<>$…{}]|\.\.\.|^[A-Z_]+$|^(?:true|false) or /
const SETTING_DEFAULT =
  /`(COUNTERSIGN_[A-Z_]+)` \((?:by default |default )?`?([\d.,e-]+)`?(?: (second|minute|hour|day)s?)?[;,)]/g
const UNIT_SECONDS = { second: 1, minute: 60, hour: 3600, day: 86_400 }
const SUFFIX_SECONDS: Record<string, number> = {
  MS: 0.001,
  SECONDS: 1,
  MINUTES: 60,
  HOURS: 3600,
  DAYS: 86_400,
}

/** Values of settings that the service would refuse, and defaults that are not those of the service. */
export function wrongSettingsIn(page: string, text: string): string[] {
  const settings = new Map(Object.values(ALL_SETTINGS).map((setting) => [setting.variable, setting]))
  const refused = [...text.matchAll(SETTING_VALUE)].flatMap(([found, name = '', ...values]) => {
    // A sentence may end with the value.
    const value = values.find((one) => one !== undefined)!.replace(/[.,:]$/, '')
    const setting = settings.get(name)
    if (!setting || value === '' || IS_PLACEHOLDER.test(value)) return []
    try {
      setting.parse(value, name)
      return []
    } catch (error) {
      return [`${page}: ${found}: ${(error as Error).message}`]
    }
  })
  const other = [...text.matchAll(SETTING_DEFAULT)].flatMap(([found, name = '', number = '', unit]) => {
    const fallback = settings.get(name)?.fallback
    const factor = unit
      ? UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS] / SUFFIX_SECONDS[name.split('_').at(-1)!]!
      : 1
    const isDefault = Number(number.replaceAll(',', '')) * factor === Number(fallback)
    return fallback === undefined || isDefault ? [] : [`${page}: ${found}: the default is ${fallback}`]
  })
  return [...refused, ...other]
}
