import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/config/config.js'
import { describePostgres, parsePostgresUrl } from '../../src/features/postgres/postgres-url.js'

const BASE = {
  user: 'kim',
  password: undefined,
  database: 'kim',
  tls: 'verify-full',
  rootCertFile: undefined,
  certFile: undefined,
  keyFile: undefined,
  connectTimeoutMs: 3000,
  options: undefined,
}

describe('a URL of PostgreSQL', () => {
  it.each([
    ['postgres://kim@db.example', { hosts: [{ host: 'db.example', port: 5432 }] }],
    [
      'postgresql://kim:p%40ss%3Aword@db.example:6000/books',
      { hosts: [{ host: 'db.example', port: 6000 }], password: 'p@ss:word', database: 'books' },
    ],
    [
      'postgres://kim@one:1,two,[2001:db8::1]:3/books',
      {
        hosts: [
          { host: 'one', port: 1 },
          { host: 'two', port: 5432 },
          { host: '2001:db8::1', port: 3 },
        ],
        database: 'books',
      },
    ],
    ['postgres://kim@localhost', { hosts: [{ host: 'localhost', port: 5432 }], tls: 'disable' }],
    [
      'postgres://kim@127.0.0.1,[::1]',
      {
        hosts: [
          { host: '127.0.0.1', port: 5432 },
          { host: '::1', port: 5432 },
        ],
        tls: 'disable',
      },
    ],
    // A missing one is looked for with any of these.
    [
      'postgres://kim@localhost,db',
      {
        hosts: [
          { host: 'localhost', port: 5432 },
          { host: 'db', port: 5432 },
        ],
      },
    ],
    [
      'postgres://kim@/books?host=/var/run/postgresql',
      { hosts: [{ host: '/var/run/postgresql', port: 5432 }], database: 'books', tls: 'disable' },
    ],
    [
      'postgres://kim@db/b?sslmode=verify-ca&sslrootcert=/ca.pem&sslcert=/c.pem&sslkey=/k.pem&connect_timeout=9&options=-c%20search_path%3Dx&target_session_attrs=read-write',
      {
        hosts: [{ host: 'db', port: 5432 }],
        database: 'b',
        tls: 'verify-ca',
        rootCertFile: '/ca.pem',
        certFile: '/c.pem',
        keyFile: '/k.pem',
        connectTimeoutMs: 9000,
        options: '-c search_path=x',
      },
    ],
  ])('is read: %s', (url, expected) => {
    expect(parsePostgresUrl(url)).toEqual({ ...BASE, ...expected })
  })

  it.each([
    ['postgres:secret', /expected postgres:/],
    ['postgres://db/books', /contains no user name/],
    ['postgres://kim@', /expected host:port/],
    ['postgres://kim@db:0', /expected host:port/],
    ['postgres://kim@db:70000', /expected host:port/],
    [
      'postgres://kim@db?sslmode=prefer',
      /sslmode is prefer; expected one of disable, require, verify-ca, verify-full/,
    ],
    ['postgres://kim@db?sslMode=disable', /sslMode is not a known parameter/],
    ['postgres://kim@db?sslcert=/c.pem', /must be given together/],
    ['postgres://kim@db?connect_timeout=0', /connect_timeout/],
    ['postgres://kim@db?target_session_attrs=any', /only be read-write/],
    ['postgres://kim:p@ss@db', /write an @ in user or password as %40/],
    ['postgres://kim:50%@db', /does not begin an escape/],
  ])('is refused: %s', (url, message) => {
    const parsing = () => parsePostgresUrl(url)
    expect(parsing).toThrow(ConfigError)
    expect(parsing).toThrow(message)
  })

  it('shows its password in no message', () => {
    const url = 'postgres://kim:hush@db:1/books'
    expect(describePostgres(parsePostgresUrl(url))).toBe('PostgreSQL database books on db:1')
    for (const broken of ['?x=1', '?sslmode=no', '?host=%'])
      expect(() => parsePostgresUrl(url + broken)).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('hush') }),
      )
  })
})
