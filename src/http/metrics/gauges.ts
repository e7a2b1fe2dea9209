/** Gauges that are read when somebody asks for the metrics. */
import { Gauge, type Registry } from 'prom-client'

type Series = readonly [labels: Readonly<Record<string, string | number>>, value: number]

/** The value, or those of all series of a gauge with labels; null where it cannot be read now: the gauge keeps what it showed last. */
type Reading = number | null | readonly Series[]

/** @returns a function that adds a gauge to the registry */
export function gaugesOf(registry: Registry) {
  return (
    name: string,
    help: string,
    read: () => Reading | Promise<Reading>,
    labelNames: readonly string[] = [],
  ) => {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const reading = await read()
        if (typeof reading === 'number') this.set(reading)
        else if (reading) {
          this.reset()
          for (const [labels, value] of reading) this.set(labels, value)
        }
      },
    })
  }
}
