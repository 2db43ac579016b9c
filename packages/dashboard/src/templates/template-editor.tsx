import { useEffect } from 'react';
import { useJsonEditor } from '../editor/use-json-editor.js';

interface TemplateEditorProps {
  readonly text: string;
  readonly onChange: (text: string) => void;
}

/** The text of a template. Loaded lazily: most viewers only fill in values. */
export default function TemplateEditor({ text, onChange }: TemplateEditorProps) {
  const { place, editor } = useJsonEditor({
    label: 'Template as JSON',
    initialText: () => text,
    onChange: ({ state }) => onChange(state.doc.toString()),
  });
  useEffect(() => {
    const current = editor.current?.state.doc.toString();
    if (current === undefined || current === text) return;
    editor.current?.dispatch({ changes: { from: 0, to: current.length, insert: text } });
  }, [text, editor]);
  return <div ref={place} className="code-view template-editor" />;
}
