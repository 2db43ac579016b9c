import { autocompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintKeymap } from '@codemirror/lint';
import { Annotation, type Extension } from '@codemirror/state';
import { EditorView, keymap, tooltips } from '@codemirror/view';
import type { ExpressionProblem } from '@gen/enforcement/v1/control_service_pb.js';
import { classHighlighter } from '@lezer/highlight';
import { pageNonce } from '../code/code-setup.js';
import { completionsFor } from './expression-completion.js';
import { expressionLanguage } from './expression-language.js';
import type { ExpressionPlace } from './expression-place.js';

/** Marks a change of the text that comes from elsewhere than the keyboard. */
export const fromElsewhere = Annotation.define<boolean>();

/** Extensions of an editor for one expression. Tab leaves it, as in any other field. */
export function expressionExtensions(placeOf: () => ExpressionPlace): Extension {
  return [
    history(),
    bracketMatching(),
    expressionLanguage,
    syntaxHighlighting(classHighlighter),
    autocompletion({
      override: [(context) => completionsFor(context, placeOf())],
      icons: false,
      // All of them fit into the list: one that scrolls would need the focus, which stays in the text.
      maxRenderedOptions: 10,
      activateOnTypingDelay: 150,
    }),
    // Panes cut off what leaves them.
    tooltips({ position: 'fixed' }),
    EditorView.lineWrapping,
    EditorView.cspNonce.of(pageNonce()),
    keymap.of([...completionKeymap, ...lintKeymap, ...defaultKeymap, ...historyKeymap]),
  ];
}

/** Problems as marks in a text of some length, with their suggestions as quick fixes. */
export function diagnosticsOf(problems: readonly ExpressionProblem[], length: number): Diagnostic[] {
  return problems.map(({ start, end, message, suggestion, error }) => {
    const from = Math.min(start, length);
    return {
      from,
      to: Math.max(from, Math.min(end, length)),
      message,
      severity: error ? 'error' : 'warning',
      ...(suggestion === undefined
        ? {}
        : {
            actions: [
              {
                name: `Write ${suggestion}`,
                apply: (view: EditorView, at: number, to: number) =>
                  view.dispatch({ changes: { from: at, to, insert: suggestion } }),
              },
            ],
          }),
    };
  });
}
