import { DataTexts } from '../../src/kernel/core/data-texts.js';
import type { CheckCall } from '../../src/kernel/core/evaluator.js';

/** The call of a check of `input` that wants everything and is never given up. */
export const FULL_CALL: CheckCall = {
  detail: 'full',
  place: { path: 'input', negated: false },
  signal: new AbortController().signal,
  step: { type: 'tool', name: 'send', input: {}, output: null, context: null },
  stage: 'pre',
  agent: null,
  nowMs: () => 0,
  textsOf: (data) => new DataTexts(data),
};

/** As FULL_CALL, for a check of the whole step. */
export const WHOLE_STEP_CALL: CheckCall = { ...FULL_CALL, place: { path: '*', negated: false } };

/** As FULL_CALL, for a check below `not`. */
export const NEGATED_CALL: CheckCall = { ...FULL_CALL, place: { path: 'input', negated: true } };
