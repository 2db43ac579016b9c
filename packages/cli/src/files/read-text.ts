import { isUtf8 } from 'node:buffer';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { CliError, messageOf } from '../errors.js';
import type { Surroundings } from '../surroundings.js';
import { FilesError } from './problems.js';

/** Largest file, in bytes: the parser of YAML takes some 30 times as much memory. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024;
const EXTENSION = /\.(?:ya?ml|json)$/;
const SUITE = /\.test\.(?:ya?ml|json)$/;
/** The name that messages give to the standard input. */
const STDIN = 'stdin';
/** What stands for "-", which the parser would take for an option. */
export const STDIN_PATH = '/dev/stdin';

/** A file as it is named in messages, with its text. */
export interface TextFile {
  readonly file: string;
  readonly text: string;
}

/**
 * The names of the files that arguments name: files themselves, the *.yaml, *.yml and *.json of folders without their suites
 * of tests (or only these), and "-". Sorted within each folder, each once. Throws a `CliError` for what does not exist.
 */
export async function namesOf(
  cwd: string,
  given: readonly string[],
  which: 'documents' | 'suites' = 'documents',
): Promise<readonly string[]> {
  const names: string[] = [];
  for (const name of given) {
    if (name === STDIN_PATH) names.push(name);
    else if ((await statOf(cwd, name)).isDirectory()) names.push(...(await inFolder(cwd, name, which)));
    else names.push(name);
  }
  return [...new Set(names)];
}

async function statOf(cwd: string, name: string) {
  try {
    return await stat(path.resolve(cwd, name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const what = code === 'ENOENT' ? 'there is no such file or folder' : messageOf(error);
    throw new CliError(`${name}:1:1: ${what}`, 'control-enforcement init makes a folder to begin with.');
  }
}

async function inFolder(cwd: string, folder: string, which: 'documents' | 'suites'): Promise<string[]> {
  const entries = await readdir(path.resolve(cwd, folder), { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => !entry.isDirectory() && EXTENSION.test(entry.name))
    .filter((entry) => SUITE.test(entry.name) === (which === 'suites'))
    .map((entry) => path.join(path.relative(path.resolve(cwd, folder), entry.parentPath), entry.name))
    .filter((name) => !name.split(path.sep).some((part) => part.startsWith('.') || part === 'node_modules'))
    .sort();
  if (names.length > 0) return names.map((name) => path.join(folder, name));
  const wanted = which === 'suites' ? '*.test.yaml' : '*.yaml, *.yml or *.json';
  throw new CliError(`${folder}:1:1: the folder has no ${wanted}`, 'Name files, or another folder.');
}

/** The text of a file, which is UTF-8 of at most 4 MB. Throws a `FilesError` with the place otherwise. */
export async function readText(
  { cwd, stdin }: Pick<Surroundings, 'cwd' | 'stdin'>,
  name: string,
): Promise<TextFile> {
  const file = name === STDIN_PATH ? STDIN : name;
  const at = (message: string, line = 1, column = 1) => new FilesError([{ file, line, column, message }]);
  const tooLarge = (bytes: string) =>
    at(`the file has ${bytes} bytes; the limit is ${MAX_FILE_BYTES}. Split it into several files`);
  let bytes: Buffer;
  if (name === STDIN_PATH) {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of stdin) {
      chunks.push(Buffer.from(chunk));
      length += chunk.length;
      if (length > MAX_FILE_BYTES) throw tooLarge(`more than ${MAX_FILE_BYTES}`);
    }
    bytes = Buffer.concat(chunks);
  } else {
    const { size } = await statOf(cwd, name);
    if (size > MAX_FILE_BYTES) throw tooLarge(String(size));
    try {
      bytes = await readFile(path.resolve(cwd, name));
    } catch (error) {
      throw at(`the file cannot be read: ${messageOf(error)}`);
    }
  }
  if (!isUtf8(bytes)) {
    const { line, column } = placeOfBrokenByte(bytes);
    throw at('the file is not UTF-8 from here on. Save it as UTF-8', line, column);
  }
  const text = bytes.toString('utf8');
  return { file, text: text.startsWith('\ufeff') ? text.slice(1) : text };
}

function placeOfBrokenByte(bytes: Buffer): { readonly line: number; readonly column: number } {
  let start = 0;
  for (let line = 1; ; line += 1) {
    const end = bytes.indexOf(0x0a, start);
    const content = bytes.subarray(start, end < 0 ? bytes.length : end);
    if (!isUtf8(content)) {
      const again = Buffer.from(content.toString('utf8'));
      let same = 0;
      while (same < content.length && content[same] === again[same]) same += 1;
      // What differs first may be in the middle of a character.
      return {
        line,
        column:
          [
            ...content
              .subarray(0, same)
              .toString('utf8')
              .replace(/\ufffd+$/, ''),
          ].length + 1,
      };
    }
    start = end + 1;
    if (end < 0) return { line, column: 1 };
  }
}
