import { hash } from 'node:crypto';
import { BoundedMap } from '../../contract/runtime/bounded-map.js';
import type { PartStore } from '../../kernel/core/evaluator-part.js';
import type { SizedPart } from '../../kernel/core/types.js';

export interface WeakStoreOptions {
  /** Parts kept without other references: the most recently used ones. */
  readonly keep: number;
  /** Most memory of those, in bytes. */
  readonly keepBytes: number;
}

/**
 * Finds parts by content while they are referenced, so that equal ones are not compiled again. Retains some
 * of the most recently used itself, for programs that are dropped and come back. Content is identified by its
 * SHA-256, so the keys, which may be long, are not kept.
 */
export class WeakStore<T extends SizedPart> implements PartStore<T> {
  readonly #known = new Map<string, WeakRef<T>>();
  readonly #kept: BoundedMap<string, T>;
  readonly #keepBytes: number;
  readonly #gone = new FinalizationRegistry<string>((digest) => {
    if (this.#known.get(digest)?.deref() === undefined) this.#known.delete(digest);
  });

  constructor({ keep, keepBytes }: WeakStoreOptions) {
    this.#kept = new BoundedMap({ entries: keep, weight: keepBytes, weightOf: ({ sizeBytes }) => sizeBytes });
    this.#keepBytes = keepBytes;
  }

  /** Number of known parts, possibly including collected ones. */
  get size(): number {
    return this.#known.size;
  }

  /** Number of retained parts. */
  get kept(): number {
    return this.#kept.size;
  }

  get(key: string): T | undefined {
    const digest = digestOf(key);
    const part = this.#known.get(digest)?.deref();
    if (part !== undefined) this.#keep(digest, part);
    return part;
  }

  set(key: string, part: T): void {
    const digest = digestOf(key);
    this.#known.set(digest, new WeakRef(part));
    this.#gone.register(part, digest);
    this.#keep(digest, part);
  }

  /** Keeps a part as the one that was used last. */
  #keep(digest: string, part: T): void {
    this.#kept.delete(digest);
    this.#kept.set(digest, part);
    if (part.sizeBytes > this.#keepBytes) this.#kept.delete(digest);
  }
}

function digestOf(key: string): string {
  return hash('sha256', key, 'base64');
}
