import { hostname, userInfo } from 'node:os';
import { DEFAULT_NAMESPACE } from '../../contract/call/namespace.js';
import { createAuditStore } from '../../observe/audit/audit-store.js';
import { verifyPart } from '../../observe/audit/verify-chain.js';
import { CHAIN_START, type ChainPlace } from '../../storage/database/audit-chain.js';
import type { AuditOrigin } from '../../storage/database/audit-log.js';
import type { Database } from '../../storage/database/database.js';

export const VERIFY_AUDIT_FAILURE = 'The audit log is not verified';

/** A place as printed and logged. */
const PLACE = /^([0-9]{1,15}):([0-9a-f]{64})$/;

/** The origin of a change by a command: the user of the operating system and the host. */
export function originOfCommand(timeMs: number): AuditOrigin {
  const actor = { kind: 'command', name: userName(), keyFingerprint: null } as const;
  return { actor, address: hostname(), requestId: null, namespace: DEFAULT_NAMESPACE.name, timeMs };
}

/** A user of a container may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/**
 * Verifies the whole audit log, and that the entries at the places of `words` have these hashes. Resolves with a
 * message for people; rejects with the first broken entry.
 */
export function verifyAudit(words: readonly string[]): (database: Database) => Promise<string> {
  return async (database) => {
    const known = new Map(words.map(placeOf).map(({ position, hash }) => [position, hash]));
    const store = createAuditStore(database.bulk);
    const missing = new Set(known.keys());
    const compare = ({ position, hash }: ChainPlace): void => {
      if (!missing.delete(position) || known.get(position) === hash) return;
      throw new Error(`entry ${position} has the hash ${hash}: it is another one than that given`);
    };
    let verified = 0;
    let unrecorded = 0;
    let after: number | undefined;
    for (;;) {
      const part = await verifyPart(store, after, { onVerified: compare });
      const { anchor, head, problem } = part;
      if (problem !== null) throw new Error(problem.message);
      verified += part.verified;
      unrecorded += part.unrecordedRevisions;
      if (part.hasMore) {
        after = part.last.position;
        continue;
      }
      compare(anchor);
      const [absent] = missing;
      if (absent !== undefined) throw new Error(`entry ${absent} ${absentBecause(absent, anchor)}`);
      const old = unrecorded === 0 ? '' : ` ${unrecorded} revisions of an earlier release have no entry.`;
      return `The audit log is intact: ${verified} entries after ${printed(anchor)}.${old} The last entry is ${printed(head)}`;
    }
  };
}

function absentBecause(position: number, anchor: ChainPlace): string {
  return position < anchor.position ? 'was pruned, so its hash cannot be compared' : 'does not exist';
}

function placeOf(word: string): ChainPlace {
  const [, position = '', hash = ''] = PLACE.exec(word) ?? [];
  if (hash === '') throw new Error(`give an entry as POSITION:HASH, for example 42:${'0a1b'.repeat(16)}`);
  return { position: Number(position), hash };
}

function printed({ position, hash }: ChainPlace): string {
  return position === CHAIN_START.position ? 'the beginning' : `${position}:${hash}`;
}
