import type { Access } from '../../../gen/proto/enforcement/v1/options_pb.js';
import type { ScopeMask } from '../../contract/call/scopes.js';

/** The properties of an RPC that determine who may call it. */
export interface ProtectedMethod {
  readonly access: Access;
  /** A caller needs any one of these scopes. */
  readonly scopes: readonly string[];
  /** The same as a set. */
  readonly scopeMask: ScopeMask;
  /** Name of the operation, for an upstream that decides about calls. */
  readonly operation: string;
}
