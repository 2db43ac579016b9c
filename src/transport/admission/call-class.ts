import { Access } from '../../../gen/proto/enforcement/v1/options_pb.js';

/**
 * How urgent a call is: evaluations of callers with a key come before everything else with a key, and that before what
 * needs none. Under overload the least urgent calls are refused first.
 */
export type CallClass = 'evaluation' | 'keyed' | 'public';

/** What decides over the class of an RPC. */
export interface ClassifiedMethod {
  readonly access: Access;
  readonly isEvaluation: boolean;
}

export function callClassOf(method: ClassifiedMethod): CallClass {
  if (method.access === Access.PUBLIC) return 'public';
  return method.isEvaluation ? 'evaluation' : 'keyed';
}
