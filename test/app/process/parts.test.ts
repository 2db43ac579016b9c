import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createParts } from '../../../src/app/process/parts.js';

/** Work at once or in a later turn, that may fail. */
const work = fc.constantFrom('now', 'later', 'fails', 'fails later');
const lives = fc.array(fc.record({ start: work, close: work }), { maxLength: 8 });

/** A number of parts whose works note what they do, in this order. */
function notingParts(all: readonly { readonly start: string; readonly close: string }[]) {
  const done: string[] = [];
  const parts = createParts();
  const noting = (kind: string, name: string) => () => {
    const end = (): void => {
      done.push(name);
      if (kind.startsWith('fails')) throw new Error(name);
    };
    return kind.endsWith('later') ? new Promise(setImmediate).then(end) : end();
  };
  for (const [at, { start, close }] of all.entries()) {
    parts.add({ start: noting(start, `start ${at}`), close: noting(close, `close ${at}`) });
  }
  return { parts, done };
}

const errorOf = (promise: Promise<void>): Promise<string | null> =>
  promise.then(
    () => null,
    (error: Error) => error.message,
  );

describe('parts', () => {
  it('start in the order in which they were added, one after the other, until one fails', () =>
    fc.assert(
      fc.asyncProperty(lives, async (all) => {
        const { parts, done } = notingParts(all);
        const failed = all.findIndex(({ start }) => start.startsWith('fails'));
        expect(await errorOf(parts.start())).toBe(failed === -1 ? null : `start ${failed}`);
        const begun = failed === -1 ? all : all.slice(0, failed + 1);
        expect(done).toEqual(begun.map((_, at) => `start ${at}`));
      }),
    ));

  it('close in the reverse order, one after the other and each once, and the first failure is told', () =>
    fc.assert(
      fc.asyncProperty(lives, async (all) => {
        const { parts, done } = notingParts(all);
        const failed = all.findLastIndex(({ close }) => close.startsWith('fails'));
        const told = failed === -1 ? null : `close ${failed}`;
        const ends = await Promise.all([errorOf(parts.close()), errorOf(parts.close())]);
        expect(ends).toEqual([told, told]);
        expect(done).toEqual(all.map((_, at) => `close ${at}`).reverse());
      }),
    ));

  it('keep and drain those that have something to', () => {
    const done: string[] = [];
    const parts = createParts();
    const first = { keep: () => void done.push('kept') };
    expect(parts.add(first)).toBe(first);
    parts.add({ drain: () => void done.push('drained') });
    parts.keep();
    parts.drain();
    expect(done).toEqual(['kept', 'drained']);
  });
});
