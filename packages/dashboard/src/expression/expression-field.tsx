import type { ExpressionProblem } from '@gen/enforcement/v1/control_service_pb.js';
import { type ComponentType, useEffect, useId, useRef, useState } from 'react';
import { Problem } from '../ui/states.js';
import type { ExpressionEditorProps } from './expression-editor.js';
import { ExpressionFacts } from './expression-facts.js';
import type { ExpressionPlace } from './expression-place.js';
import { useInspection } from './use-inspection.js';
import './expression.css';

interface ExpressionFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly place: ExpressionPlace;
  /** What the server says about the expression as a part of the definition. */
  readonly messages: readonly string[];
}

/**
 * The expression of the evaluator `cel`: problems as one types, completion, and what the expression reads. It is a plain
 * text area where the editor cannot be loaded, or the server cannot inspect expressions.
 */
export function ExpressionField({ value, onChange, place, messages }: ExpressionFieldProps) {
  const id = useId();
  const hasFocus = useRef(false);
  const setFocus = (has: boolean): void => {
    hasFocus.current = has;
  };
  const Editor = useEditor();
  const inspection = useInspection(value, place);
  const { problems, failure } = inspection;
  // Both say the same: one knows the place in the text.
  const isExplained = problems.some(({ error }) => error) || inspection.refused.length > 0;
  const others = isExplained || inspection.isStale ? [] : messages;
  const isInvalid = isExplained || others.length > 0;
  const ids = { labelledBy: `${id}-label`, describedBy: `${id}-hint ${id}-facts` };
  const replace = ({ start, end }: ExpressionProblem, text: string): void =>
    onChange(`${value.slice(0, start)}${text}${value.slice(end)}`);
  return (
    <div className="schema-field expression-field">
      <div className="schema-field-head">
        <label id={ids.labelledBy} htmlFor={id}>
          expression<span className="required"> required</span>
        </label>
      </div>
      {Editor === null || failure !== null ? (
        <textarea
          id={id}
          className="expression-text"
          rows={3}
          dir="ltr"
          spellCheck={false}
          // biome-ignore lint/a11y/noAutofocus: it takes the place of the editor, which had the focus
          autoFocus={hasFocus.current}
          aria-describedby={ids.describedBy}
          aria-invalid={isInvalid}
          aria-required
          value={value}
          onFocus={() => setFocus(true)}
          onBlur={() => setFocus(false)}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <Editor
          {...ids}
          value={value}
          onChange={onChange}
          place={place}
          problems={problems}
          isInvalid={isInvalid}
          hasFocus={hasFocus.current}
          onFocus={setFocus}
        />
      )}
      <p id={`${id}-hint`} className="schema-description">
        In the Common Expression Language, over input, output, context, type, name, stage, agent, value and
        now.
        {failure === null && Editor !== null && ' Ctrl+Space proposes what may follow.'}
      </p>
      <ExpressionFacts id={`${id}-facts`} inspection={inspection} messages={others} onReplace={replace} />
      {failure !== null && (
        <div className="notice">
          <p>The server does not check the expression as you type, and proposes nothing.</p>
          <Problem error={failure} />
          <button type="button" onClick={inspection.retry}>
            Try again
          </button>
        </div>
      )}
    </div>
  );
}

/** The editor, once its program is loaded; null before, and if it cannot be. */
function useEditor(): ComponentType<ExpressionEditorProps> | null {
  const [editor, setEditor] = useState<{ readonly of: ComponentType<ExpressionEditorProps> } | null>(null);
  useEffect(() => {
    let isGone = false;
    import('./expression-editor.js').then(
      ({ ExpressionEditor }) => {
        if (!isGone) setEditor({ of: ExpressionEditor });
      },
      // The text area stays.
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  }, []);
  return editor?.of ?? null;
}
