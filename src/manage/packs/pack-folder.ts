import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Pack } from './pack.js';
import { createPackReader, PackFilesError } from './pack-reader.js';

/** Most files of a pack, and bytes of each: the reader works in the thread that serves calls. */
const MAX_FILES = 1_000;
const MAX_FILE_BYTES = 256 * 1024;
const FILE = /\.(?:ya?ml|json)$/;

/**
 * Reads the pack of a folder: all its files with the endings .yaml, .yml and .json, in this folder and below. The name of
 * the pack is that of the folder. Rejects with a `PackFilesError`, or an error of the file system. Yields to the event loop
 * after each file.
 */
export async function readPackFolder(
  folder: string,
  registry: EvaluatorRegistry,
  builtIn: boolean,
): Promise<Pack> {
  const reader = createPackReader(folder, path.basename(path.resolve(folder)), registry, builtIn);
  const names = (await readdir(folder, { recursive: true })).filter((name) => FILE.test(name)).sort();
  if (names.length > MAX_FILES) {
    throw new PackFilesError([`${folder}:1:1: the pack has more than ${MAX_FILES} files`]);
  }
  for (const name of names) {
    const file = path.join(folder, name);
    const { size } = await stat(file);
    if (size > MAX_FILE_BYTES) {
      throw new PackFilesError([
        `${file}:1:1: the file has ${size} bytes; at most ${MAX_FILE_BYTES} are read`,
      ]);
    }
    reader.add(file, await readFile(file, 'utf8'));
    await nextTurn();
  }
  return reader.pack();
}
