import { builtinEvaluators, createRegistry } from '../../../../src/kernel/evaluators/load-evaluators.js';
import { evaluators } from '../../../detectors/src/index.js';

/** The evaluators that commands evaluate with: those of the service that need no setting. */
export const offlineEvaluators = createRegistry([...builtinEvaluators, ...evaluators]);
