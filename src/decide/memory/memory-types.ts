import type {
  MemoryAddition,
  MemoryKey,
  MemoryPlan,
  RuleState,
  StepMemory,
} from '../../kernel/core/memory.js';

/** What a step is to be decided by, for a thread without a store. */
export interface ForeignRequest extends Omit<MemoryPlan<unknown>, 'decide'> {
  /** Whether it is decided without the store, because others were faster too often. */
  readonly isLocal?: boolean;
}

/** What is kept for the keys of a step, as plain JSON that a thread can be sent. `viewOf` makes a view of it. */
export interface ForeignView {
  readonly source: 'store' | 'local';
  readonly nowUs: number;
  readonly stepHash: string | null;
  readonly wasDenied: boolean;
  /** By key, in the order of the request. */
  readonly cells: readonly {
    readonly states: Readonly<Record<string, RuleState>>;
    readonly isRepeated: boolean;
    readonly isReused: boolean;
    readonly isDamaged: boolean;
    readonly isFull: boolean;
  }[];
  readonly sinceUs: Readonly<Record<string, number | null>>;
}

/** Memory for steps that another thread decides: it is sent what is kept, and its additions apply if nothing came between. */
export interface ForeignMemory {
  /** Key of the hashes, for `keyedHash`. As `StepMemory.ready`. */
  hashKey(): Promise<Uint8Array>;
  /** The token is for one `commit`, within a minute. */
  load(request: ForeignRequest): Promise<{ readonly view: ForeignView; readonly token: number }>;
  /**
   * `conflict`: other steps were counted under a key meanwhile, and nothing was added: load and decide again. Rejects with
   * a `MemoryStoreError` if the store does not answer, and for an unknown token. A view of the source `local` never conflicts.
   */
  commit(
    token: number,
    additions: readonly MemoryAddition[],
    allowed: boolean,
  ): Promise<'committed' | 'conflict'>;
}

/** What is kept for a key. */
export interface KeptKey {
  /** Id of the cell, opaque. */
  readonly id: string;
  readonly label: string;
  /** When a step last counted, in microseconds since 1970; null if that is not known. */
  readonly usedAtUs: number | null;
  /** By the clock of the memory. */
  readonly nowUs: number;
  readonly rules: readonly KeptRule[];
  /** What is kept cannot be read; there are no rules then. */
  readonly isDamaged: boolean;
}

export interface KeptRule {
  readonly ruleId: string;
  readonly state: RuleState;
  /** Used share of its limit, 0 to 1. */
  readonly used: number;
}

/** What a namespace keeps, and whether the store answers. */
export interface MemoryStatus {
  /** Null before it was opened. */
  readonly store: 'sqlite' | 'postgresql' | 'redis' | 'process' | null;
  readonly isUsed: boolean;
  readonly isAvailable: boolean;
  readonly problem: string | null;
  /** As of the last sweep of this process. */
  readonly cells: number;
  readonly bytes: number;
  /** Keys that versions before this one forgot before their time. */
  readonly evicted: number;
}

/** For administrators. Everything rejects with a `MemoryStoreError` while the store does not answer. */
export interface MemoryAdministration {
  /** A key, or the id of its cell. Null if nothing is kept. */
  readKey(namespace: string, key: MemoryKey | string): Promise<KeptKey | null>;
  /**
   * Forgets the states of rules under a key, of all rules for null, and cures damage. Returns whether anything was kept.
   * Concurrent steps are counted before or after.
   */
  resetKey(namespace: string, key: MemoryKey | string, ruleIds: readonly string[] | null): Promise<boolean>;
  /** Keys with a used share of a limit of at least `minUsed`, the most used first. */
  mostUsed(namespace: string, minUsed: number, limit: number): Promise<readonly KeptKey[]>;
  status(namespace: string): MemoryStatus;
  /** Removes everything that a namespace keeps. Opens the store if it is not open. */
  removeNamespace(namespace: string): Promise<void>;
}

/** Memory of steps in a store. */
export interface Memory extends StepMemory, MemoryAdministration {
  readonly foreign: ForeignMemory;
  /** Lets plans under way finish, and closes the store. Later plans are decided by this process alone. */
  close(): Promise<void>;
}
