import { createHash } from 'node:crypto';
import type { ActiveShadow } from './shadow.js';

const RANGE = 2 ** 32;

/**
 * Whether the steps of an agent or session belong to the share of a shadow. It depends on the control and on the name alone: those
 * of a share stay in it in all processes, after a restart, and when the share grows.
 */
export function isInShare(
  { controlId, share, shareBy }: Pick<ActiveShadow, 'controlId' | 'share' | 'shareBy'>,
  agent: string,
  sessionId: string | undefined,
): boolean {
  if (shareBy === 'session' && sessionId === undefined) return false;
  if (share >= 1) return true;
  // Sessions of different agents may have the same id.
  const name = shareBy === 'agent' ? agent : `${agent} ${sessionId}`;
  const hash = createHash('sha256').update(`${controlId} ${name}`).digest();
  return hash.readUInt32BE(0) / RANGE < share;
}
