import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { compiledTree } from '../support/service-process.js';
import { FRAMINGS, type FramingName } from './framings.js';
import { recordWalks, type Walks } from './record-walks.js';

const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/architecture.md'), 'utf8');
const names = Object.keys(FRAMINGS) as FramingName[];

/** The files that the page lists under a heading. */
function documented(title: string): string[] {
  const section = page.split(`\n### ${title}\n`)[1]?.split(/\n##/)[0] ?? '';
  return [...section.matchAll(/^- `([^`]+)`: \S/gm)].map(([, name = '']) => name);
}

/** How the page differs from what was recorded; empty texts if it does not. */
function differences(title: string, recorded: readonly string[]): Record<string, string[]> {
  const listed = documented(title);
  return {
    [`passed, but missing under "${title}" of docs/architecture.md`]: recorded.filter(
      (file) => !listed.includes(file),
    ),
    'listed there, but not passed': listed.filter((file) => !recorded.includes(file)),
    'listed there more than once': listed.filter((file, index) => listed.indexOf(file) !== index),
  };
}

describe('the files that an evaluation passes', () => {
  let walks: Walks;
  let shared: readonly string[];
  beforeAll(async () => {
    walks = await recordWalks(compiledTree);
    const [first, ...others] = names.map((name) => walks[name]);
    shared = [...(first ?? [])].filter((file) => others.every((walk) => walk.has(file)));
  });

  it('are those of the architecture page in every framing', () => {
    const differing = differences('Every evaluation passes', shared);
    expect(differing).toEqual(nothing(differing));
  });

  it.each(names)('are those of the architecture page: %s', (name) => {
    const own = [...walks[name]].filter((file) => !shared.includes(file));
    const differing = differences(name, own);
    expect(differing).toEqual(nothing(differing));
  });
});

function nothing(differing: object): object {
  return Object.fromEntries(Object.keys(differing).map((name) => [name, []]));
}
