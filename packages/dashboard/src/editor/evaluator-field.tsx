import { useState } from 'react';
import { ErrorState } from '../ui/states.js';
import { FormField, TextInput } from './form-fields.js';
import type { PlacedProblem } from './problem-place.js';
import type { KnownEvaluators } from './use-evaluators.js';

interface EvaluatorFieldProps {
  readonly value: string;
  readonly known: KnownEvaluators;
  readonly problems: readonly PlacedProblem[];
  readonly onChange: (name: string) => void;
}

/** The choice of another name than those that are listed. No evaluator can have this name. */
const OTHER = ' ';

/** The evaluator of a check: one that is known, or any other name. */
export function EvaluatorField({ value, known, problems, onChange }: EvaluatorFieldProps) {
  const { evaluators, isLoading, error, retry } = known;
  const [wantsOther, setWantsOther] = useState(false);
  const chosen = evaluators.find(({ name }) => name === value);
  const isOther = wantsOther || (value !== '' && chosen === undefined && !isLoading);
  const groups = [
    ['Evaluators of the service', evaluators.filter(({ isOfAgent }) => !isOfAgent)],
    ['Evaluators of the agent', evaluators.filter(({ isOfAgent }) => isOfAgent)],
  ] as const;
  const select = (name: string): void => {
    setWantsOther(name === OTHER);
    onChange(name.trim());
  };
  return (
    <>
      <FormField label="Evaluator" problems={isOther ? [] : problems} hint={chosen?.description}>
        {(ids) => (
          <select {...ids} value={isOther ? OTHER : value} onChange={(event) => select(event.target.value)}>
            {!isOther && <option value="">Choose…</option>}
            {chosen === undefined && value !== '' && !isOther && <option value={value}>{value}</option>}
            {groups.map(
              ([label, members]) =>
                members.length > 0 && (
                  <optgroup key={label} label={label}>
                    {members.map(({ name }) => (
                      <option key={name} value={name}>
                        {name}
                      </option>
                    ))}
                  </optgroup>
                ),
            )}
            <option value={OTHER}>Another name…</option>
          </select>
        )}
      </FormField>
      {isOther && (
        <TextInput
          label="Name of the evaluator"
          hint="The service does not have it. A control that runs in the client may name one of the client."
          isCode
          value={value}
          problems={problems}
          onChange={onChange}
        />
      )}
      {error !== null && <ErrorState error={error} onRetry={retry} />}
    </>
  );
}
