/** Longest time without a process that has a rule, after which its record begins anew, in microseconds. */
export const RULE_GAP_US = 300_000_000;

/** A cell that an exchange reads or adds to. */
export interface CellRequest {
  /** See `MemoryCell` in prisma/models/memory.prisma. */
  readonly id: string;
  readonly namespace: string;
  readonly label: string;
  /** The agent that begins it, if it does not exist; without blanks and control characters. */
  readonly agent: string;
  /** Number of its entries that the process knows; 0 if it knows that there is none, -1 if it knows nothing of it. */
  readonly known: number;
  /** `CellNews.generation` of what it knows; 0 without entries. Another one than that of the store: the store knows better. */
  readonly generation: number;
}

/** An entry to be appended to a cell. */
export interface EntryAddition {
  /** Index of the cell in the request. */
  readonly cell: number;
  /** JSON text. */
  readonly entry: string;
  /** In microseconds since 1970, by the clock of the memory; greater than that of every entry of the cell. */
  readonly atUs: number;
  /** When nothing of the cell matters any more after this entry, in microseconds since 1970. Stores round it up. */
  readonly expiresAtUs: number;
  /** Largest used share of a limit in the cell after the entry, 0 to 1. */
  readonly used: number;
  /** The state after the entry as JSON text, if it is to be kept as a checkpoint. */
  readonly checkpoint: string | null;
}

/**
 * What belongs to one step. It is applied as a whole if no other process has appended to one of its cells since the state the
 * process knows, and if everything earlier in the exchange that touches one of them was applied. Without additions it
 * is a question: it is applied if the cells are as known. The cells of a group that is not applied are closed to the groups
 * after it.
 */
export interface ExchangeGroup {
  /** Indices of all cells that the step was decided by. */
  readonly cells: readonly number[];
  readonly additions: readonly EntryAddition[];
}

/**
 * A rule that a process has, for the age of its record. A process names it with the first exchange that needs it and every
 * minute from then on. Its record begins now, by the clock of the memory, if the store does not know it or it was not named for
 * more than `RULE_GAP_US`; in between steps could have passed unrecorded. Naming it renews `seen_at_us`.
 */
export interface RuleSeen {
  readonly namespace: string;
  readonly rule: string;
}

export interface ExchangeRequest {
  /**
   * `StoreClock.epoch` of what the process knows; null if it knows nothing. If it is another one than that of the store, every
   * cell counts as unknown: no group is applied, and there are news of all cells.
   */
  readonly epoch: string | null;
  /** Each cell once. */
  readonly cells: readonly CellRequest[];
  /** In order. */
  readonly groups: readonly ExchangeGroup[];
  /** Rules that become known, or are still in use. */
  readonly rules: readonly RuleSeen[];
}

/** What a process does not know of a cell. */
export interface CellNews {
  /** Index in the request. */
  readonly cell: number;
  /** Number of entries at the beginning of the exchange; 0 for a cell that does not exist. */
  readonly version: number;
  /**
   * Tells a cell from earlier ones with the same id, which a sweep has removed, and whose versions say nothing of this one:
   * the time of its first entry, in microseconds since 1970. A repair adds 1. 0 for a cell that does not exist.
   */
  readonly generation: number;
  /**
   * The checkpoint to begin with and the number of entries that it contains; null if the entries follow those that the process
   * knows (only if it knows some of this generation), or begin with the first.
   */
  readonly checkpoint: { readonly text: string; readonly version: number } | null;
  /** JSON texts, in order, up to `version`. */
  readonly entries: readonly string[];
}

/** The clock of the memory: that of the store and an offset, which changes when the clock of the store was set. */
export interface StoreClock {
  /** Of the store during the exchange, without the offset, in microseconds since 1970. */
  readonly storeUs: number;
  readonly offsetUs: number;
  /** Number of changes of the offset. */
  readonly version: number;
  /**
   * A random text that changes when the memory is lost or replaced. What follows a dot tells a start of the store from others:
   * what processes know is to be read anew then, but what is kept is the same.
   */
  readonly epoch: string;
}

