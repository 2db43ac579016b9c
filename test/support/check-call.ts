import type { CheckCall } from '../../src/evaluators/types.js';

/** The call of a check that wants everything and is never given up. */
export const FULL_CALL: CheckCall = { detail: 'full', signal: new AbortController().signal };
