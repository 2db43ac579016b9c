import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addNode,
  changeKind,
  duplicateNode,
  moveDown,
  moveIn,
  moveNode,
  moveOut,
  moveUp,
  removeNode,
  type TreeEdit,
  unwrapNode,
  wrapNode,
} from '../../../packages/dashboard/src/editor/condition-edits.js';
import {
  COMPOSITE_KINDS,
  type ConditionNode,
  childrenOf,
  hasNode,
  type NodePath,
  newNode,
  nodeAt,
  nodeKey,
  reconciled,
  withNode,
} from '../../../packages/dashboard/src/editor/condition-tree.js';

const check = (name: string) => ({ selector: { path: 'input' }, evaluator: { name, config: {} } });
const [a, b, c] = [check('a'), check('b'), check('c')];

/** Trees of checks with different names, some with members that the service does not have. */
const trees: fc.Arbitrary<ConditionNode> = fc
  .letrec<{ node: object }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.record(
        {
          selector: fc.record({ path: fc.constant('input') }),
          evaluator: fc.record({ name: fc.uuid() }),
          note: fc.nat(),
        },
        { requiredKeys: ['selector', 'evaluator'] },
      ),
      fc.record({ note: fc.nat(), and: fc.array(tie('node'), { maxLength: 4 }) }, { requiredKeys: ['and'] }),
      fc.record({ or: fc.array(tie('node'), { maxLength: 4 }), note: fc.nat() }, { requiredKeys: ['or'] }),
      fc.record({ not: tie('node') }),
    ),
  }))
  .node.map((node) => node as ConditionNode);

function pathsOf(root: ConditionNode, path: NodePath = []): NodePath[] {
  return [path, ...childrenOf(nodeAt(root, path)).flatMap((_, index) => pathsOf(root, [...path, index]))];
}

/** A tree with the path of one of its nodes. */
const places = trees.chain((root) => fc.constantFrom(...pathsOf(root)).map((path) => ({ root, path })));

const namesIn = (root: ConditionNode) =>
  [...JSON.stringify(root ?? null).matchAll(/"name":"([^"]*)"/g)].map(([, name]) => name);
const sorted = (names: readonly unknown[]) => [...names].sort();

