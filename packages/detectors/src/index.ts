import type { Evaluator } from '../../../src/kernel/core/evaluator.js';
import { injectionEvaluator } from './injection/injection.js';
import { piiEvaluator } from './pii/pii.js';
import { secretsEvaluator } from './secrets/secrets.js';
import { shellEvaluator } from './shell/shell.js';
import { urlEvaluator } from './url/url.js';

export { findSensitive } from './masking/find-sensitive.js';

/** The evaluators of the package, in the order in which the service lists them. */
export const evaluators: readonly Evaluator[] = [
  secretsEvaluator,
  injectionEvaluator,
  piiEvaluator,
  urlEvaluator,
  shellEvaluator,
];
