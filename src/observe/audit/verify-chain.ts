import {
  type ChainPlace,
  type ChainProblem,
  chainProblem,
  missingEntries,
  problemAt,
} from '../../storage/database/audit-chain.js';
import type { AuditStore, ChainState } from './audit-store.js';

/** Most entries verified in one part. */
const MAX_VERIFIED = 10_000;

/** A verified part of the chain. */
export interface VerifiedPart extends Pick<ChainState, 'anchor' | 'head'> {
  readonly verified: number;
  /** Those of the verified entries that were to be counted. */
  readonly counted: number;
  readonly problem: ChainProblem | null;
  /** Revisions without an entry: changes by processes of an earlier release. */
  readonly unrecordedRevisions: number;
  /** The last verified entry, or the place before the part. */
  readonly last: ChainPlace;
  /** Whether entries follow. */
  readonly hasMore: boolean;
}

export interface VerifyOptions {
  /** Called with each verified entry. */
  readonly onVerified?: (place: ChainPlace) => void;
  /** Name of the namespace whose entries are counted in `counted`; absent for all. */
  readonly counted?: string;
  /** Most entries. */
  readonly max?: number;
}

/**
 * Verifies entries after a position, or from the anchor of the chain, oldest first: up to a limit, or the first
 * problem. Changes may go on meanwhile; entries that they add are not verified.
 */
export async function verifyPart(
  store: AuditStore,
  afterPosition: number | undefined,
  options: VerifyOptions = {},
): Promise<VerifiedPart> {
  const { onVerified, max = MAX_VERIFIED } = options;
  const chain = await store.chain();
  const { anchor, head } = chain;
  const isBeginning = afterPosition === undefined || afterPosition <= anchor.position;
  const start = isBeginning
    ? { place: anchor, problem: beforeAnchor(chain) ?? (await unrecordedAnchor(store, anchor)) }
    : await startAt(store, afterPosition);
  let { place: last, problem } = start;
  let verified = 0;
  let counted = 0;
  let unrecorded = 0;
  let revision = isBeginning ? null : await store.revisionAt(last.position);
  const filter = { afterPosition: last.position, beforePosition: head.position + 1 };
  if (problem === null) {
    parts: for await (const entries of store.walk(filter)) {
      for (const entry of entries) {
        problem = chainProblem(last, entry);
        if (problem !== null || verified === max) break parts;
        if (entry.revision !== null) {
          // The revision is advanced at a restore, past those that callers know; its entry says so.
          const isJump = entry.action === 'database.advance_revision';
          if (revision !== null && !isJump) unrecorded += Math.max(0, entry.revision - revision - 1);
          revision = entry.revision;
        }
        verified += 1;
        if (options.counted === undefined || entry.namespace === options.counted) counted += 1;
        last = { position: entry.position, hash: entry.hash };
        onVerified?.(last);
      }
    }
  }
  const hasMore = problem === null && verified === max && last.position < head.position;
  if (problem === null && !hasMore) {
    problem = endProblem(chain, last);
    if (revision !== null) unrecorded += Math.max(0, chain.revision - revision);
  }
  // Entries may have been pruned while they were verified.
  if (problem !== null && (await store.chain()).anchor.position > last.position) {
    return verifyPart(store, undefined, options);
  }
  return { anchor, head, verified, counted, problem, unrecordedRevisions: unrecorded, last, hasMore };
}

/** Entries up to the anchor are deleted together with moving it. */
function beforeAnchor({ anchor, first }: ChainState): ChainProblem | null {
  if (first === null || first > anchor.position) return null;
  return problemAt(first, 'was inserted where entries were pruned');
}

/** Each deletion of entries adds one that names the new anchor. */
async function unrecordedAnchor(store: AuditStore, anchor: ChainPlace): Promise<ChainProblem | null> {
  if (anchor.position === 0) return null;
  const recorded = await store.recordedAnchor();
  if (recorded?.position === anchor.position && recorded.hash === anchor.hash) return null;
  return problemAt(anchor.position, 'and those before were deleted without an entry about it');
}

/** The place of an entry in the middle, which is verified by itself. */
async function startAt(
  store: AuditStore,
  position: number,
): Promise<{ place: ChainPlace; problem: ChainProblem | null }> {
  const filter = { afterPosition: position - 1, beforePosition: position + 1 };
  for await (const [entry] of store.walk(filter)) {
    if (entry === undefined) break;
    const before = { position: position - 1, hash: entry.previousHash };
    return { place: { position, hash: entry.hash }, problem: chainProblem(before, entry) };
  }
  return { place: { position, hash: '' }, problem: missingEntries(position, position) };
}

/** What is wrong with the end of a chain that is intact up to `last`. */
function endProblem({ head, last: stored }: ChainState, last: ChainPlace): ChainProblem | null {
  if (last.position < head.position) {
    return missingEntries(last.position + 1, head.position);
  }
  if (stored !== null && stored > head.position) return problemAt(head.position + 1, 'was inserted');
  if (last.position === head.position && last.hash === head.hash) return null;
  return problemAt(last.position, 'is not the last entry that the service wrote');
}
