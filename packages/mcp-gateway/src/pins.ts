import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { canonicalJson, type JsonValue } from '../../exact-json/src/index.js';
import { exactOf } from './exact-message.js';

/** What is known of a tool. */
export interface Pin {
  /** SHA-256 of what was approved, or seen first; null if nothing was approved yet. */
  readonly approved: string | null;
  /** SHA-256 of what waits for an approval. */
  readonly pending?: string | undefined;
  /** When the state last changed, as an ISO 8601 text. */
  readonly at: string;
}

/** Pins by `upstream/tool`. */
export type PinTable = { readonly [tool: string]: Pin };

/** `approved`: as it was seen first or approved. `new` and `changed`: not to be used before it is approved. */
export type PinState = 'approved' | 'new' | 'changed';

/** Remembers how tools were when they were first seen. */
export interface Pins {
  /** The state of each tool of an upstream; remembers those that were not seen before. */
  check(
    upstream: string,
    tools: readonly { readonly name: string }[],
  ): Promise<ReadonlyMap<string, PinState>>;
}

interface PinRules {
  readonly file?: string | undefined;
  readonly new_tools: 'accept' | 'quarantine';
  readonly changed_tools: 'accept' | 'quarantine';
}

/** SHA-256 of a tool with all that clients get of it, whatever the order of its members. */
export function toolHash(tool: object): string {
  return createHash('sha256')
    .update(canonicalJson(exactOf(tool) as JsonValue))
    .digest('hex');
}

export function createPins(
  { file, new_tools, changed_tools }: PinRules,
  now: () => Date = () => new Date(),
): Pins {
  let inMemory: PinTable = {};
  // One after the other: each begins with what the one before has written.
  let last: Promise<unknown> = Promise.resolve();

  async function check(
    upstream: string,
    tools: readonly { readonly name: string }[],
  ): Promise<ReadonlyMap<string, PinState>> {
    const table = file === undefined ? inMemory : await readPins(file);
    const changes: Record<string, Pin> = {};
    const states = new Map<string, PinState>();
    for (const tool of tools) {
      const key = `${upstream}/${tool.name}`;
      const hash = toolHash(tool);
      const pin = Object.hasOwn(table, key) ? table[key] : undefined;
      const at = now().toISOString();
      if (pin?.approved === hash) {
        states.set(tool.name, 'approved');
        if (pin.pending !== undefined) changes[key] = { approved: hash, at };
        continue;
      }
      const isKnown = pin !== undefined && pin.approved !== null;
      const isAccepted = (isKnown ? changed_tools : new_tools) === 'accept';
      states.set(tool.name, isAccepted ? 'approved' : isKnown ? 'changed' : 'new');
      if (isAccepted) changes[key] = { approved: hash, at };
      else if (pin?.pending !== hash) changes[key] = { approved: pin?.approved ?? null, pending: hash, at };
    }
    if (Object.keys(changes).length > 0) {
      inMemory = { ...table, ...changes };
      if (file !== undefined) await writePins(file, inMemory);
    }
    return states;
  }

  return {
    check(upstream, tools) {
      const next = last.then(() => check(upstream, tools));
      last = next.catch(() => {});
      return next;
    },
  };
}

/** The pins of a file; none if it does not exist. Throws if it is damaged: then nothing is known to be unchanged. */
export async function readPins(file: string): Promise<PinTable> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  try {
    const { version, tools } = JSON.parse(text) as { version?: unknown; tools?: unknown };
    if (version !== 1 || typeof tools !== 'object' || tools === null)
      throw new Error('it has no pins of version 1');
    return tools as PinTable;
  } catch (error) {
    throw new Error(`${file} is not a file of pins: ${(error as Error).message}`, { cause: error });
  }
}

/** Approves what waits, of all tools or of those with these keys, `upstream/tool`. Returns the keys that were approved. */
export async function approvePins(file: string, keys: readonly string[] | 'all'): Promise<string[]> {
  const table = await readPins(file);
  const waiting = Object.entries(table).filter(
    ([key, { pending }]) => pending !== undefined && (keys === 'all' || keys.includes(key)),
  );
  const at = new Date().toISOString();
  const approved = waiting.map(([key, { pending = null }]): [string, Pin] => [
    key,
    { approved: pending, at },
  ]);
  if (approved.length > 0) await writePins(file, { ...table, ...Object.fromEntries(approved) });
  return approved.map(([key]) => key);
}

async function writePins(file: string, tools: PinTable): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const beside = `${file}.${process.pid}`;
  await writeFile(beside, `${JSON.stringify({ version: 1, tools }, null, 2)}\n`, { mode: 0o600 });
  await rename(beside, file);
}
