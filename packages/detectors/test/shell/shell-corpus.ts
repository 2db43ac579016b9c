import { readFileSync } from 'node:fs';
import path from 'node:path';
import { FULL_CALL } from '../../../../test/support/check-call.js';
import type { JsonObject } from '../../../exact-json/src/index.js';
import { shellEvaluator } from '../../src/shell/shell.js';

/** A configuration as an operator would write it, with which the corpus is labelled. */
export const CORPUS_CONFIG: JsonObject = {
  deny_programs: ['nc', 'ncat', 'shutdown', 'reboot', 'halt', 'poweroff'],
  deny: [
    { program: 'rm', flags: ['-r', '-f'], arguments: ['/', '/*', '~'] },
    { program: 'chmod', flags: ['-R'], arguments: ['/', '/*'] },
    { program: 'chown', flags: ['--recursive'], arguments: ['/', '/*'] },
    { program: 'crontab', flags: ['-r'] },
    { program: 'iptables', flags: ['-F'] },
  ],
  forbid: ['pipe_to_shell', 'download_and_run', 'sudo', 'write_device', 'fork_bomb'],
};

/** Commands of the corpus; a line break in one is written as ⏎. */
export function corpus(label: 'dangerous' | 'harmless', half: 'dev' | 'test'): string[] {
  const file = path.resolve(import.meta.dirname, `../../../../test/corpora/shell/${label}.${half}.txt`);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => line.replaceAll('⏎', '\n'));
}

/** The commands that the corpus and the detector judge differently, and the shares of both. */
export function corpusFigures(half: 'dev' | 'test', threshold: number) {
  const check = shellEvaluator.compile({ ...CORPUS_CONFIG, threshold });
  const isFound = (command: string): boolean => {
    const result = check.evaluate(command, FULL_CALL);
    return 'matched' in result && result.matched;
  };
  const dangerous = corpus('dangerous', half);
  const harmless = corpus('harmless', half);
  const missed = dangerous.filter((command) => !isFound(command));
  const mistaken = harmless.filter(isFound);
  const found = dangerous.length - missed.length;
  return {
    dangerous: dangerous.length,
    harmless: harmless.length,
    missed,
    mistaken,
    precision: found / (found + mistaken.length),
    recall: found / dangerous.length,
  };
}
