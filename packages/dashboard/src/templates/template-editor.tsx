import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { jsonExtensions } from '../editor/code-mirror.js';

interface TemplateEditorProps {
  readonly text: string;
  readonly onChange: (text: string) => void;
}

/** The text of a template. Loaded lazily: most viewers only fill in values. */
export default function TemplateEditor({ text, onChange }: TemplateEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const first = useRef(text);
  const change = useRef(onChange);
  useEffect(() => {
    change.current = onChange;
  });
  useEffect(() => {
    if (place.current === null) return;
    const created = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          jsonExtensions('Template as JSON'),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) change.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = created;
    return () => {
      view.current = null;
      created.destroy();
    };
  }, []);
  useEffect(() => {
    const current = view.current?.state.doc.toString();
    if (current === undefined || current === text) return;
    view.current?.dispatch({ changes: { from: 0, to: current.length, insert: text } });
  }, [text]);
  return <div ref={place} className="code-view template-editor" />;
}
