import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react';

/** Intervals of a chart that are selected, the first and the last. */
export interface Selection {
  readonly first: number;
  readonly last: number;
}

interface Drag {
  readonly from: number;
  readonly to: number;
  readonly startX: number;
  readonly hasMoved: boolean;
  /** Whether the pointer is held. */
  readonly isHeld: boolean;
}

/** A click does not move further than this, in pixels. */
const CLICK_PIXELS = 6;

interface BrushOptions {
  readonly count: number;
  /** Called with the selected intervals. Without it, nothing can be selected. */
  readonly onSelect: ((selection: Selection) => void) | undefined;
}

/** What a chart needs for a selection by the pointer, or with Shift and the arrow keys and then Enter. */
export interface Brush {
  readonly selection: Selection | undefined;
  readonly onPointerDown: (event: PointerEvent, index: number) => void;
  readonly onPointerMove: (event: PointerEvent, index: number) => void;
  readonly onPointerUp: () => void;
  /** Whether a click is the end of a selection, and not one on a bar. */
  readonly takesClick: () => boolean;
  /** Whether a key is one of the selection. */
  readonly takesKey: (event: KeyboardEvent, at: number, next: number | undefined) => boolean;
}

/** A selection of intervals by dragging over them. */
export function useBrush({ count, onSelect }: BrushOptions): Brush {
  const [drag, setDrag] = useState<Drag>();
  // The click that follows the end of a drag.
  const isClickTaken = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other intervals have no selection
  useEffect(() => setDrag(undefined), [count]);
  const selection =
    drag === undefined || !drag.hasMoved
      ? undefined
      : { first: Math.min(drag.from, drag.to), last: Math.max(drag.from, drag.to) };
  const finish = (): void => {
    setDrag(undefined);
    if (selection !== undefined) onSelect?.(selection);
  };
  return {
    selection,
    onPointerDown: ({ button, isPrimary, clientX }, index) => {
      isClickTaken.current = false;
      if (button !== 0 || !isPrimary || onSelect === undefined) return;
      setDrag({ from: index, to: index, startX: clientX, hasMoved: false, isHeld: true });
    },
    onPointerMove: ({ clientX, currentTarget, pointerId }, index) => {
      if (drag === undefined || !drag.isHeld) return;
      const hasMoved = drag.hasMoved || Math.abs(clientX - drag.startX) > CLICK_PIXELS;
      if (hasMoved && !drag.hasMoved) currentTarget.setPointerCapture(pointerId);
      if (hasMoved !== drag.hasMoved || index !== drag.to) setDrag({ ...drag, to: index, hasMoved });
    },
    onPointerUp: () => {
      if (drag?.isHeld !== true) return;
      isClickTaken.current = drag.hasMoved;
      finish();
    },
    takesClick: () => isClickTaken.current,
    takesKey: (event, at, next) => {
      if (onSelect === undefined) return false;
      if (event.shiftKey && next !== undefined) {
        const from = drag?.hasMoved === true ? drag.from : at;
        setDrag({ from, to: next, startX: 0, hasMoved: true, isHeld: false });
        // The focus moves with it.
        return false;
      }
      if (selection === undefined) return false;
      if (event.key === 'Enter') finish();
      else if (event.key === 'Escape') setDrag(undefined);
      else {
        if (next !== undefined) setDrag(undefined);
        return false;
      }
      return true;
    },
  };
}
