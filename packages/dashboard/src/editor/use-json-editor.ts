import { EditorState } from '@codemirror/state';
import { EditorView, type ViewUpdate } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { jsonExtensions } from './code-mirror.js';

interface JsonEditorOptions {
  readonly label: string;
  /** The text at first. */
  readonly initialText: () => string;
  /** Called when the text is another one, whatever has changed it. */
  readonly onChange: (update: ViewUpdate) => void;
}

/** A text editor for JSON, in the element with the returned ref. */
export function useJsonEditor(options: JsonEditorOptions) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    if (place.current === null) return;
    const { label, initialText } = latest.current;
    const view = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: initialText(),
        extensions: [
          jsonExtensions(label),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update);
          }),
        ],
      }),
    });
    editor.current = view;
    return () => {
      editor.current = null;
      view.destroy();
    };
  }, []);
  return { place, editor };
}
