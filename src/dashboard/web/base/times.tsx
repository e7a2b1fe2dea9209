/** Times in the zone that the reader has chosen, and the countdown to one. */
import { useEffect, useState } from 'preact/hooks'
import { dayText, momentText, useShownZone } from './time-zone.js'

/** Returns the time zone of the computer, which the fields for times use, such as `Europe/Berlin`. */
export function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Shows a time, or `none` where there is none. With `day` it shows only the day, and the whole time in the tooltip. */
export function Time({ at, day, none = '–' }: { at: string | null; day?: boolean; none?: string }) {
  const zone = useShownZone()
  if (at === null) return <>{none}</>
  const full = momentText(at, zone)
  return (
    <time dateTime={at} title={full}>
      {day ? dayText(at, zone) : full}
    </time>
  )
}

/** Counts down every second, by the service's clock. */
export function Countdown({ until, now }: { until: string; now: string }) {
  const [remainingMs, setRemainingMs] = useState(Date.parse(until) - Date.parse(now))
  useEffect(() => {
    const end = performance.now() + Date.parse(until) - Date.parse(now)
    const tick = () => setRemainingMs(end - performance.now())
    tick()
    const timer = setInterval(tick, 1000)
    return () => clearInterval(timer)
  }, [until, now])
  const seconds = Math.max(0, Math.round(remainingMs / 1000))
  return (
    <span class="countdown" role="timer">
      {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, '0')}
    </span>
  )
}
