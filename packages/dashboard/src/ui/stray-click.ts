import type { MouseEvent as ReactMouseEvent } from 'react';

/** A second click within this time belongs to the first one. */
const DOUBLE_MS = 800;
/** Distance within which a pointer rests. */
const REST_PX = 16;

interface Click {
  readonly x: number;
  readonly y: number;
  readonly timeMs: number;
  readonly button: Element | null;
}

let last: Click | null = null;
let before: Click | null = null;

document.addEventListener(
  'click',
  (event) => {
    // Clicks of the keyboard have no place.
    if (event.detail === 0) return;
    before = last;
    const button = event.target instanceof Element ? event.target.closest('button, a') : null;
    last = { x: event.clientX, y: event.clientY, timeMs: event.timeStamp, button };
  },
  { capture: true },
);

/**
 * Whether a click was meant for what was at its place a moment ago: the second one of a double click that meets another
 * button than the first, because the page has changed in between.
 */
export function isStrayClick({ detail }: ReactMouseEvent): boolean {
  if (detail === 0 || last === null || before === null) return false;
  return (
    last.timeMs - before.timeMs < DOUBLE_MS &&
    Math.hypot(last.x - before.x, last.y - before.y) < REST_PX &&
    last.button !== before.button
  );
}
