import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { SETTINGS } from '../../../src/contract/config/settings.js';
import { inPackage } from '../../../src/contract/runtime/package-root.js';

/** Names of settings that bound an amount. */
const AMOUNT = /_MAX(?:_|$)|^MAX_|_LIMIT$|_PER_SECOND|_KEYS$|_BYTES$|_QUEUE$|_DESTINATIONS$|_CACHE_SIZE$/;
const TIME = /_SECONDS$|_AGE_|_MS$|_HOURS$/;
/** What many share, so that each of them needs a bound of its own. */
const SHARED = ['service', 'process', 'namespace'];

interface Row {
  readonly bound: string;
  readonly owner: string;
  readonly sharedOutBy: string;
  readonly beyond: string;
}

const rows = readFileSync(inPackage('docs/bounds.md'), 'utf8')
  .split('\n')
  .flatMap((line): Row[] => {
    const [bound, owner, sharedOutBy, beyond] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    const [, name] = /^`(\w+)`$/.exec(bound ?? '') ?? [];
    return name === undefined
      ? []
      : [{ bound: name, owner: owner ?? '', sharedOutBy: sharedOutBy ?? '', beyond: beyond ?? '' }];
  });
const bounds = SETTINGS.filter(
  ({ names: [name], reader }) =>
    reader.expected.startsWith('a whole number') && AMOUNT.test(name) && !TIME.test(name),
).map(({ names: [name] }) => name);

describe('docs/bounds.md', () => {
  it('has every setting that bounds an amount, once, and no other', () => {
    expect(rows.map(({ bound }) => bound).sort()).toEqual([...bounds].sort());
  });

  it.each(rows)('says whose $bound is, and what happens beyond it', ({ owner, beyond }) => {
    expect(owner).not.toBe('');
    expect(beyond).not.toBe('');
  });

  it.each(rows.filter(({ owner }) => SHARED.includes(owner)))(
    'a bound that many share is shared out: $bound of each $owner',
    ({ bound, owner, sharedOutBy }) => {
      const named = [...sharedOutBy.matchAll(/`(\w+)`/g)].map(([, name]) => name);
      const finer = rows.filter((row) => named.includes(row.bound) && row.owner !== owner);
      // Bytes are kept for keys, whose number is bounded; destinations are of administrators.
      const isOwn = /^(?:a cache|a quarter for each agent)$/.test(sharedOutBy) || OF_ADMINS.has(bound);
      expect({ bound, isSharedOut: isOwn || finer.length > 0 }).toEqual({ bound, isSharedOut: true });
    },
  );
});

const OF_ADMINS: ReadonlySet<string> = new Set([
  'SERVICE_MEMORY_BYTES',
  'SERVICE_NOTIFICATIONS_DESTINATIONS',
]);
