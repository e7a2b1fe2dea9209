/** Debian's haproxy with docs/operations/haproxy.cfg, on addresses of loopback that are its own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { packageFile } from '../../src/lib/package-root.js'
import { poll } from './command.js'

export const HAPROXY_CONFIG = packageFile('docs', 'operations', 'haproxy.cfg')
/** Debian keeps it out of the path of those who are not root. */
export const HAPROXY = ['haproxy', '/usr/sbin/haproxy'].find((file) => !spawnSync(file, ['-v']).error)

export const isHaproxyHere = process.platform === 'linux' && HAPROXY !== undefined

export interface Places {
  listen: string
  nodeA: string
  nodeB: string
}

/** The configuration's ports are fixed, so the addresses differ from one test to the next. */
export function loopbackPlaces(): Places {
  const byte = () => 1 + Math.floor(Math.random() * 250)
  const network = `127.${byte()}.${byte()}`
  return { listen: `${network}.1`, nodeA: `${network}.2`, nodeB: `${network}.3` }
}

export class Haproxy {
  private constructor(
    private readonly child: ChildProcess,
    private readonly socket: string,
  ) {}

  /** @param folder for its socket */
  static async start({ listen, nodeA, nodeB }: Places, folder: string): Promise<Haproxy> {
    const socket = join(folder, 'haproxy.sock')
    const env = {
      ...{ PATH: process.env.PATH, LISTEN: listen, PRIVATE_LISTEN: listen },
      ...{ NODE_A: nodeA, NODE_B: nodeB, RUNTIME_SOCKET: socket },
    }
    const child = spawn(HAPROXY!, ['-f', HAPROXY_CONFIG], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    let told = ''
    child.stderr!.setEncoding('utf8').on('data', (more: string) => {
      told += more
    })
    const haproxy = new Haproxy(child, socket)
    await poll(
      async () => {
        if (child.exitCode !== null) throw new Error(`haproxy ended:\n${told}`)
        return haproxy.ask('show info').catch(() => '')
      },
      (info) => info !== '',
    )
    return haproxy
  }

  /** Checks a configuration with HAProxy, without running it. */
  static check(file = HAPROXY_CONFIG) {
    const env = { PATH: process.env.PATH }
    const { status, stdout, stderr } = spawnSync(HAPROXY!, ['-c', '-f', file], { env, encoding: 'utf8' })
    return { status, said: stdout + stderr }
  }

  /** The `srv_op_state` of a server: 0 down, 1 starting, 2 up, 3 stopping after its last requests. */
  async state(server: 'a' | 'b'): Promise<number> {
    const table = await this.ask('show servers state production')
    const row = table.split('\n').find((line) => line.split(' ')[3] === server)
    return Number(row?.split(' ')[5])
  }

  ask(command: string): Promise<string> {
    const door = connect(this.socket)
    door.end(`${command}\n`)
    return text(door)
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    this.child.kill()
    await once(this.child, 'exit')
  }
}
