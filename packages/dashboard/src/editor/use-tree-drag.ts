import { type DragEvent, useEffect, useMemo, useRef, useState } from 'react';
import { isWithin, type NodePath, takesChild } from './condition-tree.js';
import type { DropPlace } from './tree-item.js';
import type { TreeRow } from './tree-rows.js';

/** Data that marks a node that is dragged within the page. */
const DRAG_TYPE = 'application/x-condition-node';

/** The row that a dragged node is over. */
export interface DropTarget {
  readonly key: string;
  readonly place: DropPlace;
}

type Move = (from: NodePath, parentPath: NodePath, index: number) => void;

/** Dragging of rows with the mouse. The keys and buttons of the tree do the same. */
export function useTreeDrag(move: Move) {
  const [target, setTarget] = useState<DropTarget | null>(null);
  const dragged = useRef<NodePath | null>(null);
  const currentMove = useRef(move);
  useEffect(() => {
    currentMove.current = move;
  });
  const actions = useMemo(() => {
    const end = (): void => {
      dragged.current = null;
      setTarget(null);
    };
    return {
      dragStart(row: TreeRow, event: DragEvent): void {
        dragged.current = row.path;
        event.dataTransfer.effectAllowed = 'move';
        event.dataTransfer.setData(DRAG_TYPE, row.path.join('.'));
      },
      dragOver(row: TreeRow, event: DragEvent): void {
        const place = placeOver(row, dragged.current, event);
        setTarget((last) => {
          if (place === null) return null;
          return last?.key === row.key && last.place === place ? last : { key: row.key, place };
        });
        if (place !== null) event.preventDefault();
      },
      drop(row: TreeRow, event: DragEvent): void {
        const from = dragged.current;
        const place = placeOver(row, from, event);
        end();
        if (from === null || place === null) return;
        event.preventDefault();
        const at = row.path.at(-1) ?? 0;
        if (place === 'into') currentMove.current(from, row.path, row.children);
        else currentMove.current(from, row.path.slice(0, -1), place === 'after' ? at + 1 : at);
      },
      end,
    };
  }, []);
  return { target, actions };
}

/** Where a node would go when it is dropped. Null: nowhere. */
function placeOver(row: TreeRow, from: NodePath | null, event: DragEvent): DropPlace | null {
  if (from === null || isWithin(row.path, from)) return null;
  const box = event.currentTarget.getBoundingClientRect();
  const share = (event.clientY - box.top) / box.height;
  if (takesChild(row.node) && (row.path.length === 0 || (share > 0.3 && share < 0.7))) return 'into';
  if (row.path.length === 0) return null;
  return share < 0.5 ? 'before' : 'after';
}
