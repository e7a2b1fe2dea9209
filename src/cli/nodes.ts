/** `countersign nodes`: which services serve from the database. */
import type { Command } from 'commander'
import { fleetView } from '../fleet.js'
import { withLedger } from './ledger.js'
import { action, CommandError, note, type OutputOptions, print } from './output.js'
import { listing } from './style.js'

export function registerNodesCommand(command: Command): void {
  command.option('--json', 'print JSON').action(
    action(async (options: OutputOptions) => {
      const view = await withLedger(async ({ store }) => {
        if (!store.shared)
          throw new CommandError(
            'single_service',
            'From a SQLite file one service serves, and keeps no list.',
          )
        return fleetView(await store.shared.nodes())
      })
      print(options, view, () =>
        listing(
          ['NODE', 'VERSION', 'COMMIT', 'SINCE', 'LEASE', 'READY'],
          view.nodes.map(({ name, version, commit, since, is_serving, lease_ms, not_ready }) => [
            name,
            version,
            commit.slice(0, 8),
            is_serving ? since : 'starting',
            `${(lease_ms / 1000).toFixed(1)} s`,
            not_ready.length === 0 ? 'yes' : { text: not_ready.join(', '), style: 'red' },
          ]),
        ),
      )
      if (!options.json && view.differing_settings.length > 0)
        note(`They have not all alike: ${view.differing_settings.join(', ')}`)
    }),
  )
}
