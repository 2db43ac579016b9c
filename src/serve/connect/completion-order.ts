/**
 * Yields the answers to the items of `source` in the order in which they are ready: immediately if `answer`
 * returns a value, later if it returns a promise. At most `window` answers are pending at a time; beyond that
 * the source is not read, so memory stays bounded and back-pressure reaches the sender. Fails with the reason
 * of `signal` as soon as it is aborted. `answer` may return null, or a promise of it: then there is none.
 * `begun` receives what can happen from outside. While `isFull`, the source is not read either; it must be so
 * only while an answer is pending.
 */
export async function* inCompletionOrder<Item, Answer>(
  source: AsyncIterable<Item>,
  window: number,
  signal: AbortSignal,
  answer: (item: Item) => Answer | Promise<Answer | null> | null,
  begun?: (outside: Outside<Answer>) => void,
  isFull: () => boolean = () => false,
): AsyncGenerator<Answer> {
  const items = source[Symbol.asyncIterator]();
  const events: Event<Item, Answer>[] = [];
  let wake: (() => void) | null = null;
  let open = 0;
  let reading = false;
  let ended = false;
  const happened = (event: Event<Item, Answer>): void => {
    events.push(event);
    wake?.();
  };
  const failed = (error: unknown): void => happened({ kind: 'failure', error });
  const aborted = (): void => failed(signal.reason);
  signal.addEventListener('abort', aborted, { once: true });
  try {
    signal.throwIfAborted();
    begun?.({
      isPending: () => open > 0 || events.length > 0,
      insert: (inserted) => happened({ kind: 'answer', answer: inserted, isAwaited: false }),
      fail: failed,
    });
    while (!ended || open > 0) {
      if (!ended && !reading && open < window && !isFull()) {
        reading = true;
        items.next().then((result) => happened({ kind: 'item', result }), failed);
      }
      const event = events.shift();
      if (event === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = null;
      } else if (event.kind === 'failure') {
        throw event.error;
      } else if (event.kind === 'answer') {
        if (event.isAwaited) open -= 1;
        if (event.answer !== null) yield event.answer;
      } else {
        reading = false;
        if (event.result.done === true) {
          ended = true;
          continue;
        }
        const answered = answer(event.result.value);
        if (answered instanceof Promise) {
          open += 1;
          answered.then((late) => happened({ kind: 'answer', answer: late, isAwaited: true }), failed);
        } else if (answered !== null) yield answered;
      }
    }
  } finally {
    signal.removeEventListener('abort', aborted);
    // Not awaited: after an abort the source may never settle.
    if (!ended) items.return?.()?.catch(() => {});
  }
}

/** What can happen to the answers from outside. */
export interface Outside<Answer> {
  /** Whether an answer is pending, or not sent yet. */
  isPending(): boolean;
  /** Sends something that answers no item. */
  insert(answer: Answer): void;
  /** Ends the answers, after those that are ready. */
  fail(error: unknown): void;
}

type Event<Item, Answer> =
  | { readonly kind: 'item'; readonly result: IteratorResult<Item> }
  | { readonly kind: 'answer'; readonly answer: Answer | null; readonly isAwaited: boolean }
  | { readonly kind: 'failure'; readonly error: unknown };
