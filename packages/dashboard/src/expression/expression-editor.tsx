import { setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import type { ExpressionProblem } from '@gen/enforcement/v1/control_service_pb.js';
import { useEffect, useRef } from 'react';
import { diagnosticsOf, expressionExtensions, fromElsewhere } from './expression-extensions.js';
import type { ExpressionPlace } from './expression-place.js';

export interface ExpressionEditorProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly place: ExpressionPlace;
  /** The problems of the value. */
  readonly problems: readonly ExpressionProblem[];
  readonly labelledBy: string;
  readonly describedBy: string;
  readonly isInvalid: boolean;
  /** Whether it takes the place of a field that had the focus. */
  readonly hasFocus: boolean;
  /** Called with whether it has the focus, whenever that changes. */
  readonly onFocus: (hasFocus: boolean) => void;
}

/** A text editor for an expression, with marks and completion. Loaded on demand. */
export function ExpressionEditor(props: ExpressionEditorProps) {
  const { value, problems, labelledBy, describedBy, isInvalid } = props;
  const parent = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const attributes = useRef(new Compartment());
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  useEffect(() => {
    if (parent.current === null) return;
    const view = new EditorView({
      parent: parent.current,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          expressionExtensions(() => latest.current.place),
          attributes.current.of([]),
          EditorView.updateListener.of(({ docChanged, focusChanged, state, transactions, view: of }) => {
            if (focusChanged) latest.current.onFocus(of.hasFocus);
            if (!docChanged || transactions.every((one) => one.annotation(fromElsewhere))) return;
            latest.current.onChange(state.doc.toString());
          }),
        ],
      }),
    });
    editor.current = view;
    if (latest.current.hasFocus) {
      view.dispatch({ selection: { anchor: view.state.doc.length } });
      view.focus();
    }
    return () => {
      editor.current = null;
      view.destroy();
    };
  }, []);
  useEffect(() => {
    const content = EditorView.contentAttributes.of({
      'aria-labelledby': labelledBy,
      'aria-describedby': describedBy,
      'aria-invalid': String(isInvalid),
      'aria-required': 'true',
    });
    editor.current?.dispatch({ effects: attributes.current.reconfigure(content) });
  }, [labelledBy, describedBy, isInvalid]);
  useEffect(() => {
    const view = editor.current;
    const before = view?.state.doc.toString();
    if (view === null || before === value) return;
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: value },
      annotations: fromElsewhere.of(true),
    });
  }, [value]);
  useEffect(() => {
    const view = editor.current;
    if (view === null) return;
    view.dispatch(setDiagnostics(view.state, diagnosticsOf(problems, view.state.doc.length)));
  }, [problems]);
  return <div ref={parent} className="expression-editor" />;
}
