/** Reports readiness and shutdown to systemd, where systemd started the service with `Type=notify`. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Logger } from 'pino'

/**
 * Sends the state by the command `systemd-notify`, since Node has no datagram sockets for Unix paths. Does nothing where no service
 * manager asked for it (`NOTIFY_SOCKET` is not set).
 */
export async function notifyServiceManager(state: 'READY=1' | 'STOPPING=1', log: Logger): Promise<void> {
  if (!process.env.NOTIFY_SOCKET) return
  try {
    await promisify(execFile)('systemd-notify', [state])
  } catch (err) {
    log.error({ err, state }, 'systemd could not be notified: is the command systemd-notify installed?')
  }
}
