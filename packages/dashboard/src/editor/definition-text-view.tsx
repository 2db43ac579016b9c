import { ensureSyntaxTree } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { EditorView } from '@codemirror/view';
import { useEffect, useState } from 'react';
import { fromElsewhere, showRange } from './code-mirror.js';
import { definitionText, readDefinitionText } from './definition-text.js';
import { conditionOf, type Selection } from './editor-state.js';
import { isSameJson, type JsonObject } from './json.js';
import { fieldJsonPath, type JsonPath, jsonPlace, nodeJsonPath, type TextRange } from './json-places.js';
import type { PlacedProblem } from './problem-place.js';
import { useJsonEditor } from './use-json-editor.js';

interface DefinitionTextViewProps {
  readonly draft: JsonObject;
  readonly selected: Selection;
  readonly problems: readonly PlacedProblem[];
  readonly onChange: (draft: JsonObject) => void;
}

/** The definition as JSON text. It follows the tree, and the tree follows it whenever it is valid. */
export function DefinitionTextView({ draft, selected, problems, onChange }: DefinitionTextViewProps) {
  const [syntaxProblem, setSyntaxProblem] = useState<string | null>(null);
  const { place, editor } = useJsonEditor({
    label: 'Definition as JSON',
    initialText: () => definitionText(draft),
    onChange: ({ state, transactions }) => {
      const reading = readDefinitionText(state.doc.toString());
      setSyntaxProblem('draft' in reading ? null : reading.problem);
      const isTyped = transactions.some((one) => one.docChanged && !one.annotation(fromElsewhere));
      if ('draft' in reading && isTyped) onChange(reading.draft);
    },
  });
  useEffect(() => {
    if (editor.current !== null) follow(editor.current, draft);
  }, [draft, editor]);
  useEffect(() => {
    if (editor.current !== null) showNode(editor.current, draft, selected);
  }, [draft, selected, editor]);
  // The text has changed also while it is no valid draft.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a syntax problem is marked and unmarked
  useEffect(() => {
    if (editor.current !== null) mark(editor.current, problems);
  }, [draft, problems, syntaxProblem]);
  return (
    <div className="json-view">
      <div ref={place} className="json-editor" />
      <p role="status" className="json-status">
        {syntaxProblem === null ? (
          <span className="muted">The tree and this text are in step.</span>
        ) : (
          <span className="problem">{syntaxProblem} The tree stays as it was until the text is valid.</span>
        )}
      </p>
    </div>
  );
}

/** Rewrites the text, as little of it as possible, if it does not say the same as the draft. */
function follow(view: EditorView, draft: JsonObject): void {
  const before = view.state.doc.toString();
  const reading = readDefinitionText(before);
  if ('draft' in reading && isSameJson(reading.draft, draft)) return;
  const after = definitionText(draft);
  let from = 0;
  while (from < before.length && before[from] === after[from]) from += 1;
  let same = 0;
  const most = Math.min(before.length, after.length) - from;
  while (same < most && before[before.length - 1 - same] === after[after.length - 1 - same]) same += 1;
  view.dispatch({
    changes: { from, to: before.length - same, insert: after.slice(from, after.length - same) },
    annotations: fromElsewhere.of(true),
  });
}

function showNode(view: EditorView, draft: JsonObject, selected: Selection): void {
  const path = selected === null ? null : nodeJsonPath(conditionOf(draft), selected);
  const range = path && placeIn(view, path);
  const effects = [showRange.of(range)];
  // While someone types, the text must not move.
  const scroll =
    range === null || view.hasFocus
      ? []
      : [EditorView.scrollIntoView(range.from, { y: 'start', yMargin: 40 })];
  view.dispatch({ effects: [...effects, ...scroll] });
}

const PARSE_MS = 200;

function placeIn({ state }: EditorView, path: JsonPath): TextRange | null {
  const text = state.doc.toString();
  return jsonPlace(text, path, ensureSyntaxTree(state, text.length, PARSE_MS) ?? undefined);
}

function mark(view: EditorView, problems: readonly PlacedProblem[]): void {
  const text = view.state.doc.toString();
  const reading = readDefinitionText(text);
  const diagnostics =
    'draft' in reading
      ? problems.map(({ field, message, severity }) => {
          const { from, to } = placeIn(view, fieldJsonPath(field)) ?? { from: 0, to: 0 };
          return { from, to, message, severity };
        })
      : [
          {
            from: reading.at ?? 0,
            to: reading.at ?? 0,
            message: reading.problem,
            severity: 'error' as const,
          },
        ];
  view.dispatch(setDiagnostics(view.state, diagnostics));
}
