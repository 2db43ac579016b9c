import type { KeyboardEvent } from 'react';
import type { TreeRow } from './tree-rows.js';
import type { UndoActions } from './tree-toolbar.js';
import type { TreeEdits } from './use-tree-edits.js';

/** What the keys of the tree act on. */
export interface TreeKeyContext {
  readonly rows: readonly TreeRow[];
  /** Index of the selected row. -1: the control. */
  readonly at: number;
  readonly edits: TreeEdits;
  readonly history: UndoActions;
  /** Selects the row of an index; -1 selects the control. */
  readonly selectAt: (index: number) => void;
  readonly toggle: (row: TreeRow) => void;
  /** Moves the focus to the form of the selected node. */
  readonly openForm: () => void;
  readonly openAddMenu: () => void;
}

type KeyAction = (() => void) | null | undefined;

/** The action of a pressed key. Null: the key acts, but not here. Undefined: the key means nothing to the tree. */
export function treeKeyAction(event: KeyboardEvent, context: TreeKeyContext): KeyAction {
  const { rows, at, edits, history, selectAt, openForm, openAddMenu } = context;
  const { key, altKey, shiftKey } = event;
  if (event.ctrlKey || event.metaKey) {
    if (key.toLowerCase() === 'z') return shiftKey ? history.redo : history.undo;
    return key.toLowerCase() === 'y' ? history.redo : undefined;
  }
  if (altKey) {
    const moves: Record<string, KeyAction> = {
      ArrowUp: edits.moveUp,
      ArrowDown: edits.moveDown,
      ArrowLeft: edits.moveOut,
      ArrowRight: edits.moveIn,
    };
    return moves[key];
  }
  switch (key) {
    case 'ArrowDown':
      return at + 1 < rows.length ? () => selectAt(at + 1) : null;
    case 'ArrowUp':
      return at >= 0 ? () => selectAt(at - 1) : null;
    case 'ArrowLeft':
      return leftAction(context);
    case 'ArrowRight':
      return rightAction(context);
    case 'Home':
      return () => selectAt(-1);
    case 'End':
      return () => selectAt(rows.length - 1);
    case 'Enter':
      return openForm;
    case 'Delete':
    case 'Backspace':
      return edits.remove;
    case 'a':
      return openAddMenu;
    default:
      return undefined;
  }
}

/** Closes an open node, or goes to its parent. */
function leftAction({ rows, at, selectAt, toggle }: TreeKeyContext): KeyAction {
  const row = rows[at];
  if (row === undefined) return null;
  if (row.children > 0 && row.isOpen) return () => toggle(row);
  const parent = rows.slice(0, at).findLastIndex(({ level }) => level < row.level);
  return () => selectAt(parent);
}

/** Opens a closed node, or goes to its first child. */
function rightAction({ rows, at, selectAt, toggle }: TreeKeyContext): KeyAction {
  const row = rows[at];
  if (row === undefined) return () => selectAt(0);
  if (row.children === 0) return null;
  return row.isOpen ? () => selectAt(at + 1) : () => toggle(row);
}
