import type { JsonValue } from '@bufbuild/protobuf';
import { useState } from 'react';
import { isSameJson } from '../code/json-members.js';
import type { FieldProps } from './field-context.js';
import { FieldFrame } from './field-frame.js';

const MAX_ROWS = 16;

/** Any value, as JSON text. Text that is no JSON stays in the field and changes nothing. */
export function JsonField(field: FieldProps) {
  const { value, onChange, isRequired, isCompact = false } = field;
  const [typed, setTyped] = useState<string | null>(null);
  const read = typed === null ? null : readJson(typed);
  const isTyped = read !== null && (read.problem !== null || isSameJson(read.value, value));
  const text = isTyped && typed !== null ? typed : value === undefined ? '' : JSON.stringify(value, null, 2);
  const change = (next: string): void => {
    setTyped(next);
    const { value: found, problem } = readJson(next);
    if (problem === null && (found !== undefined || (!isRequired && !isCompact))) onChange(found);
  };
  return (
    <FieldFrame field={field} problem={isTyped ? read.problem : null}>
      {(attributes) => (
        <textarea
          {...attributes}
          rows={Math.min(MAX_ROWS, Math.max(2, text.split('\n').length))}
          spellCheck={false}
          value={text}
          placeholder="JSON"
          onChange={(event) => change(event.target.value)}
          onBlur={() => {
            if (isTyped && read.problem === null) setTyped(null);
          }}
        />
      )}
    </FieldFrame>
  );
}

interface ReadJson {
  readonly value: JsonValue | undefined;
  readonly problem: string | null;
}

function readJson(text: string): ReadJson {
  if (text.trim() === '') return { value: undefined, problem: null };
  try {
    return { value: JSON.parse(text) as JsonValue, problem: null };
  } catch (error) {
    return {
      value: undefined,
      problem: `This is not JSON, so it is not used: ${(error as Error).message}`,
    };
  }
}
