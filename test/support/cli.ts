import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { run } from '../../packages/cli/src/run.js';
import type { Surroundings } from '../../packages/cli/src/surroundings.js';

/** What a run of the command has printed, and its exit code. */
export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly signal?: AbortSignal;
  /** Called with each text of the standard output. */
  readonly onOutput?: (text: string) => void;
}

/** Runs the command in this process, on the words behind its name. */
export async function runCli(
  words: readonly string[],
  { cwd = tmpdir(), env = {}, stdin = '', signal = new AbortController().signal, onOutput }: CliOptions = {},
): Promise<CliResult> {
  const printed = { stdout: '', stderr: '' };
  const output = (name: 'stdout' | 'stderr') => ({
    write: async (text: string) => {
      printed[name] += text;
      if (name === 'stdout') onOutput?.(text);
    },
  });
  const surroundings: Surroundings = {
    stdin: stdinOf(stdin),
    stdout: output('stdout'),
    stderr: output('stderr'),
    // No context of the person who runs the tests.
    env: { XDG_CONFIG_HOME: path.join(cwd, '.config'), ...env },
    cwd,
    signal,
  };
  const code = await run(words, surroundings);
  return { code, ...printed };
}

async function* stdinOf(text: string): AsyncGenerator<string> {
  if (text !== '') yield text;
}

/** A folder of the test with files. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), content);
  }
  return folder;
}

/** The words of a line that a person would type. */
export function wordsOf(line: string): string[] {
  const [, ...words] = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  );
  return words;
}
