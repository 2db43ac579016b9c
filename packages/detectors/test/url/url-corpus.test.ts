import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findUp } from '../../../../src/contract/runtime/package-root.js';
import {
  findingsIn,
  markedTexts,
  qualityCells,
  tally,
  total,
  withGenerated,
} from '../../../../test/corpora/marked-spans.support.js';
import type { JsonObject } from '../../../exact-json/src/index.js';
import { urlEvaluator } from '../../src/url/url.js';
import { FORBIDDABLE, SCORES } from '../../src/url/violations.js';

/** What the corpus is labelled for. */
const CONFIG: JsonObject = {
  allow_hosts: ['example.com', '*.example.com', 'docs.example.org'],
  deny_hosts: ['bad.example.com'],
  schemes: ['http', 'https', 'wss'],
  forbid: FORBIDDABLE.filter((form) => form !== 'ip_address' && form !== 'punycode'),
  bare_hosts: true,
  threshold: 0.05,
};
const texts = markedTexts('url', 'test');
const findingsOf = findingsIn(urlEvaluator, CONFIG);

function table(): string {
  const tallies = tally(texts, findingsOf, 0.5, true);
  const rows = Object.entries(SCORES).flatMap(([kind, score]) => {
    const found = tallies.get(kind);
    return found === undefined ? [] : [`| \`${kind}\` | ${score} | ${qualityCells(found)} |`];
  });
  return [
    '| kind | score | to be found | false | precision | recall |',
    '|---|--:|--:|--:|--:|--:|',
    ...rows,
    ...[0.5, 0.75, 0.95].map(
      (threshold) =>
        `| all, threshold ${threshold} | | ${qualityCells(total(tally(texts, findingsOf, threshold, true).values()))} |`,
    ),
  ].join('\n');
}

it('docs/detectors.md has what the corpus says about URLs (renew with `vitest --update`)', async () => {
  const file = findUp('docs/detectors.md');
  const current = readFileSync(file, 'utf8');
  await expect(withGenerated(current, 'url quality', table())).toMatchFileSnapshot(file);
});

describe('the corpus', () => {
  it('has 150 URLs that are forbidden, and 150 texts without any', () => {
    const all = [...texts, ...markedTexts('url', 'dev')];
    expect(all.filter(({ kind }) => kind !== null).length).toBeGreaterThanOrEqual(150);
    expect(all.filter(({ kind }) => kind === null).length).toBeGreaterThanOrEqual(150);
  });

  it('is told from other texts with a precision and a recall of at least 0.95', () => {
    const { hits, misses, falseAlarms } = total(tally(texts, findingsOf, 0.5, true).values());
    expect(hits / (hits + falseAlarms)).toBeGreaterThanOrEqual(0.95);
    expect(hits / (hits + misses)).toBeGreaterThanOrEqual(0.95);
  });
});
