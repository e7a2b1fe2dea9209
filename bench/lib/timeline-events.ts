/** What `timeline` and its probe have in common. */

/** Environment variable: where the probe writes, a line an event: its name and milliseconds of the machine's monotonic clock. */
export const TIMELINE_FILE = 'BENCH_TIMELINE_FILE'
