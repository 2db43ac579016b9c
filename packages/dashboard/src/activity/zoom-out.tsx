import { fixedTimes, type Range, widened } from '../ui/range/range.js';

interface ZoomOutProps {
  readonly range: Range;
  readonly onRange: (range: Range) => void;
}

/** Doubles a range between two times, as one selects it in a chart; nothing for one that ends now. */
export function ZoomOut({ range, onRange }: ZoomOutProps) {
  if (fixedTimes(range) === undefined) return null;
  return (
    <button type="button" className="zoom-out" onClick={() => onRange(widened(range))}>
      Zoom out
    </button>
  );
}
