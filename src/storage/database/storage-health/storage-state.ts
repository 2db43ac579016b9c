import { ServiceError } from '../../../contract/errors/service-error.js';

/**
 * States of the storage:
 * - `OK`: writes are kept.
 * - `NOSPACE`: the disk, or a quota, is full.
 * - `READONLY`: the database can be read and not written.
 * - `REPLACED`: the address no longer leads to what was opened: a restart would not find what is written.
 * - `CORRUPT`: a part of the database is damaged.
 * - `DOWN`: the database does not answer.
 */
export const STORAGE_STATES = ['OK', 'NOSPACE', 'READONLY', 'REPLACED', 'CORRUPT', 'DOWN'] as const;
export type StorageState = (typeof STORAGE_STATES)[number];

/** A state in which nothing can be stored. */
export type StorageProblem = Exclude<StorageState, 'OK'>;

/** States in which writes are rejected in advance: they might succeed, and be lost. */
export const REFUSING: ReadonlySet<StorageState> = new Set<StorageState>(['REPLACED', 'CORRUPT']);

interface Description {
  readonly meaning: string;
  readonly advice: string;
}

const DESCRIPTIONS: Readonly<Record<StorageProblem, Description>> = {
  NOSPACE: {
    meaning: 'The disk of the database is full.',
    advice: 'Free space or enlarge the disk; storing goes on by itself.',
  },
  READONLY: {
    meaning: 'The database cannot be written: it is read-only.',
    advice:
      'Make it writable (permissions, mount options, a primary instead of a standby); storing goes on by itself.',
  },
  REPLACED: {
    meaning: 'The database is not the one that was opened any more, so what is stored now would be lost.',
    advice:
      'Put the original back, and storing goes on by itself; or restart the service to use what is there.',
  },
  CORRUPT: {
    meaning: 'The database is damaged.',
    advice: 'Stop the service, restore a backup, run the command after-restore, and start it.',
  },
  DOWN: {
    meaning: 'The database cannot be reached or is too busy to answer.',
    advice:
      'Check the database server or the disk; loaded agents are still evaluated, and storing goes on by itself.',
  },
};

/** Meaning of a state, in one sentence; `particular` adds details of the case. */
export function meaningOf(state: StorageProblem, particular?: string): string {
  const { meaning } = DESCRIPTIONS[state];
  return particular === undefined ? meaning : `${meaning.slice(0, -1)} (${particular}).`;
}

/** Remedy for a state, in one sentence. */
export function adviceOn(state: StorageProblem): string {
  return DESCRIPTIONS[state].advice;
}

/** Seconds after which a caller may retry. */
const RETRY_AFTER_SECONDS = 1;

export interface StorageErrorOptions {
  /** Details of the case beyond the state; visible to callers, so it contains no paths and no addresses. */
  readonly particular?: string | undefined;
  readonly cause?: unknown;
  /**
   * By default SERVICE_UNAVAILABLE: a retry may succeed. DATABASE_ERROR for problems that do not pass on
   * their own, at a start.
   */
  readonly code?: 'SERVICE_UNAVAILABLE' | 'DATABASE_ERROR';
  /** Replaces the sentence about the state. */
  readonly detail?: string;
}

/** A read or write failed because of the state of the storage, given by `state`. */
export class StorageError extends ServiceError {
  readonly state: StorageProblem;
  readonly particular: string | undefined;

  constructor(state: StorageProblem, options: StorageErrorOptions = {}) {
    const { particular, cause, code = 'SERVICE_UNAVAILABLE', detail } = options;
    super(code, {
      detail: detail ?? meaningOf(state, particular),
      hint: state === 'DOWN' ? 'Try again shortly.' : adviceOn(state),
      facts: { storage: state },
      ...(code === 'SERVICE_UNAVAILABLE' ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : {}),
      ...(cause === undefined ? {} : { cause }),
    });
    this.state = state;
    this.particular = particular;
  }
}

/** Description of a storage problem. */
export interface StorageReport {
  readonly state: StorageProblem;
  readonly meaning: string;
  readonly advice: string;
}

/** Whether writes are kept, as seen by other parts. */
export interface StorageHealth {
  readonly state: StorageState;
  /** Null while the state is OK. */
  readonly report: StorageReport | null;
  /** Number of times each state was entered. */
  readonly transitions: ReadonlyMap<StorageState, number>;
  /** Calls `listener` after each change of the state. */
  onChange(listener: (state: StorageState) => void): void;
  /** Starts checking the storage at every interval. */
  watch(): void;
  /** Reports that the database did not answer a periodic query. */
  unreachable(error: unknown): void;
  /** Reports that the database answers again. */
  reachable(): void;
}
