/**
 * How long the command takes to start: the time of a process from start to end, against one that does nothing, both in turn.
 */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { median, report } from './support/report.mjs';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
const COMMAND = resolve(import.meta.dirname, '..', 'packages', 'cli', 'bin', 'control-enforcement.js');

/** @type {readonly (readonly [name: string, ...words: string[]])[]} */
const STARTS = [
  ['--version', '--version'],
  ['--help', '--help'],
  ['completion of commands', '--complete', 'ap'],
  ['completion of options', '--complete', 'apply', '--'],
  ['help of a command', 'apply', '--help'],
];

/** Milliseconds until a process has ended. @param {readonly string[]} words */
function timeOf(words) {
  const begun = performance.now();
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - begun;
}

report(
  'cli',
  STARTS.map(([name, ...words]) => {
    const rounds = Array.from({ length: ROUNDS }, () => ({
      bare: timeOf(['--eval', '0']),
      start: timeOf([COMMAND, ...words]),
    }));
    return {
      name: `${name} / a process`,
      value: median(rounds.map(({ start }) => start)),
      unit: 'ms',
      yardstick: median(rounds.map(({ bare }) => bare)),
      ratio: median(rounds.map(({ start, bare }) => start / bare)),
    };
  }),
);
