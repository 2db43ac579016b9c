import type { HeavySteps } from '../../src/serve/evaluation/heavy-steps.js';

/** For tests of a lane by itself: every message is read there. */
export const NO_HEAVY_STEPS: HeavySteps = {
  takes: () => false,
  read: () => Promise.reject(new Error('no message is read elsewhere')),
};
