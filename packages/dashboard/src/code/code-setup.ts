import { json } from '@codemirror/lang-json';
import { foldGutter, syntaxHighlighting } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import './code.css';

/** The nonce of the page, which the styles of the editor need. */
export function pageNonce(): string {
  return document.querySelector<HTMLElement>('meta[property="csp-nonce"]')?.nonce ?? '';
}

/** Extensions for JSON that is read, not edited: highlighted by classes, which code.css gives colors. */
export function readOnlyJson(label: string): Extension {
  return [
    EditorView.cspNonce.of(pageNonce()),
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.lineWrapping,
    // Reachable by keyboard, for scrolling and selecting.
    EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': label, 'aria-readonly': 'true' }),
    lineNumbers(),
    foldGutter(),
    json(),
    syntaxHighlighting(classHighlighter),
  ];
}
