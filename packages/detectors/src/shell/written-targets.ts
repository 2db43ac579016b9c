import { type Redirect, UNKNOWN, type Word } from '../../../shell-reader/src/index.js';
import { plainPath } from './denied-calls.js';
import type { Findings } from './findings.js';
import { DEVICE, DEVICE_WRITERS, HARMLESS_TARGET } from './programs.js';

/** Operators that write a file. */
const WRITING = new Set(['>', '>>', '>|', '&>', '&>>', '>&', '<>']);
const DESCRIPTOR = /^(?:\d+-?|-)$/;

const isDevice = (path: string): boolean => DEVICE.test(plainPath(path));

/** Checks the file that a redirection writes. */
export function checkRedirect(redirect: Redirect, findings: Findings): void {
  if (writesFile(redirect)) checkTarget(redirect.target.value, redirect.target, findings);
}

/** Checks the files and devices that the arguments of a program name, which it writes. */
export function checkWritten(name: string, args: readonly Word[], findings: Findings): void {
  const isCopy = name === 'dd';
  const writesFiles = isCopy || name === 'tee';
  if (!writesFiles && !DEVICE_WRITERS.test(name)) return;
  // The others of these programs read what their first arguments name.
  for (const word of name === 'cp' || name === 'mv' ? args.slice(-1) : args) {
    const { value } = word;
    if (value.startsWith('-') || (isCopy && !value.startsWith('of='))) continue;
    if (writesFiles) checkTarget(isCopy ? value.slice('of='.length) : value, word, findings);
    else if (isDevice(value)) findings.forbidden('write_device', word);
  }
}

function checkTarget(path: string, word: Word, findings: Findings): void {
  if (isDevice(path)) findings.forbidden('write_device', word);
  findings.forbidden('redirect_outside', word, outsideScore(path));
}

/** Whether the redirection writes a file, and not a descriptor or nothing. */
function writesFile({ operator, target }: Redirect): boolean {
  if (!WRITING.has(operator) || HARMLESS_TARGET.test(target.value)) return false;
  return operator !== '>&' || !DESCRIPTOR.test(target.value);
}

/** How certainly a path is outside the working directory: 1, less for one that is known only at run time, or 0. */
function outsideScore(path: string): number {
  if (HARMLESS_TARGET.test(path)) return 0;
  if (path.startsWith('/') || path.startsWith('~')) return 1;
  let depth = 0;
  for (const part of path.split('/', 1_000)) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return 1;
  }
  return path.startsWith(UNKNOWN) ? 0.6 : 0;
}
