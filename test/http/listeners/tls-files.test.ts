import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { examineTls } from '../../../src/http/listeners/tls-files.js'
import { DAY_MS } from '../../../src/lib/clock.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const dir = temporaryFolder()
const at = (name: string) => join(dir, name)
const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'ignore' })
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

beforeAll(() => {
  openssl('req', '-x509', ...KEY, '-days', '90', '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=ca')
  openssl('req', ...KEY, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost')
  const issuer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial']
  openssl('x509', '-req', '-in', 'server.csr', ...issuer, '-days', '60', '-out', 'server.pem')
  const [server, ca] = ['server.pem', 'ca.pem'].map((name) => readFileSync(at(name), 'utf8'))
  writeFileSync(at('chain.pem'), `${server}${ca}`)
  writeFileSync(at('reversed.pem'), `${ca}${server}`)
  writeFileSync(at('junk.pem'), 'junk')
})

const examine = (cert: string, key: string, days = 0) =>
  examineTls({ certFile: at(cert), keyFile: at(key) }, Date.now() + days * DAY_MS)

describe('a certificate and its key', () => {
  it('accepts a certificate with its key, with and without its chain', () => {
    for (const cert of ['server.pem', 'chain.pem'])
      expect(examine(cert, 'server.key')).toEqual({
        expiresAt: expect.any(Number),
        problems: [],
        warnings: [],
      })
    const { expiresAt } = examine('chain.pem', 'server.key')
    expect(Math.round((expiresAt! - Date.now()) / DAY_MS)).toBe(60)
  })

  it('refuses a key that belongs to another certificate', () => {
    expect(examine('server.pem', 'ca.key').problems).toEqual([
      `The TLS key ${at('ca.key')} does not belong to the certificate ${at('server.pem')}.`,
    ])
  })

  it('warns of a certificate three weeks before its expiry, and refuses it afterwards', () => {
    expect(examine('server.pem', 'server.key', 38)).toMatchObject({ problems: [], warnings: [] })
    expect(examine('server.pem', 'server.key', 40).warnings).toEqual([expect.stringContaining('expires on')])
    expect(examine('server.pem', 'server.key', 61).problems).toEqual([expect.stringContaining('expired on')])
    expect(examine('server.pem', 'server.key', -1).problems).toEqual([
      expect.stringContaining('is not valid yet'),
    ])
  })

  it('refuses a chain in the wrong order', () => {
    expect(examine('reversed.pem', 'ca.key').problems).toEqual([
      expect.stringContaining('did not issue the one before it'),
    ])
  })

  it('names each file that cannot be read', () => {
    const { problems } = examine('junk.pem', 'absent.key')
    expect(problems).toHaveLength(2)
    expect(problems[0]).toContain(at('junk.pem'))
    expect(problems[1]).toContain(at('absent.key'))
  })
})
