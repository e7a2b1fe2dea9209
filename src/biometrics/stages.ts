/** Stages of the engine whose time is measured, in the order in which an image passes them. */
export const ENGINE_STAGES = ['queue', 'decode', 'detect', 'align', 'liveness', 'embed', 'match'] as const
export type EngineStage = (typeof ENGINE_STAGES)[number]
