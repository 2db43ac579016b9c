/** A built release of the service on one database, port and folder. */
export interface Release {
  readonly url: string;
  /** Starts it; fulfilled when it is ready. Rejects with its output if it ends. */
  start(): Promise<{ kill(): Promise<void>; stop(): Promise<void> }>;
  /** Runs a command of it. Returns what it writes; rejects with the problem if it fails. */
  command(...words: readonly string[]): Promise<string>;
}

/** A database that can be copied, destroyed and restored. */
export interface Store {
  /** Which database, and how it is copied. */
  readonly name: string;
  /** `DATABASE_URL` of the service. */
  readonly url: string;
  /** Copies it while the service writes. Returns the bytes of the copy. */
  backUp(release: Release): Promise<number>;
  /** Leaves nothing but the copy. */
  destroy(): Promise<void>;
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Something acknowledged. */
export type LedgerEntry =
  | { readonly kind: 'agent'; readonly agent: string }
  | { readonly kind: 'control'; readonly id: number; readonly name: string }
  | { readonly kind: 'link'; readonly agent: string; readonly id: number }
  | { readonly kind: 'event'; readonly id: string };

/** Clients that write. */
export interface Load {
  readonly ledger: LedgerEntry[];
  readonly errors: string[];
  seed(): Promise<number>;
  start(): void;
  /** Errors do not count until the next start. */
  mayFail(): void;
  stop(): Promise<void>;
}

/** Clients that go on through the disaster, and what they have received. */
export interface DrillClients {
  readonly evaluations: { answers: number; readonly wrong: string[] };
  readonly controls: { names: string[]; readonly ends: string[] };
  readonly events: { readonly ids: Map<string, number>; streams: number; restorations: number };
  stop(): Promise<void>;
}

export interface DrillOptions {
  /** Path of the main module of the release. */
  readonly main: string;
  /** Opens an empty database; it may put files into the folder. */
  open(folder: string): Promise<Store>;
  /** How much is acknowledged before the backup, after it, and after the restore; 300 when absent. */
  readonly entries?: number;
  /** Changes the restored database before the service starts: for tests of the drill itself. */
  tamper?(store: Store): Promise<void>;
}

export interface DrillReport {
  readonly store: string;
  /** Empty if nothing was lost and everyone went on. */
  readonly problems: readonly string[];
  /** Changes and events by when they were acknowledged. Those after the backup are lost, as far as it lacks them. */
  readonly acknowledged: {
    readonly beforeBackup: number;
    readonly afterBackup: number;
    readonly afterRestore: number;
  };
  readonly evaluations: number;
  readonly backup: { readonly bytes: number; readonly ms: number };
  /** From the destroyed database to a service that is ready. */
  readonly restoreMs: number;
  /** What `after-restore` and `verify-audit` wrote. */
  readonly advanced: string;
  readonly verified: string;
}

export function runDrill(options: DrillOptions): Promise<DrillReport>;
