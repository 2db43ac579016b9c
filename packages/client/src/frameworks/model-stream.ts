import type { ModelCall, ModelCalls, ModelOutput } from './model-calls.js';
import { PartQueue } from './part-queue.js';

/**
 * What becomes of a part of a stream. `text`: its text goes through windows. `start`, `end`: it stays before, or after, the text
 * around it. `held`: it waits until the whole answer is checked. `passed`: it has nothing that is checked. `dropped`: it would
 * show unchecked text.
 */
export type PartKind = 'text' | 'start' | 'end' | 'held' | 'passed' | 'dropped';

/** How a framework streams an answer. */
export interface StreamShape<Part> {
  kind(part: Part): PartKind;
  /** The text of a part of kind `text`, and a key of what it belongs to. */
  text(part: Part): { readonly text: string; readonly key: string };
  /** A part with text that is released. `like` is the one with which it arrived. */
  released(text: string, like: Part): Part;
  /** The whole answer. */
  output(parts: readonly Part[], text: string): ModelOutput;
  /** The held parts, once the text is known that was released, and whether it is another than what arrived. */
  ending(held: readonly Part[], text: string, isChanged: boolean): readonly Part[];
  /** The parts that end a stream whose text is refused. `bounds` are the parts `start` and `end` that were released. */
  refusal(text: string, released: string, bounds: readonly Part[]): readonly Part[];
}

/**
 * The answer of a model with its text checked in windows, and as a whole before the stream ends: nothing unchecked is released.
 * A stream that is refused ends with a refusal, and its source is closed.
 */
export function checkedStream<Part>(
  source: AsyncIterable<Part>,
  calls: ModelCalls,
  call: ModelCall,
  shape: StreamShape<Part>,
): AsyncIterableIterator<Part, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  const parts: Part[] = [];
  const ready = new PartQueue<Part>();
  const ends: Part[] = [];
  const held: Part[] = [];
  const bounds: Part[] = [];
  let arrived = '';
  let like: Part | undefined;
  let key: string | undefined;
  const progress: { state: 'reading' | 'ended' | 'left' } = { state: 'reading' };
  let isSettled = false;
  let failure: { readonly error: unknown } | undefined;
  const { stopped, stop } = createStop();

  const windows = call.windows({
    release: (text) => {
      if (like !== undefined) ready.put(shape.released(text, like));
    },
    onFailed: (error) => stop(error),
  });

  async function between(): Promise<void> {
    await windows.flush();
    bounds.push(...ends);
    ready.put(...ends.splice(0));
  }

  async function take(part: Part): Promise<void> {
    const kind = shape.kind(part);
    if (kind === 'dropped') return;
    parts.push(part);
    if (kind === 'passed') return ready.put(part);
    if (kind === 'end') return void ends.push(part);
    if (kind === 'held') return void held.push(part);
    if (kind === 'start') {
      await between();
      bounds.push(part);
      return ready.put(part);
    }
    const { text, key: next } = shape.text(part);
    if (key !== undefined && next !== key) await between();
    key = next;
    like = part;
    arrived += text;
    await windows.push(text);
  }

  async function read(): Promise<void> {
    try {
      for (;;) {
        const next = await Promise.race([iterator.next(), stopped]);
        // The source ends as it is no longer read, which the race may miss.
        if (progress.state !== 'reading') await stopped;
        if (next.done === true) break;
        await take(next.value);
        while (ready.isFull && progress.state === 'reading') await ready.room();
      }
      await windows.end((text) => {
        isSettled = true;
        return call.end(shape.output(parts, text));
      });
      ready.put(...ends, ...shape.ending(held, windows.released, windows.released !== arrived));
    } catch (error) {
      windows.cancel();
      // The end of what is denied as a whole is known to the service already.
      if (!isSettled) void call.fail(error);
      isSettled = true;
      refuse(error);
    }
    if (progress.state === 'reading') progress.state = 'ended';
    ready.wake();
  }

  function refuse(error: unknown): void {
    try {
      const text = calls.refusalText(error);
      ready.put(...shape.refusal(text, windows.released, bounds));
    } catch (thrown) {
      failure = { error: thrown };
    }
  }

  /** Ends the reading of a consumer that leaves, also one that waits for the next part. */
  function leave(): void {
    windows.cancel();
    // A source that waits for its next part ends with it, whenever that is.
    void Promise.resolve(iterator.return?.()).catch(() => {});
    if (progress.state !== 'reading') return;
    progress.state = 'left';
    stop(new Error('the stream is no longer read'));
    ready.drained();
    ready.wake();
  }

  async function* drain(): AsyncGenerator<Part, void, undefined> {
    const reading = read();
    try {
      for (;;) {
        for (let part = ready.take(); part !== undefined; part = ready.take()) yield part;
        if (failure !== undefined && progress.state !== 'left') throw failure.error;
        if (progress.state !== 'reading' && ready.isEmpty) return;
        await ready.more(() => progress.state !== 'reading');
      }
    } finally {
      leave();
      await reading;
    }
  }

  const shown = drain();
  return {
    next: () => shown.next(),
    return() {
      leave();
      return shown.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** A promise that rejects when `stop` is called. */
function createStop() {
  let stop = (_error: unknown): void => {};
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = reject;
  });
  stopped.catch(() => {});
  return { stopped, stop };
}
