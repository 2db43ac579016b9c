import { type FormEvent, useState } from 'react';
import { indentedJson } from '../code/json-tokens.js';
import { rawValues } from '../code/raw-json.js';
import { Labelled } from '../ui/fields/fields.js';

interface NarrowFormProps {
  /** The step as it is shown. */
  readonly stepJson: string;
  readonly onNarrow: (inputJson: string) => void;
}

/** Approves less than what the agent has asked for: another input, which is the only one that may be used then. */
export function NarrowForm({ stepJson, onNarrow }: NarrowFormProps) {
  const [first] = useState(() => inputOf(stepJson));
  const [text, setText] = useState(first);
  const [problem, setProblem] = useState<string>();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    try {
      JSON.parse(text);
    } catch (error) {
      setProblem(`This is not JSON: ${(error as Error).message}`);
      return;
    }
    setProblem(
      text === first
        ? 'The input is as the agent has sent it: change it, or approve the step as it is.'
        : undefined,
    );
    if (text !== first) onNarrow(text);
  };
  return (
    <form className="card stack" aria-label="Changed input" onSubmit={submit}>
      <Labelled label="Input as JSON. Texts *** stand for the masked secrets, which stay as they are">
        {(id) => (
          <textarea
            id={id}
            rows={10}
            spellCheck={false}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        )}
      </Labelled>
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <p>
        <button type="submit" className="primary">
          Approve with this input…
        </button>
      </p>
    </form>
  );
}

/** The input of a step, with all digits of its numbers. */
function inputOf(stepJson: string): string {
  const found = rawValues(stepJson, (path) => path.length === 1 && path[0] === 'input');
  return indentedJson([...found.values()][0] ?? '{}');
}
