/** Prints what an operator needs when a service is ready: its addresses, and secrets that are shown only once. */

import { resolveConfig } from '../../app/configuration.js'
import type { Service } from '../../app/service.js'
import { VERSION } from '../../lib/version.js'
import { openByDefault } from '../config/open-settings.js'
import { note } from '../lib/output.js'
import { paint } from '../lib/style.js'

export interface AnnouncementOptions {
  demo: boolean
  json: boolean
}

/** Warnings for the operator: printed at once for people, and together with the addresses for programs. */
export class Warnings {
  readonly all: string[]

  constructor(
    private readonly isJson: boolean,
    /** Warnings that another process has printed already. */
    told: readonly string[] = [],
  ) {
    this.all = [...told]
  }

  readonly add = (warning: string): void => {
    this.all.push(warning)
    if (!this.isJson) note(`${paint('yellow', 'warning:', process.stderr)} ${warning}`)
  }
}

/** @param processes number of processes that serve at the addresses @throws ConfigError where a generated password cannot be kept */
export async function announce(
  service: Service,
  options: AnnouncementOptions,
  warnings: Warnings,
  processes = 1,
): Promise<void> {
  // A start that fails prints only its error, so this waits until the service is ready.
  const open = openByDefault(resolveConfig())
  if (open) warnings.add(open)
  for (const warning of await service.packWarnings()) warnings.add(warning)
  const [capture, openid] = [service.origin('capture'), service.origin('openid')]
  const where = {
    production: service.url('production'),
    sandbox: service.url('sandbox'),
    admin: service.adminUrl,
    ...(capture === null ? {} : { capture }),
    ...(openid === null ? {} : { openid }),
  }
  const generated = service.operatorPassword?.generated ?? null
  if (!options.json) {
    const captures = capture === null ? '' : `  Captures    ${capture}/capture/…\n`
    const provider = openid === null ? '' : `  OpenID      ${openid} (sandbox: ${openid}/sandbox)\n`
    const several = processes > 1 ? `  Processes   ${processes}\n` : ''
    note(
      `\nCountersign ${VERSION} is ready.\n\n  Production  ${where.production}\n  Sandbox     ${where.sandbox}\n  Dashboard   ${where.admin}/\n${captures}${provider}  HTTP        ${service.transport.description}\n${several}`,
    )
    if (generated) {
      note(`The operator's password for the dashboard, shown only now:\n\n  ${generated}\n`)
      await keepPassword(service)
    }
  }
  const { demoInstructions, demoView, prepareDemo } = await import('./demo.js')
  const demo = options.demo ? await prepareDemo(service) : null
  if (options.json) {
    // Not to stdout: that is the log, where no secret may go.
    note(
      JSON.stringify({
        version: VERSION,
        ...where,
        transport: service.transport,
        ...(processes > 1 ? { processes } : {}),
        operator_password: generated,
        demo: demo && demoView(demo),
        warnings: warnings.all,
      }),
    )
    await keepPassword(service)
  } else if (demo) note(demoInstructions(demo, where))
}

/** Ignores the errors of an announcement during which the service is stopped: stopping closes what the announcement uses. */
export async function announceUnlessStopping(service: Service, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!service.isStopping) throw error
  }
}

/** Keeps a generated password only now that it was shown. Stops a service that nobody could sign in to. @throws ConfigError */
async function keepPassword(service: Service): Promise<void> {
  try {
    if ((await service.operatorPassword?.keep()) === false)
      note(
        "Ignore the operator's password above: another service started first. Use the password in its log, or run `countersign operator-password --reset`.",
      )
  } catch (error) {
    await service.stop()
    throw error
  }
}
