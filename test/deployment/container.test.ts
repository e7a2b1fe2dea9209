/** Dockerfile and compose.yaml: linted, hardened as docs/operations/installation.md says, and in step with the service's settings. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { ValidationSeverity, validate } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ALL_SETTINGS, loadConfig } from '../../src/app/configuration.js'
import { packageFile } from '../../src/lib/package-root.js'
import { IMAGE, IMAGE_ENVIRONMENT, instruction } from '../support/dockerfile.js'

const read = (...path: string[]) => readFileSync(packageFile(...path), 'utf8')
const dockerfile = read('Dockerfile')
const VARIABLES = new Set<string>(Object.values(ALL_SETTINGS).map(({ variable }) => variable))

describe('Dockerfile', () => {
  it('passes its linter with every check as an error', () => {
    const ERROR = ValidationSeverity.ERROR
    const settings = {
      deprecatedMaintainer: ERROR,
      directiveCasing: ERROR,
      emptyContinuationLine: ERROR,
      instructionCasing: ERROR,
      instructionCmdMultiple: ERROR,
      instructionEntrypointMultiple: ERROR,
      instructionHealthcheckMultiple: ERROR,
      instructionJSONInSingleQuotes: ERROR,
      instructionWorkdirRelative: ERROR,
    }
    expect(validate(dockerfile, settings)).toEqual([])
  })

  it('uses the Node that docs/upgrade-policy.md names, in both stages, and the digest that the build is given', () => {
    const page = read('docs', 'upgrade-policy.md')
    const [, decided] = /^\| Node of the image \| (\d+) \|$/m.exec(page)!
    expect(/^ARG NODE_VERSION=(.*)$/m.exec(dockerfile)![1]).toBe(decided)
    const stages = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the Dockerfile's own
    expect(stages).toEqual(Array(2).fill('node:${NODE_VERSION}-bookworm-slim${NODE_DIGEST}'))
    expect([...page.matchAll(/node:(\d+)-/g)].map(([, version]) => version)).toEqual(Array(2).fill(decided))
    expect([...read('docs', 'operations', 'installation.md').matchAll(/node:\d+-\S+/g)]).toEqual([])
  })

  it('has a binary of the HTTP addon for that Node', () => {
    const [, decided] = /^ARG NODE_VERSION=(.*)$/m.exec(dockerfile)!
    const MODULE_VERSIONS: Record<string, number> = { 20: 115, 22: 127 }
    const { sha256 } = JSON.parse(read('native', 'uwebsockets.json'))
    for (const machine of ['x64', 'arm64'])
      expect(Object.keys(sha256)).toContain(`uws_linux_${machine}_${MODULE_VERSIONS[decided!]}.node`)
  })

  it('runs as a user other than root, given by number', () => {
    expect(instruction('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(IMAGE.findIndex(({ name }) => name === 'USER')).toBeGreaterThan(
      IMAGE.findLastIndex(({ name }) => name === 'RUN'),
    )
  })

  it('starts the program itself, so that signals reach it', () => {
    expect(JSON.parse(instruction('ENTRYPOINT')!)).toEqual(['countersign'])
    expect(JSON.parse(instruction('CMD')!)).toEqual(['serve'])
    expect(instruction('STOPSIGNAL')).toBe('SIGTERM')
    expect(instruction('HEALTHCHECK')).toMatch(/ CMD \["node", "-e", .*\/livez/)
  })

  it('sets variables that the service reads, to values that it accepts', () => {
    const ours = Object.keys(IMAGE_ENVIRONMENT).filter((name) => name.startsWith('COUNTERSIGN_'))
    expect(ours.filter((name) => !VARIABLES.has(name))).toEqual([])
    const { productionListen, sandboxListen, adminListen, dataDir } = loadConfig(IMAGE_ENVIRONMENT)
    const ports = [productionListen, sandboxListen, adminListen].map(({ port }) => String(port))
    expect(instruction('EXPOSE')!.split(' ')).toEqual(ports)
    expect(instruction('HEALTHCHECK')).toContain(`127.0.0.1:${adminListen.port}/`)
    expect(instruction('VOLUME')).toBe(dataDir)
  })

  it('contains the built standard pack, so that a start builds nothing', () => {
    const { modelPack, embedderTarball } = loadConfig(IMAGE_ENVIRONMENT)
    const folder = modelPack.replace(/\/standard$/, '')
    expect(dockerfile).toContain(
      `COUNTERSIGN_MODELS_DIR=${folder} COUNTERSIGN_EMBEDDER_TARBALL=${embedderTarball} `,
    )
    expect(dockerfile).toMatch(/node dist\/src\/cli\/main\.js models build standard /)
    expect(dockerfile).toContain(`COPY --from=build ${folder} ${folder.replace('/app/', '')}\n`)
  })

  it('copies only files that exist and that .dockerignore allows', () => {
    const let_through = read('.dockerignore')
      .match(/^!.+$/gm)!
      .map((line) => line.slice(1))
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources]) =>
      sources!.split(' '),
    )
    expect(copied.length).toBeGreaterThan(5)
    for (const source of copied) {
      expect(existsSync(packageFile(source))).toBe(true)
      expect(let_through.some((path) => path === source || path.startsWith(`${source}/`))).toBe(true)
    }
  })
})

it('imports only production dependencies in the built service', () => {
  const { dependencies } = JSON.parse(read('package.json'))
  const allowed = new Set([...Object.keys(dependencies), ...builtinModules])
  const imported = ['dist/src', 'dist/clients', 'dist/models', 'dist/tools'].flatMap((folder) =>
    readdirSync(packageFile(folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.js') && !name.startsWith('dashboard/web/'))
      .flatMap((name) => [
        ...readFileSync(packageFile(folder, name), 'utf8').matchAll(
          /(?:\bfrom |^import |\b(?:import|require|resolve)\()['"]([^.#'"][^'"]*)['"]/gm,
        ),
      ])
      .map(([, specifier]) => specifier!),
  )
  expect(imported).toContain('pino')
  const packageOf = (specifier: string) =>
    specifier
      .replace(/^node:/, '')
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/')
  expect([...new Set(imported.map(packageOf))].filter((name) => !allowed.has(name))).toEqual([])
})

describe('compose.yaml', () => {
  const { services, secrets, volumes } = parse(read('compose.yaml'))
  const service = services.countersign

  it('drops every right that the service does not need', () => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
    expect(service).not.toHaveProperty('privileged')
    expect(service).not.toHaveProperty('cap_add')
    expect(service).not.toHaveProperty('user')
    expect(service.tmpfs).toEqual([expect.stringMatching(/^\/tmp:.*noexec.*nosuid/)])
    expect(service.volumes).toEqual([`data:${IMAGE_ENVIRONMENT.COUNTERSIGN_DATA_DIR}`])
    expect(volumes).toHaveProperty('data')
  })

  it('publishes its ports only on loopback', () => {
    const ports = instruction('EXPOSE')!.split(' ')
    expect(service.ports).toEqual(ports.map((port) => `127.0.0.1:${port}:${port}`))
  })

  it('gives the master key as a file', () => {
    expect(service.environment.COUNTERSIGN_MASTER_KEY_FILE).toBe('/run/secrets/master_key')
    expect(service.secrets).toEqual(['master_key'])
    expect(secrets.master_key.file).toBe('./secrets/master.key')
    expect(service.environment).not.toHaveProperty('COUNTERSIGN_MASTER_KEY')
  })

  it('sets variables that the service reads', () => {
    const named = Object.keys(service.environment)
    expect(named.filter((name) => !VARIABLES.has(name))).toEqual([])
  })

  it('waits longer at the end than a request may take', () => {
    const seconds = Number(/^(\d+)s$/.exec(service.stop_grace_period)?.[1])
    expect(seconds * 1000).toBeGreaterThan(loadConfig({}).deadlineMs + 2000)
    expect(service.restart).toBe('unless-stopped')
    expect(service.healthcheck.test.join(' ')).toContain('/readyz')
  })
})

const yamllint = spawnSync('yamllint', ['--version']).error === undefined
it.skipIf(!yamllint)('yamllint takes the YAML files (skipped where it is not installed)', () => {
  const rules = '{extends: default, rules: {line-length: {max: 130}, document-start: disable}}'
  const files = [
    packageFile('compose.yaml'),
    packageFile('compose.cluster.yaml'),
    packageFile('docs', 'operations', 'alerts.yml'),
    packageFile('docs', 'operations', 'kubernetes.yaml'),
    packageFile('docs', 'operations', 'helm', 'countersign', 'values.yaml'),
  ]
  const { status, stdout } = spawnSync('yamllint', ['--strict', '-d', rules, ...files], { encoding: 'utf8' })
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
})
