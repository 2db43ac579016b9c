import { DEFAULT_NAMESPACE } from '../../contract/call/namespace.js';
import type { RecordedChange } from '../../storage/database/change-log.js';

/** A namespace that exists. */
export interface KnownNamespace {
  readonly name: string;
  readonly displayName: string;
}

export interface NamespaceRegistryOptions {
  /** Reads all namespaces that exist, in any order; `default` need not be among them. */
  readonly read: () => Promise<readonly KnownNamespace[]>;
  /** Receives failures to read. They are repeated while the database does not answer. */
  readonly onFailure: (error: unknown) => void;
}

const DEFAULT: KnownNamespace = { name: DEFAULT_NAMESPACE.name, displayName: DEFAULT_NAMESPACE.name };

/**
 * The namespaces that exist, in memory: callers of others are refused. Follows the changes of all processes. Until it is
 * loaded or restored, only `default` is known.
 */
export class NamespaceRegistry {
  readonly #options: NamespaceRegistryOptions;
  readonly #listeners = new Set<() => void>();
  #known: ReadonlyMap<string, KnownNamespace> = new Map([[DEFAULT.name, DEFAULT]]);
  /** Whether something may have changed since the last reading began. */
  #isStale = false;
  #reading: Promise<void> | null = null;

  constructor(options: NamespaceRegistryOptions) {
    this.#options = options;
  }

  /** Whether a namespace exists. */
  known(name: string): boolean {
    return this.#known.has(name);
  }

  /** The name as it is shown; the name itself for a namespace that does not exist. */
  displayName(name: string): string {
    return this.#known.get(name)?.displayName ?? name;
  }

  /** The names of all namespaces, in ascending order. */
  names(): readonly string[] {
    return [...this.#known.keys()];
  }

  /** Number of all namespaces. */
  get size(): number {
    return this.#known.size;
  }

  /** Calls back after every change of what is known: callers of deleted namespaces have to end. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** What `restore` takes, for example from the last known good file. */
  state(): readonly KnownNamespace[] {
    return [...this.#known.values()];
  }

  /** Knows these namespaces, and `default`, until the database is read. */
  restore(state: readonly KnownNamespace[]): void {
    this.#take(state);
  }

  /** Reads the database, with a reading that begins after this call. Rejects with a `ServiceError` if it cannot be read. */
  load(): Promise<void> {
    this.#isStale = true;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Receives committed changes. */
  changed(changes: readonly RecordedChange[]): void {
    if (changes.some(({ access }) => access)) this.#loadSoon();
  }

  /** The database was replaced by an earlier state. */
  startOver(): void {
    this.#loadSoon();
  }

  /** The database answers: what could not be read is read now. */
  catchUp(): void {
    if (this.#isStale && this.#reading === null) this.#loadSoon();
  }

  #loadSoon(): void {
    this.load().catch(this.#options.onFailure);
  }

  async #read(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false;
      try {
        this.#take(await this.#options.read());
      } catch (error) {
        this.#isStale = true;
        throw error;
      }
    }
  }

  #take(namespaces: readonly KnownNamespace[]): void {
    const all = [DEFAULT, ...namespaces.filter(({ name }) => name !== DEFAULT.name)];
    all.sort((left, right) => (left.name < right.name ? -1 : 1));
    this.#known = new Map(all.map((one) => [one.name, one]));
    for (const listener of this.#listeners) listener();
  }
}
