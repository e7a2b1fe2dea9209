/** The setting of challenges. */
import { type OwnSettings, ownValues } from '../../config/own-settings.js'
import { integer } from '../../config/parsers.js'
import { setting } from '../../config/setting.js'

const SETTINGS = {
  challengeTtlSeconds: setting(
    'CHALLENGE_TTL_SECONDS',
    '90',
    'Time for the frames of a challenge to arrive, in seconds.',
    integer(15, 300),
  ),
}

export const CHALLENGE_SETTINGS: OwnSettings<typeof SETTINGS> = { group: 'Verdicts', settings: SETTINGS }

/** Seconds from issue to expiry. */
export function challengeSeconds(config: Parameters<typeof ownValues>[1]): number {
  return ownValues(CHALLENGE_SETTINGS, config).challengeTtlSeconds
}
