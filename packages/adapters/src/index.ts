export { createAdapters } from './create-adapters.js';
export type { AdapterMeter } from './steps/adapter-evaluations.js';
