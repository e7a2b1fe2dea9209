/** What a service says of itself when it is ready: addresses, and what is shown only once. */

import type { Service } from '../../app/service.js'
import { resolveConfig } from '../../config/config.js'
import { VERSION } from '../../lib/version.js'
import { openByDefault } from '../config/open-settings.js'
import { note, type OutputOptions } from '../lib/output.js'
import { paint } from '../lib/style.js'

export interface AnnouncementOptions extends OutputOptions {
  demo?: boolean
}

/** Of what the operator should know: told at once to people, and to programs with the rest. */
export class Warnings {
  readonly all: string[]

  constructor(
    private readonly isJson: boolean,
    /** Those that were told before, by another process. */
    told: readonly string[] = [],
  ) {
    this.all = [...told]
  }

  readonly add = (warning: string): void => {
    this.all.push(warning)
    if (!this.isJson) note(`${paint('yellow', 'warning:', process.stderr)} ${warning}`)
  }
}

/** @param processes how many serve at the addresses. @throws ConfigError where a password that was made cannot be kept */
export async function announce(
  service: Service,
  options: AnnouncementOptions,
  warnings: Warnings,
  processes = 1,
): Promise<void> {
  // A start that is refused prints only its error, so this waits until the service is ready.
  const open = openByDefault(resolveConfig())
  if (open) warnings.add(open)
  for (const warning of await service.packWarnings()) warnings.add(warning)
  const where = {
    production: service.url('production'),
    sandbox: service.url('sandbox'),
    admin: service.adminUrl,
    ...(service.captureOrigin === null ? {} : { capture: service.captureOrigin }),
  }
  const { generated } = service.operatorPassword
  if (!options.json) {
    const captures = where.capture ? `  Captures    ${where.capture}/capture/…\n` : ''
    const several = processes > 1 ? `  Processes   ${processes}\n` : ''
    note(
      `\nCountersign ${VERSION} is ready.\n\n  Production  ${where.production}\n  Sandbox     ${where.sandbox}\n  Dashboard   ${where.admin}/\n${captures}  HTTP        ${service.transport.description}\n${several}`,
    )
    if (generated) {
      note(`The operator's password for the dashboard, shown only now:\n\n  ${generated}\n`)
      await keepPassword(service)
    }
  }
  const { demoInstructions, demoView, prepareDemo } = await import('./demo.js')
  const demo = options.demo ? await prepareDemo(service) : null
  if (options.json) {
    // Not to stdout: that is the log, and goes where no secret may.
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

/** A service that is told to stop meanwhile closes what the announcement works with: then nothing has failed. */
export async function announceUnlessStopping(service: Service, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!service.isStopping) throw error
  }
}

/** Only now that it was shown does it count. A service that nobody could sign in to is stopped. @throws ConfigError */
async function keepPassword(service: Service): Promise<void> {
  try {
    if (!(await service.operatorPassword.keep()))
      note("The operator's password above does not hold: another service has made one for all meanwhile.")
  } catch (error) {
    await service.stop()
    throw error
  }
}
