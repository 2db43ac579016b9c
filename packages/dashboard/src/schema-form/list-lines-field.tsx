import type { JsonValue } from '@bufbuild/protobuf';
import { useState } from 'react';
import { isSameJson } from '../code/json-members.js';
import type { Form } from './form.js';
import { itemsOfLines, linesOf } from './list-lines.js';

const MAX_ROWS = 12;

interface ListLinesProps {
  readonly label: string;
  readonly item: Form;
  readonly items: readonly JsonValue[];
  readonly onChange: (items: JsonValue[]) => void;
}

/** A list as text: one item a line, so that many can be pasted at once. */
export function ListLines({ label, item, items, onChange }: ListLinesProps) {
  const [typed, setTyped] = useState<string | null>(null);
  // Blank lines are part of the text, but not of the list.
  const isTyped = typed !== null && isSameJson(itemsOfLines(typed, item, items), [...items]);
  const text = isTyped ? typed : linesOf(items);
  return (
    <textarea
      aria-label={`${label}, one a line`}
      rows={Math.min(MAX_ROWS, Math.max(4, items.length + 1))}
      spellCheck={false}
      value={text}
      placeholder="one a line"
      onChange={(event) => {
        setTyped(event.target.value);
        onChange(itemsOfLines(event.target.value, item, items));
      }}
    />
  );
}
