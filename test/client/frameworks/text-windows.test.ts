import { once } from 'node:events';
import { EventEmitter } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createTextWindows,
  ReleasedTextError,
  type TextWindows,
  type WindowOptions,
} from '../../../packages/client/src/frameworks/index.js';

/** Windows that time does not end. */
const LONG = { maxDelayMs: 60_000 };
const SECRET = /sk-[a-z]+/g;
const redacted = async (text: string) => text.replaceAll(SECRET, '[key]');
const denied = async (text: string) => {
  if (/sk-[a-z]{4}/.test(text)) throw new Error('denied');
  return text;
};

function windowsOver(check: (text: string) => Promise<string>, options: WindowOptions) {
  const released: string[] = [];
  const checked: string[] = [];
  const happened = new EventEmitter();
  const windows = createTextWindows(
    {
      async check(text) {
        checked.push(text);
        return check(text);
      },
      release(text) {
        released.push(text);
        happened.emit('released');
      },
      onFailed: (error) => happened.emit('failed', error),
    },
    options,
  );
  return { windows, released, checked, happened };
}

async function pushAll(windows: TextWindows, parts: readonly string[]): Promise<void> {
  for (const part of parts) await windows.push(part);
}

/** A text, cut anywhere. */
const cutTexts = fc
  .array(fc.oneof(fc.constantFrom('sk-abcdef ', 'sk-', ' ', '😀', 'word '), fc.string({ maxLength: 9 })), {
    maxLength: 20,
  })
  .map((words) => words.join(''))
  .chain((text) => fc.tuple(fc.constant(text), fc.array(fc.nat(Math.max(0, text.length)))))
  .map(([text, cuts]) => {
    const places = [0, ...cuts.sort((one, other) => one - other), text.length];
    return { text, parts: places.slice(1).map((place, index) => text.slice(places[index], place)) };
  });

describe('the windows of a text', () => {
  it('release it as a control changes the whole, however it is cut', async () => {
    const sizes = fc.record({ maxChars: fc.integer({ min: 1, max: 40 }), overlapChars: fc.constant(30) });
    await fc.assert(
      fc.asyncProperty(cutTexts, sizes, async ({ text, parts }, options) => {
        const { windows, released } = windowsOver(redacted, { ...LONG, ...options });
        await pushAll(windows, parts);
        await windows.end(redacted);
        expect(released.join('')).toBe(await redacted(text));
        expect(windows.released).toBe(released.join(''));
        // No half of a character is shown on its own.
        for (const one of released.slice(0, -1)) expect(one).not.toMatch(/[\ud800-\udbff]$/);
      }),
      { numRuns: 200 },
    );
  });

  it('release nothing of what is refused, when the overlap is as long', async () => {
    await fc.assert(
      fc.asyncProperty(cutTexts, fc.integer({ min: 1, max: 40 }), async ({ text, parts }, maxChars) => {
        const { windows, released } = windowsOver(denied, { ...LONG, maxChars, overlapChars: 30 });
        const refused = await pushAll(windows, parts)
          .then(() => windows.end(denied))
          .then(
            () => false,
            () => true,
          );
        const place = text.search(/sk-[a-z]{4}/);
        expect(refused).toBe(place >= 0);
        expect(text.startsWith(released.join(''))).toBe(true);
        if (refused) expect(released.join('').length).toBeLessThanOrEqual(place);
      }),
      { numRuns: 200 },
    );
  });

  it('wait for their verdict, and see the end of what was released', async () => {
    let answer = (_text: string): void => {};
    const asked = () =>
      new Promise<string>((resolve) => {
        answer = resolve;
      });
    const { windows, released, checked } = windowsOver(asked, { ...LONG, maxChars: 4, overlapChars: 2 });
    const first = windows.push('abcdef');
    await new Promise(setImmediate);
    expect([checked, released]).toEqual([['abcdef'], []]);
    answer('abcdef');
    await first;
    expect(released).toEqual(['abcd']);
    const second = windows.push('ghij');
    await new Promise(setImmediate);
    // Two characters that were released, two that stayed back, and the new ones.
    expect(checked.at(-1)).toBe('cdefghij');
    answer('cdefghij');
    await second;
    expect(released.join('')).toBe('abcdefgh');
  });

  it('release what stays back once the time is over', async () => {
    const { windows, released, happened } = windowsOver(denied, { maxDelayMs: 0 });
    await windows.push('short');
    await once(happened, 'released');
    expect(released).toEqual(['short']);
  });

  it('keep what a control changes at the end, though the time is over', async () => {
    const { windows, released, happened } = windowsOver(redacted, { maxDelayMs: 0, overlapChars: 10 });
    await windows.push('the key is sk-ab');
    await once(happened, 'released');
    expect(released.join('')).toBe('the key is ');
    await windows.push('cdef, which is secret');
    await windows.end(redacted);
    expect(released.join('')).toBe('the key is [key], which is secret');
  });

  it('tell at once that time has ended one that is refused, and release nothing more', async () => {
    const { windows, released, happened } = windowsOver(denied, { maxDelayMs: 0 });
    const failed = once(happened, 'failed');
    await windows.push('sk-abcd');
    expect(await failed).toEqual([new Error('denied')]);
    await expect(windows.push('more')).rejects.toThrow('denied');
    await expect(windows.end(redacted)).rejects.toThrow('denied');
    expect(released).toEqual([]);
  });

  it('refuse a change of what was released', async () => {
    const { windows, released } = windowsOver(async (text) => text, {
      ...LONG,
      maxChars: 4,
      overlapChars: 0,
    });
    await windows.push('sk-abc');
    await expect(windows.end(redacted)).rejects.toThrow(ReleasedTextError);
    expect(released).toEqual(['sk-abc']);
  });

  it.each([{ maxChars: 0 }, { maxChars: 1.5 }, { maxDelayMs: -1 }, { overlapChars: 100_001 }])(
    'have bounds: %j',
    (options) => {
      expect(() => windowsOver(redacted, options)).toThrow(RangeError);
    },
  );
});
