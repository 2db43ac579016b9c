import { setImmediate as nextTurn } from 'node:timers/promises';
import { timeLimited } from '../../contract/call/time-limited.js';

export interface BatchesOptions<Key, Value> {
  /** Loads the values of distinct keys, in their order. */
  readonly load: (keys: readonly Key[]) => readonly Promise<Value>[];
  /** Most keys of a batch, or the largest sum of their weights; a single key may weigh more. */
  readonly maxSize: number;
  /** How much work a key is; 1 by default. */
  readonly weightOf?: (key: Key) => number;
}

interface Requested<Value> {
  readonly value: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

/** Most batches that are loaded at the same time. */
const MAX_AT_ONCE = 2;
/** A batch that takes longer than this, in milliseconds, does not count: others must not wait for it. */
const SLOW_MS = 50;

/**
 * Creates the function that loads one value. Values that are requested in the same turn of the event loop, or while
 * other batches are loaded, are loaded together. Loading always begins after the request.
 */
export function createBatches<Key, Value>(options: BatchesOptions<Key, Value>): (key: Key) => Promise<Value> {
  const { load, maxSize, weightOf = () => 1 } = options;
  const waiting = new Map<Key, Requested<Value>>();
  let running = 0;

  function take(): [Key, Requested<Value>][] {
    const batch: [Key, Requested<Value>][] = [];
    let size = 0;
    for (const entry of waiting) {
      size += weightOf(entry[0]);
      if (batch.length > 0 && size > maxSize) break;
      waiting.delete(entry[0]);
      batch.push(entry);
    }
    return batch;
  }

  /** Resolves when the values of a batch are there, or it turns out to be slow. */
  async function loadBatch(batch: readonly [Key, Requested<Value>][]): Promise<void> {
    const values = load(batch.map(([key]) => key));
    for (const [index, [, { resolve, reject }]] of batch.entries()) {
      const value = values[index] ?? Promise.reject(new Error('a batch lacks a value'));
      value.then(resolve, reject);
    }
    await timeLimited(Promise.allSettled(values), SLOW_MS, () => {});
  }

  async function run(): Promise<void> {
    running += 1;
    while (waiting.size > 0) {
      await nextTurn();
      const batch = take();
      if (batch.length > 0) await loadBatch(batch);
    }
    running -= 1;
  }

  return (key) => {
    const known = waiting.get(key);
    if (known !== undefined) return known.value;
    const requested = withResolvers<Value>();
    waiting.set(key, requested);
    if (running < MAX_AT_ONCE) void run();
    return requested.value;
  };
}

function withResolvers<Value>(): Requested<Value> {
  let resolve!: (value: Value) => void;
  let reject!: (error: unknown) => void;
  const value = new Promise<Value>((resolveIt, rejectIt) => {
    resolve = resolveIt;
    reject = rejectIt;
  });
  return { value, resolve, reject };
}
