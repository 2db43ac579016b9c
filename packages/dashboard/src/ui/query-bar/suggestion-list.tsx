import { UserText } from '../user-text.js';
import { textOfValue } from './query-member.js';
import type { Suggestion } from './suggestions.js';

interface SuggestionListProps {
  readonly id: string;
  readonly suggestions: readonly Suggestion[];
  /** Index of the one that Enter takes; -1: none. */
  readonly active: number;
  readonly isSearching: boolean;
  readonly onChoose: (suggestion: Suggestion) => void;
}

/** What can be chosen, below the field. The focus stays in the field. */
export function SuggestionList({ id, suggestions, active, isSearching, onChoose }: SuggestionListProps) {
  return (
    <div id={id} role="listbox" aria-label="Suggestions" className="query-suggestions">
      {suggestions.map((suggestion, at) => (
        // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: as above
        <div
          key={keyOf(suggestion)}
          id={optionId(id, at)}
          role="option"
          aria-selected={at === active}
          ref={at === active ? (element) => element?.scrollIntoView({ block: 'nearest' }) : undefined}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(suggestion)}
        >
          <SuggestionText suggestion={suggestion} />
        </div>
      ))}
      {suggestions.length === 0 && (
        // biome-ignore lint/a11y/useFocusableInteractive: it can only be read
        <div role="option" aria-selected="false" aria-disabled="true" className="muted">
          {isSearching ? 'Searching…' : 'Nothing known begins like this.'}
        </div>
      )}
    </div>
  );
}

export function optionId(listId: string, at: number): string {
  return `${listId}-${at}`;
}

function SuggestionText({ suggestion: { member, value } }: { readonly suggestion: Suggestion }) {
  if (value === undefined) {
    return (
      <>
        <strong>{member.name}:</strong> <span className="muted">{member.hint}</span>
      </>
    );
  }
  return (
    <>
      <span className="muted">{member.name}:</span> <UserText text={textOfValue(value)} />
      {value.hint !== undefined && <span className="muted"> {value.hint}</span>}
    </>
  );
}

function keyOf({ member, value }: Suggestion): string {
  return value === undefined ? member.name : `${member.name}:${value.value}`;
}
