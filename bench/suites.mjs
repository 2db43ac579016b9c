/**
 * What a suite of tests costs: the time of `control-enforcement test`, from start to end, with 1,000 cases of regex, list and
 * expressions, beyond that of the same command with one case; and against the start of a process that does nothing.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { median, report, singleRow } from './support/report.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const CASES = Number(process.env.BENCH_CASES ?? 1_000);
const COMMAND = resolve(import.meta.dirname, '..', 'packages', 'cli', 'bin', 'control-enforcement.js');
const folder = mkdtempSync(join(tmpdir(), 'bench-suites-'));

const CONTROLS = [
  ['words', 'deny', { name: 'regex', config: { pattern: String.raw`\b\d{16}\b` } }, 'input.text'],
  ['kinds', 'observe', { name: 'list', config: { values: ['memo', 'letter'] } }, 'input.kind'],
  ['amounts', 'deny', { name: 'cel', config: { expression: 'input.amount > 1000' } }, '*'],
].map(([name, decision, evaluator, path]) => ({
  kind: 'Control',
  name,
  data: { execution: 'server', condition: { selector: { path }, evaluator }, action: { decision } },
}));

/** @param {number} count */
function suiteOf(count) {
  const cases = Array.from({ length: count }, (_, index) => ({
    name: `case ${index}`,
    step: { name: 'pay', input: { text: `text ${index}`, kind: 'memo', amount: (index % 2) * 2_000 } },
    expect: { outcome: index % 2 === 0 ? 'allow' : 'deny' },
  }));
  const file = join(folder, `${count}.test.yaml`);
  writeFileSync(file, JSON.stringify({ kind: 'Suite', controls: CONTROLS, cases }));
  return file;
}

/** Milliseconds until a process has ended. @param {readonly string[]} words */
function timeOf(words) {
  const begun = performance.now();
  const { status, stderr, stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}: ${stderr}${stdout}`);
  return performance.now() - begun;
}

try {
  const [many, one] = [suiteOf(CASES), suiteOf(1)];
  /** @type {{ all: number, single: number, bare: number }[]} */
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({
      all: timeOf([COMMAND, 'test', many]),
      single: timeOf([COMMAND, 'test', one]),
      bare: timeOf(['--eval', '']),
    });
  }
  const bare = median(rounds.map((round) => round.bare));
  report('suites', [
    singleRow(
      'the cases, after the start',
      Math.max(0.001, median(rounds.map(({ all, single }) => all - single))),
      'ms',
      bare,
    ),
    singleRow('a suite of one case / a process', median(rounds.map(({ single }) => single)), 'ms', bare),
  ]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
