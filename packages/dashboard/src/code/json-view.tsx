import { lazy, Suspense } from 'react';

const JsonEditorView = lazy(() => import('./json-editor-view.js'));

interface JsonViewProps {
  readonly text: string;
  /** What the text is, for screen readers. */
  readonly label: string;
}

/** JSON text to read: highlighted, with line numbers and folding. Plain until the editor is loaded. */
export function JsonView({ text, label }: JsonViewProps) {
  return (
    <Suspense fallback={<pre className="code">{text}</pre>}>
      <JsonEditorView text={text} label={label} />
    </Suspense>
  );
}
