/** `countersign nodes`: lists the services that serve from the database, and the master keys that each can read. */
import type { Command } from 'commander'
import { membershipView } from '../cluster/membership.js'
import { listing } from './lib/style.js'
import { coreCommand } from './with-core.js'

export function registerNodesCommand(command: Command): void {
  coreCommand(command, '', {
    async answer({ store }) {
      const services = await store.services()
      const membership = membershipView(services)
      return {
        ...membership,
        /** Adds the ids of the master keys that a service can read. /readyz, which anyone may ask, leaves them out. */
        nodes: membership.nodes.map((node, index) => ({ ...node, master_keys: services[index]!.masterKeys })),
      }
    },
    text: ({ nodes }) =>
      listing(
        ['NODE', 'VERSION', 'COMMIT', 'SCHEMA', 'SINCE', 'LEASE', 'READY', 'MASTER KEYS IT READS'],
        nodes.map(({ name, version, commit, schema, since, is_serving, lease_ms, not_ready, ...node }) => [
          ...[name, version, commit.slice(0, 8), schema === null ? '-' : String(schema)],
          is_serving ? since : 'starting',
          // One service at a time serves from a SQLite file, which it locks.
          lease_ms === 0 ? '-' : `${(lease_ms / 1000).toFixed(1)} s`,
          not_ready.length === 0 ? 'yes' : { text: not_ready.join(', '), style: 'red' },
          node.master_keys?.join(' ') ?? '-',
        ]),
      ),
    remark: ({ differing_settings: differing }) =>
      differing.length === 0 ? null : `These settings differ between them: ${differing.join(', ')}`,
  })
}
