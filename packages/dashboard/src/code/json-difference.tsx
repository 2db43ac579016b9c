import { lazy, Suspense } from 'react';
import { useMediaQuery } from '../ui/browser/use-media-query.js';

const JsonMergeView = lazy(() => import('./json-merge-view.js'));
/** Below this width, two texts beside each other are too narrow to read. */
const NARROW = '(max-width: 899px)';

interface JsonDifferenceProps {
  readonly before: string;
  readonly after: string;
  readonly labels: readonly [before: string, after: string];
}

/** Two JSON texts beside each other with their differences marked; below each other in narrow windows. */
export function JsonDifference(props: JsonDifferenceProps) {
  const isUnified = useMediaQuery(NARROW);
  return (
    <Suspense fallback={<p className="muted">Loading the comparison…</p>}>
      <JsonMergeView {...props} isUnified={isUnified} />
    </Suspense>
  );
}
