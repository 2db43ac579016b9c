import { Access } from '../../../gen/proto/enforcement/v1/options_pb.js';
import type { ProtectedMethod } from '../auth/protected-method.js';

/**
 * Priority of a call: evaluations with a key come before all other calls with a key, and those before calls
 * that need none. Under overload the lowest priority is refused first.
 */
export type CallClass = 'evaluation' | 'keyed' | 'public';

/** The properties that determine the class of an RPC. */
export interface ClassifiedMethod extends ProtectedMethod {
  readonly isEvaluation: boolean;
}

/** A method that needs no key. */
export const PUBLIC_METHOD: ClassifiedMethod = {
  access: Access.PUBLIC,
  isEvaluation: false,
  scopes: [],
  scopeMask: 0n,
  operation: '',
};

export function callClassOf(method: ClassifiedMethod): CallClass {
  if (method.access === Access.PUBLIC) return 'public';
  return method.isEvaluation ? 'evaluation' : 'keyed';
}
