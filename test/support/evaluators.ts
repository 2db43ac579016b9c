import { evaluators } from '../../packages/detectors/src/index.js';
import { builtinEvaluators, createRegistry } from '../../src/kernel/evaluators/load-evaluators.js';

/** The evaluators of a service that need no setting, those of the package `detectors` included, in the order of the service. */
export const serviceEvaluators = [
  ...builtinEvaluators.filter(({ remembers }) => remembers !== true),
  ...evaluators,
  ...builtinEvaluators.filter(({ remembers }) => remembers === true),
];

export const serviceRegistry = createRegistry(serviceEvaluators);
