import type { MemoryAddition, MemoryKey, MemoryPlan, MemoryView } from '../../kernel/core/memory.js';
import type { Cell, CellName } from './cell.js';
import type { MemoryIds } from './keyed-hash.js';

/** How often a step is decided because other processes were faster, before it is decided without the store. */
export const MAX_ATTEMPTS = 64;

/** What a decision comes to. */
export interface JobDecision {
  readonly value: unknown;
  readonly allowed: boolean;
  readonly additions: readonly MemoryAddition[];
  /** Rules to be forgotten under the first key, before the additions; empty for everything. */
  readonly resets?: readonly string[];
  /** Nothing was decided: not even that the step was denied is kept. */
  readonly isVoid?: boolean;
}

/** A plan, or something else that is decided as plans are. `cells` are those of the keys, in their order. */
export interface Job extends Omit<MemoryPlan<unknown>, 'decide'> {
  decide(view: MemoryView, cells: readonly Cell[]): JobDecision;
  /** The ids of the cells of the keys, for a job that has no parts of keys. */
  readonly cellIds?: readonly string[];
  /** Whether it is decided without the store, because others were faster too often. */
  readonly isLocal?: boolean;
}

/** An attempt of which it is not known whether the store has it: the numbers of its entries by cell. */
export interface SentAttempt {
  readonly value: unknown;
  readonly entries: ReadonlyMap<string, number>;
}

/** A job that waits for its decision. */
export interface WaitingJob {
  readonly job: Job;
  readonly signal: AbortSignal | undefined;
  /** By the monotonic clock, in microseconds. */
  readonly deadlineUs: number;
  attempts: number;
  readonly unknown: SentAttempt[];
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

const SHARDS = 4;

/** The cells of a job: one for each key, in their order, and last that of the marks of denied steps if it has one. */
export function cellsOf(job: Job, ids: MemoryIds, stepHash: string | null): CellName[] {
  const { keys, cellIds } = job;
  const { namespace, agent } = job.identity;
  const named = (key: MemoryKey, id = ids.cellOf(namespace, key)) => ({
    id,
    namespace,
    label: key.label,
    agent,
  });
  const cells = keys.map((key, index) => named(key, cellIds?.[index]));
  if (hasMarks(job, stepHash)) cells.push(named(marksKey(job, stepHash)));
  return cells;
}

export function hasMarks({ marksDenied }: Job, stepHash: string | null): stepHash is string {
  return marksDenied && stepHash !== null;
}

/** Marks of a session are spread over several cells, so that steps do not wait for each other because of them. */
function marksKey({ identity }: Job, stepHash: string): MemoryKey {
  const { agent, sessionId } = identity;
  const shard = Buffer.from(stepHash, 'latin1').reduce((sum, byte) => (sum * 31 + byte) % SHARDS, 0);
  return {
    parts: ['steps', agent, sessionId ?? '', sessionId === null ? '-' : '+', String(shard)],
    label: sessionId === null ? `denied steps of ${agent}` : `denied steps of ${agent}, session ${sessionId}`,
  };
}
