import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
import { lintGutter } from '@codemirror/lint';
import {
  Annotation,
  type Extension,
  type Range,
  StateEffect,
  StateField,
  type Text,
} from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { pageNonce } from '../code/code-setup.js';
import type { TextRange } from './json-places.js';

/** Marks a change of the text that comes from elsewhere than the keyboard. */
export const fromElsewhere = Annotation.define<boolean>();

/** Shows the lines of a part of the text as those of the selected node. */
export const showRange = StateEffect.define<TextRange | null>();

const lineMark = Decoration.line({ class: 'cm-selected-node' });

const shownRange = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(showRange)) continue;
      next = effect.value === null ? Decoration.none : markedLines(transaction.newDoc, effect.value);
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function markedLines(text: Text, { from, to }: TextRange): DecorationSet {
  const marks: Range<Decoration>[] = [];
  for (let line = text.lineAt(from); ; line = text.line(line.number + 1)) {
    marks.push(lineMark.range(line.from));
    if (line.to >= to) return Decoration.set(marks);
  }
}

const look = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: '13px', height: '100%' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--muted)', borderColor: 'var(--line)' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--observe-back)',
  },
  '.cm-selected-node': { backgroundColor: 'var(--raised)' },
  '.cm-tooltip': { backgroundColor: 'var(--surface)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--raised)',
    color: 'var(--muted)',
    borderColor: 'var(--line)',
  },
});

/** Extensions of an editor for JSON. Tab leaves it, as in any other field. */
export function jsonExtensions(label: string): Extension {
  return [
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    history(),
    indentOnInput(),
    bracketMatching(),
    highlightActiveLine(),
    json(),
    syntaxHighlighting(classHighlighter),
    look,
    shownRange,
    EditorView.lineWrapping,
    EditorView.cspNonce.of(pageNonce()),
    EditorView.contentAttributes.of({ 'aria-label': label }),
    keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap]),
  ];
}
