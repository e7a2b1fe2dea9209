/** The part of capture sessions that other features may use. */
export { CAPTURE_SESSION } from './capture-tables.js'
