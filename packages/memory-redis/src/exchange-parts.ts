import { expiryOf, keptLabel } from '../../../src/decide/memory/store/exchange-rules.js';
import type {
  CellNews,
  CellRequest,
  EntryAddition,
  ExchangeRequest,
} from '../../../src/decide/memory/store/memory-store.js';
import { scriptKeys } from './namespace-keys.js';
import type { ScriptCall } from './redis-link.js';
import { EXCHANGE } from './scripts.js';

/** The part of an exchange that is of one namespace: indices in the request. */
interface Part {
  readonly namespace: string;
  readonly cells: number[];
  readonly groups: number[];
}

/** Times up to here are exact in a double, and a date that Redis takes: the year 2255. */
const LAST_US = 9_000_000_000_000_000;

/**
 * Splits an exchange by namespaces, whose keys may be on different nodes. The cells of a step are all of one, so that the rule
 * about earlier groups of the same cells holds within the parts.
 */
export function partsOf({ cells, groups }: ExchangeRequest): Part[] {
  const parts = new Map<string, Part>();
  const partOf = (namespace: string) => {
    const part = parts.get(namespace) ?? { namespace, cells: [], groups: [] };
    parts.set(namespace, part);
    return part;
  };
  cells.forEach(({ namespace }, index) => {
    partOf(namespace).cells.push(index);
  });
  groups.forEach((group, index) => {
    const first = cells[group.cells[0] ?? -1];
    if (first !== undefined) partOf(first.namespace).groups.push(index);
  });
  return [...parts.values()];
}

/** The call for a part. `isKnown`: whether what the process knows is of this history of the store. */
export function exchangeCall(
  part: Part,
  request: ExchangeRequest,
  offsetUs: number,
  isKnown: boolean,
): ScriptCall {
  const cells = part.cells.map((index) => request.cells[index] as CellRequest);
  const local = new Map(part.cells.map((index, position) => [index, String(position)]));
  const at = (index: number) => {
    const position = local.get(index);
    if (position === undefined)
      throw new RangeError(`cell ${index} is not of the namespace ${part.namespace}`);
    return position;
  };
  const args = [offsetUs, cells.length, part.groups.length].map(String);
  for (const cell of cells) {
    const { id, known, generation } = cell;
    args.push(id, keptLabel(cell), isKnown ? String(known) : '-1', isKnown ? String(generation) : '0');
  }
  for (const index of part.groups) {
    const group = request.groups[index];
    if (group === undefined) continue;
    args.push(String(group.cells.length), ...group.cells.map(at), String(group.additions.length));
    for (const addition of group.additions) args.push(at(addition.cell), ...additionArgs(addition));
  }
  const ids = cells.map(({ id }) => id);
  return { source: EXCHANGE, keys: scriptKeys(part.namespace, ids), args };
}

function additionArgs(addition: EntryAddition): string[] {
  const { entry, atUs, used, checkpoint } = addition;
  const expires = Math.min(expiryOf(addition), LAST_US);
  return [entry, String(atUs), String(expires), String(used), checkpoint ?? ''];
}

/** What the script of a part returns. */
export type PartReply = [
  news: [
    cell: number,
    version: number,
    generation: string,
    checkpoint: string | null,
    checkpointVersion: number,
    entries: string[],
  ][],
  applied: number[],
];

/** News as the store returns them. */
export function newsOf(part: Part, [news]: PartReply): CellNews[] {
  return news.map(([cell, version, generation, checkpoint, checkpointVersion, entries]) => ({
    cell: part.cells[cell] ?? -1,
    version,
    generation: Number(generation),
    checkpoint: checkpoint === null ? null : { text: checkpoint, version: checkpointVersion },
    entries: entries.map(entryText),
  }));
}

/** An entry without its time, which is before it. */
export function entryText(element: string): string {
  return element.slice(element.indexOf(':') + 1);
}
