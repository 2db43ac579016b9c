import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useLayoutEffect, useState } from 'react';
import { rowElements, rowIndexOf } from './table-dom.js';
import { type TablePart, tableParts } from './table-rows.js';

/** Longer tables draw only the rows in view. */
const VIRTUAL_ABOVE = 200;
const ROW_HEIGHT = 36;
const OVERSCAN = 12;

interface DrawnRows {
  /** Whether only some of the rows are drawn. */
  readonly isVirtual: boolean;
  readonly parts: readonly TablePart[];
  /** Notes which row has the focus; -1: none. */
  readonly setFocused: (index: number) => void;
  /** Gives a row the focus, wherever it is. */
  readonly focusRow: (index: number) => void;
}

/** The rows of a table that are drawn: all of a short one, those in view of a long one. */
export function useDrawnRows(scroller: RefObject<HTMLElement | null>, count: number): DrawnRows {
  const isVirtual = count > VIRTUAL_ABOVE;
  const [focused, setFocused] = useState(-1);
  const virtualizer = useVirtualizer({
    count,
    enabled: isVirtual,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
    // The head is above the rows and stays in view.
    scrollPaddingStart: ROW_HEIGHT,
    // A row with the focus stays where it is, wherever the table is scrolled to.
    rangeExtractor: (range) => {
      const drawn = defaultRangeExtractor(range);
      const isDrawn = focused < 0 || focused >= count || drawn.includes(focused);
      return isDrawn ? drawn : [...drawn, focused].sort((a, b) => a - b);
    },
  });
  const drawn = isVirtual ? virtualizer.getVirtualItems() : [];

  useLayoutEffect(() => {
    if (!isVirtual) return;
    for (const element of rowElements(scroller.current)) {
      const index = rowIndexOf(element);
      const height = element.getBoundingClientRect().height;
      if (height > 0 && height !== drawn.find((item) => item.index === index)?.size) {
        virtualizer.resizeItem(index, height);
      }
    }
  });

  const focusRow = (index: number): void => {
    setFocused(index);
    if (isVirtual) virtualizer.scrollToIndex(index);
    // Rows that come into view are drawn in the next frame.
    const focus = () =>
      rowElements(scroller.current)
        .find((row) => rowIndexOf(row) === index)
        ?.focus();
    requestAnimationFrame(() => requestAnimationFrame(focus));
  };
  return {
    isVirtual,
    parts: isVirtual
      ? tableParts(drawn, virtualizer.getTotalSize())
      : Array.from({ length: count }, (_row, index) => ({ index })),
    setFocused,
    focusRow,
  };
}
