import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { EvaluatorRegistry } from '../../../../src/kernel/core/evaluator.js';
import { PackFilesError } from '../../../../src/manage/packs/pack-reader.js';
import type { CommandContext } from '../context.js';
import { CliError } from '../errors.js';
import { documentsOf } from '../files/documents-of.js';
import { FilesError } from '../files/problems.js';
import { namesOf, readText } from '../files/read-text.js';
import type { PlacedDocument } from '../offline/placed-problems.js';
import { packSuites } from './pack-suites.js';
import type { Suite } from './suite.js';
import { readSuites } from './suite-reader.js';

type Files = Pick<CommandContext, 'cwd' | 'stdin'>;

/**
 * The suites of files, of folders with *.test.yaml, and of packs. Rejects with a `FilesError` with the problems of all files, or
 * a `CliError`.
 */
export async function loadSuites(
  context: Files,
  given: readonly string[],
  registry: EvaluatorRegistry,
): Promise<Suite[]> {
  const suites: Suite[] = [];
  const problems: FilesError['problems'][number][] = [];
  const documents = new Map<string, Promise<readonly PlacedDocument[]>>();
  const controlsAt = (suiteFile: string, named: string): Promise<readonly PlacedDocument[]> => {
    const place = path.join(path.dirname(suiteFile), named);
    const known = documents.get(place) ?? documentsAt(context, place);
    documents.set(place, known);
    return known;
  };
  for (const name of given) {
    const packs = await packFoldersOf(context.cwd, name);
    for (const folder of packs) suites.push(...(await suitesOfPack(context.cwd, folder, registry)));
    if (packs.length > 0) continue;
    for (const file of await namesOf(context.cwd, [name], 'suites')) {
      try {
        const { file: shown, text } = await readText(context, file);
        suites.push(...(await readSuites(shown, text, { registry, controlsAt, presentMs: Date.now() })));
      } catch (error) {
        if (!(error instanceof FilesError)) throw error;
        problems.push(...error.problems);
      }
    }
  }
  if (problems.length > 0) throw new FilesError(problems);
  return suites;
}

async function documentsAt(context: Files, place: string): Promise<readonly PlacedDocument[]> {
  const documents: PlacedDocument[] = [];
  for (const name of await namesOf(context.cwd, [place])) {
    const { file, text } = await readText(context, name);
    documents.push(...documentsOf(file, text));
  }
  return documents;
}

/** The folder itself if it is a pack, or the packs in it; none for anything else. */
async function packFoldersOf(cwd: string, name: string): Promise<string[]> {
  const folder = path.resolve(cwd, name);
  const isPack = (one: string): boolean => existsSync(path.join(one, 'pack.yaml'));
  if (isPack(folder)) return [name];
  // What does not exist, or is a file, is told by the reading of suites.
  const entries = await readdir(folder).catch(() => []);
  return entries
    .sort()
    .filter((entry) => isPack(path.join(folder, entry)))
    .map((entry) => path.join(name, entry));
}

async function suitesOfPack(cwd: string, folder: string, registry: EvaluatorRegistry): Promise<Suite[]> {
  try {
    return await packSuites(path.resolve(cwd, folder), registry, folder);
  } catch (error) {
    if (error instanceof PackFilesError) throw new CliError(error.message, undefined, { cause: error });
    throw error;
  }
}
