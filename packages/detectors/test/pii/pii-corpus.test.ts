import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findUp } from '../../../../src/contract/runtime/package-root.js';
import {
  findingsIn,
  type MarkedText,
  markedTexts,
  qualityCells,
  tally,
  total,
  withGenerated,
} from '../../../../test/corpora/marked-spans.support.js';
import { OTHER_KINDS, SHAPED_KINDS } from '../../src/pii/kinds/kinds.js';
import { piiEvaluator } from '../../src/pii/pii.js';

const THRESHOLD = 0.5;
const texts = markedTexts('pii', 'test');
const findingsOf = findingsIn(piiEvaluator, { threshold: 0.05 });

/** What is marked, without the text around it. */
const alone = (marked: MarkedText): MarkedText[] =>
  marked.spans.map(({ start, end }) => ({
    text: marked.text.slice(start, end),
    kind: marked.kind,
    spans: [{ start: 0, end: end - start }],
  }));

function qualityTable(): string {
  const tallies = tally(texts, findingsOf, THRESHOLD);
  const aloneTallies = tally(texts.flatMap(alone), findingsOf, THRESHOLD);
  const none = { hits: 0, misses: 0, falseAlarms: 0 };
  const rows = [...SHAPED_KINDS, ...OTHER_KINDS].map(({ name }) => {
    const { hits, misses } = aloneTallies.get(name) ?? none;
    return `| ${name} | ${qualityCells(tallies.get(name) ?? none)} | ${(hits / (hits + misses)).toFixed(2)} |`;
  });
  return [
    '| kind | to be found | false | precision | recall | recall alone |',
    '|---|--:|--:|--:|--:|--:|',
    ...rows,
    ...[0.3, 0.5, 0.7, 0.9].map((threshold) => {
      const { hits, misses } = total(tally(texts.flatMap(alone), findingsOf, threshold).values());
      const cells = qualityCells(total(tally(texts, findingsOf, threshold).values()));
      return `| all, threshold ${threshold} | ${cells} | ${(hits / (hits + misses)).toFixed(2)} |`;
    }),
  ].join('\n');
}

function kindTable(): string {
  const shaped = SHAPED_KINDS.map(({ name, title, source, shapes }) => {
    const scores = Object.entries(shapes).map(([shape, score]) => `\`${shape}\` ${score}`);
    return `| \`${name}\` | ${title} | ${scores.join(', ')} | ${source} |`;
  });
  const others = OTHER_KINDS.map(
    ({ name, title, source, scores }) => `| \`${name}\` | ${title} | ${scores.join(', ')} | ${source} |`,
  );
  return [
    '| kind | what | ways to write it, and scores | defined in |',
    '|---|---|---|---|',
    ...shaped,
    ...others,
  ].join('\n');
}

describe('docs/detectors.md', () => {
  const file = findUp('docs/detectors.md');

  it('has the kinds of personal data, and what the corpus says about them (renew with `vitest --update`)', async () => {
    const current = readFileSync(file, 'utf8');
    const renewed = withGenerated(
      withGenerated(current, 'pii kinds', kindTable()),
      'pii quality',
      qualityTable(),
    );
    await expect(renewed).toMatchFileSnapshot(file);
  });
});

describe('the corpus', () => {
  it('has 300 things to find, and 300 texts without any', () => {
    const all = [...texts, ...markedTexts('pii', 'dev')];
    expect(all.reduce((sum, { spans }) => sum + spans.length, 0)).toBeGreaterThanOrEqual(300);
    expect(all.filter(({ kind }) => kind === null).length).toBeGreaterThanOrEqual(300);
  });

  it('has every kind in both halves', () => {
    for (const half of ['dev', 'test'] as const) {
      const kinds = new Set(markedTexts('pii', half).map(({ kind }) => kind));
      for (const { name } of [...SHAPED_KINDS, ...OTHER_KINDS]) expect(kinds).toContain(name);
    }
  });

  it('is told from other texts with a precision and a recall of at least 0.95', () => {
    const { hits, misses, falseAlarms } = total(tally(texts, findingsOf, THRESHOLD).values());
    expect(hits / (hits + falseAlarms)).toBeGreaterThanOrEqual(0.95);
    expect(hits / (hits + misses)).toBeGreaterThanOrEqual(0.95);
  });
});
