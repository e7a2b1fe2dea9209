/** The parts of epoch keys that other features may use. */
export { EPOCH_SETTINGS, type EpochSettings } from './epoch-settings.js'
