import type { ConditionNode } from './condition.js';
import type { EvaluationSize } from './evaluation.js';
import type { EvaluatorPart } from './evaluator-part.js';
import { compileLeaf, type LeafParts, type WithTimeout } from './leaf.js';
import { createSelectorTable } from './selector-table.js';
import { createTextScan, MIN_SCANNED_SEARCHES, type TextScan } from './text-scan.js';
import type { TraceMaker } from './trace.js';

/** A leaf of a condition: selector path and evaluator. */
interface Leaf {
  readonly path: string;
  /** See `LeafView`. */
  readonly required: boolean;
  readonly part: EvaluatorPart;
  /** See `LeafPlace`. */
  readonly negated: boolean;
  /** Whether the condition may run more than once in an evaluation, because it has checks with memory. */
  readonly runsAgain?: boolean;
}

/** The leaves of a program. */
export interface LeafTable {
  /** The same node for equal leaves: it runs once per evaluation. */
  node(leaf: Leaf): ConditionNode;
  readonly size: EvaluationSize;
  /** Estimated memory of the nodes and scans, in bytes. */
  readonly sizeBytes: number;
  /** The evaluators of all leaves, each once. */
  readonly parts: readonly EvaluatorPart[];
}

interface LeafOptions {
  readonly withTimeout?: WithTimeout | undefined;
  readonly traces: TraceMaker;
}

interface Entry extends Leaf {
  uses: number;
  node: ConditionNode | null;
}

/** Memory of one node, in bytes. */
const NODE_BYTES = 800;

/**
 * Collects the leaves of all controls of a program, yielding after each small part of the work. Parts are compared
 * by identity.
 */
export function* leafTableSteps(leaves: Iterable<Leaf>, options: LeafOptions): Generator<void, LeafTable> {
  const byPath = gather(leaves);
  const selectors = createSelectorTable();
  const scans: TextScan[] = [];
  const parts = new Set<EvaluatorPart>();
  let shared = 0;
  let nodes = 0;

  for (const group of byPath.values()) {
    const { path, required } = group;
    const entries = [...group.plain.values(), ...group.negated.values()];
    const selector = selectors.slot(path);
    const searchOf = yield* createSearches(entries, scans);
    for (const entry of entries) {
      yield;
      const search = searchOf(entry);
      const slot = entry.uses > 1 ? shared++ : null;
      const { part, negated } = entry;
      entry.node = compileLeaf({ selector, required, part, negated, slot, search, ...options });
      parts.add(part);
    }
    nodes += entries.length;
  }
  return {
    node({ path, required, part, negated }) {
      const group = byPath.get(groupKey(path, required));
      const node = (negated ? group?.negated : group?.plain)?.get(part)?.node;
      if (!node) throw new Error(`a leaf on ${path} was not gathered`);
      return node;
    },
    size: { selectors: selectors.size, sharedLeaves: shared, scans: scans.map(({ size }) => size) },
    sizeBytes: nodes * NODE_BYTES + scans.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    parts: [...parts],
  };
}

/** The leaves with one selector, each once. */
interface PathGroup {
  readonly path: string;
  readonly required: boolean;
  readonly plain: Map<EvaluatorPart, Entry>;
  readonly negated: Map<EvaluatorPart, Entry>;
}

function gather(leaves: Iterable<Leaf>): Map<string, PathGroup> {
  const byPath = new Map<string, PathGroup>();
  for (const { path, required, part, negated, runsAgain = false } of leaves) {
    const uses = runsAgain ? 2 : 1;
    const key = groupKey(path, required);
    let group = byPath.get(key);
    if (group === undefined) {
      group = { path, required, plain: new Map(), negated: new Map() };
      byPath.set(key, group);
    }
    const entries = negated ? group.negated : group.plain;
    const entry = entries.get(part);
    if (entry === undefined) entries.set(part, { path, required, part, negated, uses, node: null });
    else entry.uses += uses;
  }
  return byPath;
}

/** No path begins with an exclamation mark. */
function groupKey(path: string, required: boolean): string {
  return required ? `!${path}` : path;
}

/** Whether a leaf is a search with known literals. */
function isSearch({ part }: Leaf): boolean {
  return (part.compiled.prefilter?.literals ?? null) !== null;
}

type Search = LeafParts['search'];

/** Returns the search of each leaf with one path: plain and normalised texts are scanned separately. */
function* createSearches(
  entries: readonly Entry[],
  scans: TextScan[],
): Generator<void, (entry: Entry) => Search> {
  const searches = new Map<Entry, Search>();
  for (const normalizes of [false, true]) {
    const same = entries.filter(({ part }) => part.compiled.prefilter?.normalizes === normalizes);
    const scan = yield* createScan(same, scans, normalizes);
    if (scan === null) continue;
    for (const [index, entry] of same.filter(isSearch).entries()) searches.set(entry, { scan, index });
  }
  return (entry) => searches.get(entry) ?? null;
}

/** Null when there are too few searches: literals are costly to find, so they are not read for a few. */
function* createScan(
  candidates: readonly Leaf[],
  scans: TextScan[],
  normalizes: boolean,
): Generator<void, TextScan | null> {
  if (candidates.length < MIN_SCANNED_SEARCHES) return null;
  const literals: (readonly string[])[] = [];
  for (const { part } of candidates) {
    yield;
    const some = part.compiled.prefilter?.literals ?? null;
    if (some !== null) literals.push(some);
  }
  if (literals.length < MIN_SCANNED_SEARCHES) return null;
  const scan = createTextScan(literals, scans.length, normalizes);
  scans.push(scan);
  return scan;
}