/** The part of an epoch that stays the same as long as the memory does. */
export function memoryOf(epoch: string): string {
  return epoch.split('.', 1)[0] ?? epoch;
}

export interface ExchangeReply {
  readonly clock: StoreClock;
  /** Of the cells that have more or other entries than the process knew when the exchange began. */
  readonly news: readonly CellNews[];
  /** By group: whether it was applied. */
  readonly applied: readonly boolean[];
  /** By rule: since when it is recorded, in microseconds since 1970. */
  readonly sinceUs: readonly number[];
}

/** A cell as lists show it. */
export interface StoredCell {
  readonly id: string;
  readonly label: string;
  readonly version: number;
  readonly usedAtUs: number;
  readonly checkpoint: { readonly text: string; readonly version: number } | null;
  /** After the checkpoint. */
  readonly entries: readonly string[];
}

/** How much a namespace keeps. */
export interface NamespaceUse {
  readonly namespace: string;
  readonly cells: number;
  readonly bytes: number;
  /** Cells by the agent that began them, if there are `SweepLimits.agentsFrom` of the namespace. */
  readonly agents: ReadonlyMap<string, number>;
  /** Cells that versions before this one forgot before their time. */
  readonly evicted: number;
}

/** What a sweep removes. */
export interface SweepLimits {
  readonly nowUs: number;
  /** Entries before this are removed when a checkpoint contains them. */
  readonly entriesBeforeUs: number;
  /** Beyond them, stores that count entries which checkpoints contain remove these early. */
  readonly maxBytes: number;
  /** Cells of a namespace from which on they are counted by agent. */
  readonly agentsFrom: number;
  /** Rules that no process had since are forgotten. */
  readonly rulesBeforeUs: number;
}

export interface SweepReport {
  readonly expired: number;
  /** In the order of the names of the namespaces. */
  readonly uses: readonly NamespaceUse[];
}

/**
 * Keeps cells: numbered entries, appended by any number of processes, each only if the process knew all entries before it. An
 * entry that was acknowledged is durable. Every method rejects with a `MemoryStoreError` and nothing else; after a rejected
 * exchange it is unknown whether its groups were applied.
 */
export interface MemoryStore {
  readonly kind: 'sqlite' | 'postgresql' | 'redis' | 'process';
  /** Opens the store, and creates what it needs. Returns the key of the hashes, 32 bytes, the same for all processes. */
  open(): Promise<{ readonly hashKey: Uint8Array }>;
  /** One round trip; a whole exchange is one transaction. */
  exchange(request: ExchangeRequest): Promise<ExchangeReply>;
  /** Sets the offset of the clock if its version is still `version`. Returns the clock as it is now. */
  setOffset(offsetUs: number, version: number): Promise<StoreClock>;
  /** Cells of a namespace with a used share of at least `minUsed` after their last entry, the most used first. */
  mostUsed(namespace: string, minUsed: number, limit: number): Promise<readonly StoredCell[]>;
  /** A cell with its state; null if there is none. */
  read(namespace: string, id: string): Promise<StoredCell | null>;
  /** All entries of a cell that are kept, in order, for a repair of its checkpoint. */
  ledger(
    namespace: string,
    id: string,
  ): Promise<{ readonly firstVersion: number; readonly entries: readonly string[] }>;
  /** Replaces the checkpoint of a cell that is damaged, if the cell still has this version. */
  repair(namespace: string, id: string, version: number, checkpoint: string): Promise<boolean>;
  /** Removes what has expired or exceeds the limits. Any process may call it at any time. */
  sweep(limits: SweepLimits): Promise<SweepReport>;
  /** Removes everything of a namespace. */
  removeNamespace(namespace: string): Promise<void>;
  close(): Promise<void>;
}

/** The store did not do what it was asked for. */
export class MemoryStoreError extends Error {
  override readonly name = 'MemoryStoreError';
}
