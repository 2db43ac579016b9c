import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { readOnlyJson } from './code-setup.js';

interface JsonEditorViewProps {
  readonly text: string;
  readonly label: string;
}

/** Loaded lazily by `JsonView`. */
export default function JsonEditorView({ text, label }: JsonEditorViewProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (place.current === null) return;
    const view = new EditorView({
      parent: place.current,
      state: EditorState.create({ doc: text, extensions: readOnlyJson(label) }),
    });
    return () => view.destroy();
  }, [text, label]);
  return <div ref={place} className="code-view" />;
}
