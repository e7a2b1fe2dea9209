/** `countersign serve` under systemd with `Type=notify`: systemd learns when it is ready and when it begins to end. */
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until, type Workplace, workplace } from '../support/command.js'
import { temporaryFolder } from '../support/temporary-folder.js'

/** Receives datagrams at a Unix path, as systemd does; Node has no such sockets. */
const RECEIVER = `
import socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print("bound", flush=True)
while True:
    print(receiver.recv(4096).decode(), flush=True)
`

const canTry = ['systemd-notify', 'python3'].every(
  (command) => spawnSync(command, ['--version']).error === undefined,
)

describe.skipIf(!canTry)('systemd', () => {
  let home: Workplace
  let folder: string
  let receiver: ReturnType<typeof spawn>
  let received = ''
  beforeEach(async () => {
    home = await workplace()
    folder = temporaryFolder()
    received = ''
    receiver = spawn('python3', ['-c', RECEIVER, join(folder, 'socket')])
    receiver.stdout!.on('data', (text) => {
      received += text
    })
    await until(() => received.includes('bound'))
  })
  afterEach(async () => {
    receiver?.kill()
    await home?.dispose()
  })

  it('learns that the service is ready, and that it ends', async () => {
    const server = await home.serve([], { NOTIFY_SOCKET: join(folder, 'socket') })
    await until(() => received.includes('READY=1'))
    expect(received).not.toContain('STOPPING=1')
    expect((await fetch(`${server.admin}/readyz`)).status).toBe(200)
    server.signal('SIGTERM')
    await server.exited
    await until(() => received.includes('STOPPING=1'))
  })
})
