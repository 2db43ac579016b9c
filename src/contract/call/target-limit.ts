import { callerError } from '../errors/service-error.js';
import type { TargetName } from './namespace.js';

/**
 * Fails with AUTH_INSUFFICIENT_PRIVILEGES unless the target of an evaluation, null for none, is the one that its caller is
 * limited to. Null is no limit.
 */
export function demandTarget(limit: TargetName | null, target: TargetName | null): void {
  if (limit === null) return;
  if (target === null || target.type !== limit.type || target.id !== limit.id) {
    throw callerError('AUTH_INSUFFICIENT_PRIVILEGES', {
      detail: 'This token is limited to one target, and the target of this call is another one, or none.',
      hint: 'Send the target_type and target_id that the token was issued for, or get a token for this target.',
    });
  }
}
