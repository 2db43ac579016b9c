import { callerError } from '../errors/service-error.js';
import type { Principal } from './handler.js';
import { type Scope, scopeMask } from './scopes.js';

/**
 * Fails with AUTH_INSUFFICIENT_PRIVILEGES for a caller without any of these scopes, of which the first is named: for what a
 * call needs besides the scope of its RPC.
 */
export function demandScope(
  { scopes }: Pick<Principal, 'scopes'>,
  ...needed: readonly [Scope, ...Scope[]]
): void {
  if ((scopes & scopeMask(needed)) !== 0n) return;
  throw callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
    detail: `This call also needs the scope ${needed[0]}, which its caller does not have.`,
    hint: 'Use a key whose role or scopes include it.',
  });
}
