import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findUp } from '../../../src/contract/runtime/package-root.js';
import type { CompiledEvaluator } from '../../../src/kernel/core/evaluator.js';
import type { EvaluatorResult } from '../../../src/kernel/core/types.js';
import {
  type Findings,
  type Half,
  type Labelled,
  qualityOf,
  shown,
} from '../../../test/corpora/corpus.support.js';
import { injectionCorpus } from '../../../test/corpora/injection/injection-corpus.support.js';
import { secretsCorpus } from '../../../test/corpora/secrets/secrets-corpus.support.js';
import { FULL_CALL } from '../../../test/support/check-call.js';
import type { Finding } from '../src/detector/finding.js';
import { injectionEvaluator } from '../src/injection/injection.js';
import { CATEGORY_NAMES, INJECTION_CATEGORIES } from '../src/injection/phrase-rule.js';
import { SECRET_KINDS } from '../src/secrets/kinds.js';
import { secretsEvaluator } from '../src/secrets/secrets.js';

const FILE = findUp('docs/detectors.md');
const THRESHOLDS = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8];

/** All findings of a check that leaves none out. */
function findingsBy(check: CompiledEvaluator): (text: string) => Findings {
  return (text) => {
    const { metadata } = check.evaluate(text, FULL_CALL) as EvaluatorResult;
    return ((metadata as { findings?: unknown } | null)?.findings ?? []) as readonly Finding[];
  };
}

const DETECTORS: readonly {
  readonly name: string;
  readonly corpus: (half: Half) => Labelled[];
  readonly findingsOf: (text: string) => Findings;
  /** Rows of the table of kinds: the kind, and what the page says about it. */
  readonly kinds: readonly (readonly [kind: string, ...about: string[]])[];
  readonly heads: readonly string[];
}[] = [
  {
    name: 'secrets',
    corpus: secretsCorpus,
    findingsOf: findingsBy(secretsEvaluator.compile({ threshold: 0.01 })),
    kinds: SECRET_KINDS.map(({ name, rule, score, what }) => [name, `\`${rule}\``, String(score), what]),
    heads: ['kind', 'rule', 'score', 'what it is'],
  },
  {
    name: 'injection',
    corpus: injectionCorpus,
    findingsOf: findingsBy(injectionEvaluator.compile({ threshold: 0.01 })),
    kinds: CATEGORY_NAMES.map((name) => [name, INJECTION_CATEGORIES[name]]),
    heads: ['kind', 'what it is'],
  },
];

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(row)].join('\n');
}

function tablesOf({ corpus, findingsOf, kinds, heads }: (typeof DETECTORS)[number]): string {
  const texts = corpus('test');
  const { positives, negatives } = qualityOf(texts, findingsOf, 1);
  const byThreshold = THRESHOLDS.map((threshold) => {
    const { precision, recall } = qualityOf(texts, findingsOf, threshold);
    return [threshold.toFixed(1), shown(precision), shown(recall)];
  });
  const byKind = kinds.map(([kind, ...about]) => {
    const quality = qualityOf(texts, findingsOf, 0.5, kind);
    const figures =
      quality.positives === 0
        ? ['–', '–', '0']
        : [shown(quality.precision), shown(quality.recall), String(quality.positives)];
    return [`\`${kind}\``, ...about, ...figures];
  });
  return [
    `${positives} texts with something to find, ${negatives} without:`,
    '',
    table(['threshold', 'precision', 'recall'], byThreshold),
    '',
    'By kind, at the threshold 0.5:',
    '',
    table([...heads, 'precision', 'recall', 'texts'], byKind),
  ].join('\n');
}

it('docs/detectors.md has the precision and recall that the corpora give', async () => {
  let page = readFileSync(FILE, 'utf8');
  for (const detector of DETECTORS) {
    const place = new RegExp(`(<!-- quality of ${detector.name} -->\n)[\\s\\S]*?(<!-- end -->)`);
    expect(page).toMatch(place);
    page = page.replace(place, (_all, start, end) => `${start}\n${tablesOf(detector)}\n\n${end}`);
  }
  await expect(
    page,
    'run "npx vitest run packages/detectors/test/detector-quality.test.ts --update"',
  ).toMatchFileSnapshot(FILE);
});

it.each(DETECTORS)(
  '$name finds most of what its corpus has, at the default threshold',
  ({ corpus, findingsOf }) => {
    const half = (name: Half) => qualityOf(corpus(name), findingsOf, 0.5);
    for (const name of ['dev', 'test'] as const) {
      const { precision, recall } = half(name);
      expect(precision).toBeGreaterThan(0.9);
      expect(recall).toBeGreaterThan(0.65);
    }
  },
);

it.each(DETECTORS)('the corpus of $name is large, and says nothing twice', ({ corpus, kinds }) => {
  const texts = [...corpus('dev'), ...corpus('test')];
  const positives = texts.filter(({ kinds }) => kinds.length > 0);
  expect(positives.length).toBeGreaterThanOrEqual(150);
  expect(texts.length - positives.length).toBeGreaterThanOrEqual(150);
  expect(new Set(texts.map(({ text }) => text)).size).toBe(texts.length);
  const known = new Set(kinds.map(([kind]) => kind));
  expect(texts.flatMap((one) => one.kinds).filter((kind) => !known.has(kind))).toEqual([]);
});
