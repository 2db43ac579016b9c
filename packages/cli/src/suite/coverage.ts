import type { Condition } from '../../../../src/manage/controls/definition/definition.js';
import { isDraft } from '../../../../src/manage/controls/definition/definition.js';
import type { FileProblem } from '../files/problems.js';
import type { OfflineControl } from '../offline/documents.js';
import type { TracedTree } from './judge.js';

/** A node of a condition, and what was never seen of it. */
export interface NodeCoverage extends Omit<FileProblem, 'message'> {
  readonly control: string;
  /** Its path in the document, such as data.condition.and[0]. */
  readonly path: string;
  readonly kind: 'leaf' | 'and' | 'or' | 'not';
  readonly wasTrue: boolean;
  readonly wasFalse: boolean;
}

/** What the cases have seen of all nodes. */
export interface CoverageReport {
  /** By file and control, each node after those around it. */
  readonly nodes: readonly NodeCoverage[];
  /** Share of the results, true and false of each node, that were seen: 0 to 100; 100 without nodes. */
  readonly percent: number;
}

/** Collects how the nodes of conditions were evaluated. */
export interface Coverage {
  /** Adds the nodes of a control that takes part. The same document counts once, whichever suites use it. */
  declare(control: OfflineControl): void;
  saw(control: OfflineControl, tree: TracedTree): void;
  report(): CoverageReport;
}

type SeenNode = { -readonly [Name in keyof NodeCoverage]: NodeCoverage[Name] };

export function createCoverage(): Coverage {
  const byPlace = new Map<string, SeenNode[]>();
  const byControl = new Map<OfflineControl, SeenNode[]>();

  const keyOf = ({ name, source: { file, placeOf } }: OfflineControl): string => {
    const { line, column } = placeOf([]);
    return JSON.stringify([file, line, column, name]);
  };
  function declare(one: OfflineControl): void {
    const { control } = one;
    if (isDraft(control) || !control.enabled || control.execution !== 'server') return;
    const key = keyOf(one);
    const nodes = byPlace.get(key) ?? [...nodesOf(control.condition, ['data', 'condition'], one)];
    byPlace.set(key, nodes);
    byControl.set(one, nodes);
  }

  return {
    declare,
    saw(control, tree) {
      const nodes = byControl.get(control) ?? [];
      for (const [index, seen] of [...inOrder(tree)].entries()) {
        const node = nodes[index];
        if (node === undefined || !seen.evaluated || (seen.error ?? null) !== null) continue;
        if (seen.matched === true) node.wasTrue = true;
        if (seen.matched === false) node.wasFalse = true;
      }
    },
    report() {
      const nodes = [...byPlace.values()].flat();
      const seen = nodes.reduce((sum, node) => sum + Number(node.wasTrue) + Number(node.wasFalse), 0);
      return { nodes, percent: nodes.length === 0 ? 100 : (seen / (2 * nodes.length)) * 100 };
    },
  };
}

/** What was never seen of a node; null if both results were. */
export function gapOf({ wasTrue, wasFalse }: NodeCoverage): string | null {
  if (wasTrue && wasFalse) return null;
  if (!wasTrue && !wasFalse) return 'never evaluated';
  return wasTrue ? 'never false' : 'never true';
}

function* nodesOf(
  condition: Condition,
  path: readonly PropertyKey[],
  one: OfflineControl,
): Generator<SeenNode> {
  const { name, source } = one;
  const { file } = source;
  const kind = 'and' in condition ? 'and' : 'or' in condition ? 'or' : 'not' in condition ? 'not' : 'leaf';
  const place = source.placeOf(path);
  yield { file, ...place, control: name, path: pathOf(path), kind, wasTrue: false, wasFalse: false };
  if ('not' in condition) yield* nodesOf(condition.not, [...path, 'not'], one);
  else if (kind !== 'leaf') {
    const children = 'and' in condition ? condition.and : 'or' in condition ? condition.or : [];
    for (const [index, child] of children.entries()) yield* nodesOf(child, [...path, kind, index], one);
  }
}

function* inOrder(tree: TracedTree): Generator<TracedTree> {
  yield tree;
  for (const child of tree.children ?? []) yield* inOrder(child);
}

function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${String(part)}`))
    .join('');
}
