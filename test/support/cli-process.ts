import { type ChildProcess, spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type CliResult, folderWith } from './cli.js';

/** The command as `npm run build` bundles it. */
const COMMAND = path.resolve(import.meta.dirname, '../../packages/cli/bin/control-enforcement.js');

export interface ProcessOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** A process of a test, with what it has printed so far. */
export interface CliProcess {
  readonly child: ChildProcess;
  readonly printed: { stdout: string; stderr: string };
  readonly ended: Promise<CliResult>;
}

/** A folder with the command under its name, as `npm ci` makes `node_modules/.bin`. */
export function commandFolder(folder: string = folderWith()): string {
  symlinkSync(COMMAND, path.join(folder, 'control-enforcement'));
  return folder;
}

/** Starts the bundled command in a process of its own. */
export function startCommand(words: readonly string[], options: ProcessOptions = {}): CliProcess {
  return startProcess(process.execPath, [COMMAND, ...words], options);
}

/** Runs lines of a shell, in which the bundled command has its name. */
export function runShell(script: string, { env = {}, ...options }: ProcessOptions = {}): Promise<CliResult> {
  const PATH = `${commandFolder()}:${path.dirname(process.execPath)}:${process.env.PATH}`;
  return startProcess('bash', ['-c', script], { ...options, env: { PATH, ...env } }).ended;
}

/** Starts a process that no variable of the tests reaches, and ends it with the test. */
export function startProcess(
  file: string,
  words: readonly string[],
  { cwd = folderWith(), env = {}, stdin = '' }: ProcessOptions,
): CliProcess {
  const child = spawn(file, words, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, XDG_CONFIG_HOME: path.join(cwd, '.config'), ...env },
    stdio: 'pipe',
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.stderr += text;
  });
  child.stdin.on('error', () => {}).end(stdin);
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? -1, ...printed }));
  });
  return { child, printed, ended };
}
