import { DEFAULT_NAMESPACE } from '../../contract/call/namespace.js';
import { FollowedState } from '../../storage/database/followed-state.js';

/** A namespace that exists. */
export interface KnownNamespace {
  readonly name: string;
  readonly displayName: string;
}

const DEFAULT: KnownNamespace = { name: DEFAULT_NAMESPACE.name, displayName: DEFAULT_NAMESPACE.name };

/**
 * The namespaces that exist, in memory, read in any order: callers of others are refused, and those of deleted ones end
 * after a change. Until it is loaded or restored, only `default` is known, which need not be among those that are read.
 */
export class NamespaceRegistry extends FollowedState<readonly KnownNamespace[]> {
  #known: ReadonlyMap<string, KnownNamespace> = new Map([[DEFAULT.name, DEFAULT]]);

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

  /** What `restore` takes, for example from the last known good file. */
  state(): readonly KnownNamespace[] {
    return [...this.#known.values()];
  }

  protected override take(namespaces: readonly KnownNamespace[]): void {
    const all = [DEFAULT, ...namespaces.filter(({ name }) => name !== DEFAULT.name)];
    all.sort((left, right) => (left.name < right.name ? -1 : 1));
    this.#known = new Map(all.map((one) => [one.name, one]));
  }
}
