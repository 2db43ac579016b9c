import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { readOnlyJson } from './code-setup.js';

/** Unchanged lines around a change that stay visible, and the fewest lines that are folded. */
const COLLAPSED = { margin: 3, minSize: 8 };

interface JsonMergeViewProps {
  readonly before: string;
  readonly after: string;
  readonly labels: readonly [before: string, after: string];
  /** Whether the texts are shown below each other, for narrow windows. */
  readonly isUnified: boolean;
}

/** Loaded lazily by `JsonDifference`. */
export default function JsonMergeView({ before, after, labels, isUnified }: JsonMergeViewProps) {
  const place = useRef<HTMLDivElement>(null);
  const [labelBefore, labelAfter] = labels;
  useEffect(() => {
    const parent = place.current;
    if (parent === null) return;
    if (isUnified) {
      const extensions = [
        readOnlyJson(`Changes from ${labelBefore} to ${labelAfter}`),
        unifiedMergeView({
          original: before,
          mergeControls: false,
          syntaxHighlightDeletions: true,
          collapseUnchanged: COLLAPSED,
        }),
      ];
      const view = new EditorView({ parent, state: EditorState.create({ doc: after, extensions }) });
      return () => view.destroy();
    }
    const view = new MergeView({
      parent,
      a: { doc: before, extensions: readOnlyJson(labelBefore) },
      b: { doc: after, extensions: readOnlyJson(labelAfter) },
      collapseUnchanged: COLLAPSED,
      gutter: true,
    });
    return () => view.destroy();
  }, [before, after, labelBefore, labelAfter, isUnified]);
  return <div ref={place} className="code-view difference" />;
}
