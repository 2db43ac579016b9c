import { IconFilter } from '@tabler/icons-react';
import { useId, useRef } from 'react';
import { QueryChip } from './query-chip.js';
import { memberOf, printTerm } from './query-text.js';
import { optionId, SuggestionList } from './suggestion-list.js';
import { useQueryField } from './use-query-field.js';
import type { Query } from './use-query-terms.js';
import './query-bar.css';

interface QueryBarProps {
  /** What is filtered, for example `Filter events`. */
  readonly label: string;
  readonly query: Query;
  /** Name of the member that texts without a name belong to. */
  readonly textMember?: string;
  /** Why the terms cannot be used together. */
  readonly problem?: string | undefined;
}

/**
 * One field for all filters of a page. What is typed becomes a chip for each term; what cannot be read stays in the field
 * with the reason. A combobox: arrows choose a suggestion, Enter takes it or what is typed, Tab completes, Backspace in the
 * empty field removes the last term, Escape closes the suggestions and then empties the field.
 */
export function QueryBar({ label, query, textMember, problem }: QueryBarProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const field = useQueryField(query, memberOf(query.members, textMember));
  const problems = [field.problem, ...query.problems, problem].filter((text) => text !== undefined);
  const { isOpen, active, suggestions } = field;
  const listId = `${id}-list`;
  return (
    <search className="query-bar">
      {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the field in it has the keys */}
      <div
        className="query-box"
        onClick={({ target, currentTarget }) => target === currentTarget && input.current?.focus()}
      >
        <IconFilter size={16} aria-hidden="true" className="muted" />
        {query.terms.length > 0 && (
          <ul className="query-chips" aria-label="Filters">
            {query.terms.map((term) => (
              <QueryChip
                key={`${term.member.name} ${term.value}`}
                term={term}
                onRemove={() => {
                  field.remove(term);
                  input.current?.focus();
                }}
                onEdit={(text) => {
                  field.remove(term);
                  field.type(printTerm(term.member.name, text));
                  input.current?.focus();
                }}
              />
            ))}
          </ul>
        )}
        <input
          ref={input}
          role="combobox"
          aria-label={label}
          aria-autocomplete="list"
          aria-expanded={isOpen}
          aria-controls={isOpen ? listId : undefined}
          aria-activedescendant={isOpen && active >= 0 ? optionId(listId, active) : undefined}
          aria-invalid={problems.length > 0}
          aria-describedby={problems.length > 0 ? `${id}-problem` : undefined}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          placeholder={query.terms.length === 0 ? label : ''}
          value={field.typed}
          onChange={({ target }) => field.type(target.value)}
          onKeyDown={field.onKeyDown}
          onPaste={field.onPaste}
          onFocus={field.open}
          onClick={field.open}
          onBlur={field.onBlur}
        />
        {query.terms.length > 1 && (
          <button
            type="button"
            className="query-clear"
            onClick={() => {
              query.set([]);
              input.current?.focus();
            }}
          >
            Clear
          </button>
        )}
        {isOpen && (
          <SuggestionList
            id={listId}
            suggestions={suggestions.list}
            active={active}
            isSearching={suggestions.isSearching}
            onChoose={field.choose}
          />
        )}
      </div>
      {problems.length > 0 && (
        <p id={`${id}-problem`} className="problem query-problem" role="alert">
          {[...new Set(problems)].join(' ')}
        </p>
      )}
    </search>
  );
}
