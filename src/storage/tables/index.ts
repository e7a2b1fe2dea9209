/** Every table of the core that both databases have. */
export * from './ageing.js'
export * from './answers.js'
export * from './audit.js'
export * from './keys.js'
export * from './tenants.js'
export * from './users.js'
