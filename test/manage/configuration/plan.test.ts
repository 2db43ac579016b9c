import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/manage/configuration/configuration-object.js';
import { planConfiguration } from '../../../src/manage/configuration/configuration-plan.js';

interface Case {
  /** The text that a document has; null without one. */
  readonly wanted: string | null;
  /** The text that is stored; null without any. */
  readonly stored: string | null;
  /** Who applied it, and which text; null if it was never applied. */
  readonly applied: readonly [owner: string, text: string] | null;
  readonly prune?: boolean;
  readonly overwrite?: boolean;
  readonly sameAs?: string;
  /** What both sides changed becomes this, with conflicting members. */
  readonly merged?: readonly [after: string, conflicts: readonly string[]];
  readonly keeps?: boolean;
}

const NAME = { family: 'policy', name: 'a' } as const;
const KEY = 'policy/a';

/** In words: what becomes of the object, and whether it is remembered anew or forgotten. */
function outcome(given: Case): string {
  const { wanted, stored, applied, prune = false, overwrite = false, sameAs, merged, keeps = false } = given;
  const merge = { changedHere: [], changedByOwner: [], updated: [] };
  const { changes, conflicts, forgotten } = planConfiguration({
    owner: 'me',
    wanted: wanted === null ? [] : [{ ...NAME, kind: 'Policy', text: wanted, sameAs: sameAs ?? null }],
    stored: new Map(stored === null ? [] : [[KEY, { ...NAME, text: stored }]]),
    applied: new Map(
      applied === null ? [] : [[KEY, { ...NAME, owner: applied[0], digest: digestOf(applied[1]) }]],
    ),
    prune,
    overwrites: () => overwrite,
    merges: new Map(merged && [[KEY, { ...merge, after: merged[0], conflicts: merged[1] }]]),
    keepsConflicts: keeps,
  });
  return [
    ...changes.map(
      ({ change, adopted, remembers, after, base }) =>
        `${change} ${after}${base === null ? '' : ` from ${base}`}${adopted ? ' adopted' : ''}${remembers ? ' remembered' : ''}`,
    ),
    ...conflicts.map(({ reason, owner, members = [] }) => [`${reason} ${owner}`, ...members].join(' ')),
    ...forgotten.map(() => 'forgotten'),
  ].join(', ');
}

describe('A plan', () => {
  it.each<[string, Case]>([
    ['create x remembered', { wanted: 'x', stored: null, applied: null }],
    ['unchanged x adopted remembered', { wanted: 'x', stored: 'x', applied: null }],
    ['exists null', { wanted: 'x', stored: 'y', applied: null }],
    ['update x adopted remembered', { wanted: 'x', stored: 'y', applied: null, overwrite: true }],
    ['unchanged x', { wanted: 'x', stored: 'x', applied: ['me', 'x'] }],
    ['update x remembered', { wanted: 'x', stored: 'y', applied: ['me', 'y'] }],
    ['changed_elsewhere me', { wanted: 'x', stored: 'z', applied: ['me', 'y'] }],
    ['update x remembered', { wanted: 'x', stored: 'z', applied: ['me', 'y'], overwrite: true }],
    // Somebody else made what the documents say.
    ['unchanged x remembered', { wanted: 'x', stored: 'x', applied: ['me', 'y'] }],
    ['deleted_elsewhere me', { wanted: 'x', stored: null, applied: ['me', 'x'] }],
    ['create x', { wanted: 'x', stored: null, applied: ['me', 'x'], overwrite: true }],
    ['other_owner you', { wanted: 'x', stored: 'x', applied: ['you', 'x'] }],
    ['other_owner you', { wanted: 'x', stored: 'x', applied: ['you', 'x'], overwrite: true }],
    // What the other owner applied is gone, but the same text must become that of this one.
    ['create x remembered', { wanted: 'x', stored: null, applied: ['you', 'x'] }],
    // A stored text that means the same stays, and is what is remembered.
    ['unchanged y adopted remembered', { wanted: 'x', stored: 'y', applied: null, sameAs: 'y' }],
    ['unchanged y', { wanted: 'x', stored: 'y', applied: ['me', 'y'], sameAs: 'y' }],
    // Merged: the documents are remembered, so that the same is found again.
    ['update xz from x remembered', { wanted: 'x', stored: 'z', applied: ['me', 'y'], merged: ['xz', []] }],
    ['unchanged xz from x', { wanted: 'x', stored: 'xz', applied: ['me', 'x'], merged: ['xz', []] }],
    ['changed_elsewhere me m', { wanted: 'x', stored: 'z', applied: ['me', 'y'], merged: ['z', ['m']] }],
    [
      'update xz from x remembered, changed_elsewhere me m',
      { wanted: 'x', stored: 'z', applied: ['me', 'y'], merged: ['xz', ['m']], keeps: true },
    ],
    [
      'update x remembered',
      { wanted: 'x', stored: 'z', applied: ['me', 'y'], merged: ['xz', ['m']], overwrite: true },
    ],
    ['', { wanted: null, stored: 'x', applied: ['me', 'x'] }],
    ['delete null remembered', { wanted: null, stored: 'x', applied: ['me', 'x'], prune: true }],
    ['changed_elsewhere me', { wanted: null, stored: 'y', applied: ['me', 'x'], prune: true }],
    [
      'delete null remembered',
      { wanted: null, stored: 'y', applied: ['me', 'x'], prune: true, overwrite: true },
    ],
    ['forgotten', { wanted: null, stored: null, applied: ['me', 'x'], prune: true }],
    ['', { wanted: null, stored: 'x', applied: ['you', 'x'], prune: true }],
    ['', { wanted: null, stored: 'x', applied: null, prune: true }],
  ])('is "%s" for %j', (expected, given) => {
    expect(outcome(given)).toBe(expected);
  });
});
