import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { stringifyJson } from '../../../packages/exact-json/src/index.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { Pack, PackCase, PackControl, PackHead } from './pack.js';

/** Cases of either kind that are kept to be shown. */
const EXAMPLES = 3;
/** Most packs of a service. */
const MAX_PACKS = 200;

/** A control of a pack, with a few of its cases. */
export interface ListedControl extends Omit<PackControl, 'cases'> {
  readonly matchingCases: number;
  readonly otherCases: number;
  /** Those that match first. */
  readonly examples: readonly PackCase[];
}

/** A pack as it can be installed. */
export interface ListedPack extends PackHead {
  readonly builtIn: boolean;
  /** By key ascending. */
  readonly controls: readonly ListedControl[];
}

/** The text by which the definition of a control is stored. */
export function definitionText({ definition }: Pick<PackControl, 'definition'>): string {
  return stringifyJson(definition);
}

/** The packs of the service. */
export interface PackCatalogue {
  /** All packs, by name ascending. The first call reads the files of the built-in ones. */
  all(): Promise<readonly ListedPack[]>;
  find(name: string): Promise<ListedPack | undefined>;
}

export interface PackCatalogueOptions {
  /** The folder of the built-in packs. */
  readonly builtIn: string;
  /** Folders of the operator: of a pack each, or of packs. */
  readonly folders: readonly string[];
  readonly registry: EvaluatorRegistry;
}

/**
 * Opens the packs. Those of the operator are read at once: rejects with an Error whose message names the setting, and the
 * files with their problems, because a pack that is silently missing would be taken for one that checks something. The
 * built-in ones are read when they are first asked for, so that they cost no time at the start.
 */
export async function openPackCatalogue(options: PackCatalogueOptions): Promise<PackCatalogue> {
  const { builtIn, folders, registry } = options;
  const ownNames = new Set((await packFoldersIn(builtIn)).map((folder) => path.basename(folder)));
  const operators: ListedPack[] = [];
  for (const given of folders) {
    try {
      for (const folder of await packFoldersOf(given)) {
        const pack = await readPack(folder, registry, false);
        if (ownNames.has(pack.name)) throw new Error(`there is another pack named ${pack.name}`);
        ownNames.add(pack.name);
        operators.push(pack);
      }
    } catch (error) {
      throw new Error(`SERVICE_PACKS: ${given} cannot be used: ${messageOf(error)}`, { cause: error });
    }
  }
  let reading: Promise<ReadonlyMap<string, ListedPack>> | undefined;
  const read = (): Promise<ReadonlyMap<string, ListedPack>> => {
    reading ??= readAll().catch((error: unknown) => {
      // A file may be unreadable for a moment only.
      reading = undefined;
      throw error;
    });
    return reading;
  };

  async function readAll(): Promise<ReadonlyMap<string, ListedPack>> {
    const packs = [...operators];
    for (const folder of await packFoldersIn(builtIn)) packs.push(await readPack(folder, registry, true));
    packs.sort((one, other) => (one.name < other.name ? -1 : 1));
    return new Map(packs.map((pack) => [pack.name, pack]));
  }

  return {
    all: async () => [...(await read()).values()],
    find: async (name) => (await read()).get(name),
  };
}

/** The folder itself, if it is a pack, or the packs in it. */
async function packFoldersOf(folder: string): Promise<string[]> {
  if (existsSync(path.join(folder, 'pack.yaml'))) return [folder];
  const found = await packFoldersIn(folder);
  if (found.length === 0) throw new Error('it has neither a file pack.yaml nor folders with one');
  return found;
}

async function packFoldersIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).sort();
  const found = names
    .map((name) => path.join(folder, name))
    .filter((one) => existsSync(path.join(one, 'pack.yaml')));
  if (found.length > MAX_PACKS) throw new Error(`it has more than ${MAX_PACKS} packs`);
  return found;
}

/** The parser is loaded for the first pack only: most processes never read one. */
async function readPack(folder: string, registry: EvaluatorRegistry, builtIn: boolean): Promise<ListedPack> {
  const { readPackFolder } = await import('./pack-folder.js');
  const { controls, ...pack }: Pack = await readPackFolder(folder, registry, builtIn);
  return { ...pack, controls: controls.map(listedControl) };
}

function listedControl({ cases, ...control }: PackControl): ListedControl {
  const matching = cases.filter(({ matches }) => matches);
  const other = cases.filter(({ matches }) => !matches);
  return {
    ...control,
    matchingCases: matching.length,
    otherCases: other.length,
    examples: [...matching.slice(0, EXAMPLES), ...other.slice(0, EXAMPLES)],
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