describe('edits of a condition', () => {
  it('add below composites, beside checks, and around a lone check', () => {
    expect(addNode({ and: [a] }, [], b)).toEqual({ root: { and: [a, b] }, path: [1] });
    expect(addNode({ and: [a, c] }, [0], b)).toEqual({ root: { and: [a, b, c] }, path: [1] });
    expect(addNode(a, [], b)).toEqual({ root: { and: [a, b] }, path: [1] });
    expect(addNode({ not: a }, [], b)).toEqual({ root: { and: [{ not: a }, b] }, path: [1] });
    expect(addNode({ not: null }, [], b)).toEqual({ root: { not: b }, path: [0] });
    expect(addNode({ not: a }, [0], b)).toEqual({ root: { not: { and: [a, b] } }, path: [0, 1] });
  });

  it('remove nodes, and leave a check in place of the root', () => {
    expect(removeNode({ or: [a, b] }, [0])).toEqual({ root: { or: [b] }, path: [0] });
    expect(removeNode({ or: [a] }, [0])).toEqual({ root: { or: [] }, path: [] });
    expect(removeNode({ not: a }, [0])).toEqual({ root: { not: null }, path: [] });
    expect(removeNode(a, [])?.root).toEqual(newNode('check'));
  });

  it('change a kind without losing children or other members', () => {
    expect(changeKind({ and: [a], note: 1 }, [], 'or')?.root).toEqual({ or: [a], note: 1 });
    expect(changeKind({ or: [a] }, [], 'not')?.root).toEqual({ not: a });
    expect(changeKind({ or: [a, b] }, [], 'not')?.root).toEqual({ not: { or: [a, b] } });
    expect(changeKind({ not: a }, [], 'and')?.root).toEqual({ and: [a] });
    expect(changeKind(a, [], 'and')).toBeNull();
  });

  it('unwrap into a list or into the only child', () => {
    expect(unwrapNode({ and: [a, { or: [b, c] }] }, [1])).toEqual({ root: { and: [a, b, c] }, path: [1] });
    expect(unwrapNode({ not: a }, [])).toEqual({ root: a, path: [] });
    expect(unwrapNode({ and: [a, b] }, [])).toBeNull();
    expect(unwrapNode({ not: { and: [a, b] } }, [0])).toBeNull();
  });

  it('move up, down, out and in', () => {
    const root = { and: [a, { or: [b] }, c] };
    expect(moveUp(root, [1])).toEqual({ root: { and: [{ or: [b] }, a, c] }, path: [0] });
    expect(moveDown(root, [0])).toEqual({ root: { and: [{ or: [b] }, a, c] }, path: [1] });
    expect(moveOut(root, [1, 0])).toEqual({ root: { and: [a, { or: [] }, b, c] }, path: [2] });
    expect(moveIn(root, [2])).toEqual({ root: { and: [a, { or: [b, c] }] }, path: [1, 1] });
    expect(moveIn(root, [0])).toEqual({ root: { and: [{ or: [a, b] }, c] }, path: [0, 0] });
    expect(moveOut({ and: [{ not: { or: [a] } }] }, [0, 0, 0])).toEqual({
      root: { and: [{ not: { or: [] } }, a] },
      path: [1],
    });
    expect([moveUp(root, [0]), moveDown(root, [2]), moveOut(root, [0]), moveUp(root, [])]).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });

  it('never move a node into itself or into a full NOT', () => {
    expect(moveNode({ and: [{ or: [a] }, b] }, [0], [0], 0)).toBeNull();
    expect(moveNode({ and: [{ or: [{ and: [] }] }, b] }, [0], [0, 0], 0)).toBeNull();
    expect(moveNode({ and: [{ not: a }, b] }, [1], [0], 0)).toBeNull();
  });

  const moves: [string, TreeEdit][] = [
    ['moveUp', moveUp],
    ['moveDown', moveDown],
    ['moveIn', moveIn],
    ['moveOut', moveOut],
    ['unwrapNode', unwrapNode],
    ...COMPOSITE_KINDS.flatMap((kind): [string, TreeEdit][] => [
      [`wrapNode ${kind}`, (root, path) => wrapNode(root, path, kind)],
      [`changeKind ${kind}`, (root, path) => changeKind(root, path, kind)],
    ]),
  ];
  it.each(moves)('%s keeps every check and selects a node that exists', (_, edit) => {
    fc.assert(
      fc.property(places, ({ root, path }) => {
        const before = JSON.stringify(root);
        const edited = edit(root, path);
        expect(JSON.stringify(root)).toBe(before);
        if (edited === null) return;
        expect(sorted(namesIn(edited.root))).toEqual(sorted(namesIn(root)));
        expect(hasNode(edited.root, edited.path)).toBe(true);
      }),
    );
  });

  it.each([
    ['moveUp', moveUp, moveDown],
    ['moveDown', moveDown, moveUp],
  ] as const)('%s is undone by its opposite', (_, edit, opposite) => {
    fc.assert(
      fc.property(places, ({ root, path }) => {
        const edited = edit(root, path);
        if (edited === null) return;
        expect(opposite(edited.root, edited.path)).toEqual({ root, path });
      }),
    );
  });

  it('moving to any place keeps the node that moves and every other', () => {
    const moved = places.chain(({ root, path }) =>
      fc.record({
        root: fc.constant(root),
        from: fc.constant(path),
        to: fc.constantFrom(...pathsOf(root)),
        index: fc.nat({ max: 4 }),
      }),
    );
    fc.assert(
      fc.property(moved, ({ root, from, to, index }) => {
        const edited = moveNode(root, from, to, Math.min(index, childrenOf(nodeAt(root, to)).length));
        if (edited === null) return;
        expect(nodeAt(edited.root, edited.path)).toEqual(nodeAt(root, from));
        expect(sorted(namesIn(edited.root))).toEqual(sorted(namesIn(root)));
      }),
    );
  });

  it('duplicating adds exactly the copied checks', () => {
    fc.assert(
      fc.property(places, ({ root, path }) => {
        const edited = duplicateNode(root, path);
        expect(sorted(namesIn(edited?.root))).toEqual(
          sorted([...namesIn(root), ...namesIn(nodeAt(root, path))]),
        );
        expect(nodeAt(edited?.root, edited?.path ?? [])).toEqual(nodeAt(root, path));
      }),
    );
  });
});

describe('the identity of nodes', () => {
  it('stays when the node or a node below it is edited, and differs between nodes', () => {
    const root = { and: [{ or: [a] }, b] };
    const edited = withNode(root, [0, 0], c);
    expect(nodeKey(edited)).toBe(nodeKey(root));
    expect(nodeKey(nodeAt(edited, [0]))).toBe(nodeKey(nodeAt(root, [0])));
    expect(nodeKey(nodeAt(edited, [0, 0]))).toBe(nodeKey(a));
    expect(nodeKey(nodeAt(edited, [1]))).not.toBe(nodeKey(nodeAt(edited, [0])));
    expect(nodeKey(wrapNode(root, [1], 'not').root)).toBe(nodeKey(root));
    expect(nodeKey(nodeAt(wrapNode(root, [1], 'not').root, [1]))).not.toBe(nodeKey(b));
  });

  it('is never shared by two nodes of a tree', () => {
    const edits: TreeEdit[] = [
      (root, path) => addNode(root, path, newNode('or')),
      (root, path) => wrapNode(root, path, 'not'),
      ...[unwrapNode, duplicateNode, moveUp, moveIn, moveOut, removeNode],
    ];
    fc.assert(
      fc.property(places, fc.constantFrom(...edits), ({ root, path }, edit) => {
        const edited = edit(root, path)?.root ?? root;
        const keys = pathsOf(edited)
          .map((one) => nodeKey(nodeAt(edited, one)))
          .filter((key) => key !== undefined);
        expect(new Set(keys).size).toBe(keys.length);
      }),
    );
  });

  it('stays when the same tree is read again', () => {
    fc.assert(
      fc.property(trees, trees, (before, next) => {
        const again = structuredClone(before);
        expect(reconciled(before as never, again as never)).toBe(before);
        expect(reconciled(before as never, next as never)).toEqual(next);
      }),
    );
  });
});
