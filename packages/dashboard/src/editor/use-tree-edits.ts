import { type Dispatch, useMemo } from 'react';
import {
  addNode,
  changeKind,
  duplicateNode,
  type EditedTree,
  moveDown,
  moveIn,
  moveNode,
  moveOut,
  moveUp,
  removeNode,
  unwrapNode,
  wrapNode,
} from './condition-edits.js';
import { type CompositeKind, type NodePath, newNode } from './condition-tree.js';
import { conditionOf, type EditorAction, type EditorState } from './editor-state.js';

/** Edits of the selected node. Null: not possible there. */
export interface TreeEdits {
  readonly add: (kind: CompositeKind | 'check') => void;
  readonly wrap: ((kind: CompositeKind) => void) | null;
  readonly changeKind: (kind: CompositeKind) => void;
  readonly unwrap: (() => void) | null;
  readonly duplicate: (() => void) | null;
  readonly remove: (() => void) | null;
  readonly moveUp: (() => void) | null;
  readonly moveDown: (() => void) | null;
  readonly moveOut: (() => void) | null;
  readonly moveIn: (() => void) | null;
  /** Moves a node, which need not be selected. */
  readonly move: (from: NodePath, parentPath: NodePath, index: number) => void;
}

export function useTreeEdits(
  { draft, selected }: Pick<EditorState, 'draft' | 'selected'>,
  dispatch: Dispatch<EditorAction>,
): TreeEdits {
  return useMemo(() => {
    const root = conditionOf(draft);
    const apply = (edited: EditedTree | null): void => {
      if (edited !== null) dispatch({ type: 'edit-tree', ...edited });
    };
    const edit = (edited: EditedTree | null) => (edited === null ? null : () => apply(edited));
    return {
      // Without a selected node, the root is meant.
      add: (kind) => apply(addNode(root, selected ?? [], newNode(kind))),
      wrap: selected && ((kind) => apply(wrapNode(root, selected, kind))),
      changeKind: (kind) => apply(selected && changeKind(root, selected, kind)),
      unwrap: edit(selected && unwrapNode(root, selected)),
      duplicate: edit(selected && duplicateNode(root, selected)),
      remove: edit(selected && removeNode(root, selected)),
      moveUp: edit(selected && moveUp(root, selected)),
      moveDown: edit(selected && moveDown(root, selected)),
      moveOut: edit(selected && moveOut(root, selected)),
      moveIn: edit(selected && moveIn(root, selected)),
      move: (from, parentPath, index) => apply(moveNode(root, from, parentPath, index)),
    };
  }, [draft, selected, dispatch]);
}
