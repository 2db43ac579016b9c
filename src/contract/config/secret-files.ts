import { readFileSync, statSync } from 'node:fs';
import { DATABASE_SECRET_NAMES, type Environment } from './config-database.js';
import { SETTINGS } from './settings.js';

/** Appended to the name of a secret variable, it names the variable for a file with the secret. */
const FILE_SUFFIX = '_FILE';
/** Largest file of a secret, in bytes. */
const MAX_SECRET_BYTES = 1024 * 1024;

/** The variable that names the file of a secret variable. */
export function fileVariableOf(name: string): string {
  return `${name}${FILE_SUFFIX}`;
}

/** The names of all variables with a secret: of those in the tables, and of the database. */
export function secretNames(): string[] {
  const secrets = SETTINGS.filter(({ reader }) => reader.isSecret === true);
  return [...secrets.flatMap(({ names }) => names), ...DATABASE_SECRET_NAMES];
}

/**
 * Adds every secret that the environment names a file for, as if its variable had the content of the file without
 * the line breaks at its end. Adds a problem if the variable is set too, and if the file cannot be used.
 */
export function withSecretFiles(environment: Environment, problems: string[]): Environment {
  const read: Record<string, string> = {};
  for (const name of secretNames()) {
    const variable = fileVariableOf(name);
    const file = environment[variable]?.trim() ?? '';
    if (file === '') continue;
    if ((environment[name] ?? '').trim() !== '') {
      problems.push(`${variable}: ${name} is set too; remove one of them`);
      continue;
    }
    const secret = readSecret(file);
    // The content is never repeated.
    if ('problem' in secret) problems.push(`${variable}: the file ${file} ${secret.problem}`);
    else read[name] = secret.text;
  }
  return { ...environment, ...read };
}

function readSecret(file: string): { readonly text: string } | { readonly problem: string } {
  let bytes: Buffer;
  try {
    // A size first: devices and pipes could be endless.
    const found = statSync(file);
    if (!found.isFile()) return { problem: 'is not a regular file' };
    if (found.size > MAX_SECRET_BYTES) return { problem: `has more than ${MAX_SECRET_BYTES} bytes` };
    bytes = readFileSync(file);
  } catch (error) {
    return { problem: `cannot be read (${error instanceof Error ? error.message : String(error)})` };
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/[\r\n]+$/, '');
  } catch {
    return { problem: 'is not text in UTF-8' };
  }
  if (text.trim() === '') return { problem: 'is empty' };
  if (/[\0\r\n]/.test(text)) return { problem: 'has more than one line' };
  return { text };
}
