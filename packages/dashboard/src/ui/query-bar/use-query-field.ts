import { type ClipboardEvent, type KeyboardEvent, useState } from 'react';
import { type QueryMember, type QueryTerm, textOfValue, withTerm } from './query-member.js';
import { printTerm, readQuery, tokensOf } from './query-text.js';
import { type Suggestion, typedPart } from './suggestions.js';
import type { Query } from './use-query-terms.js';
import { type Suggestions, useSuggestions } from './use-suggestions.js';

/** The field of a query bar: what is typed, and what its keys do. */
interface QueryField {
  readonly typed: string;
  /** Why what is typed is no query. */
  readonly problem: string | undefined;
  readonly isOpen: boolean;
  /** Index of the chosen suggestion; -1: none. */
  readonly active: number;
  readonly suggestions: Suggestions;
  readonly type: (text: string) => void;
  readonly open: () => void;
  readonly choose: (suggestion: Suggestion) => void;
  readonly remove: (term: QueryTerm) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onPaste: (event: ClipboardEvent<HTMLInputElement>) => void;
  readonly onBlur: () => void;
}

export function useQueryField(query: Query, textMember: QueryMember | undefined): QueryField {
  const { members, terms, set } = query;
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const suggestions = useSuggestions(typed, members, terms, isOpen, textMember);
  const active = Math.min(chosen, suggestions.list.length - 1);

  const type = (text: string): void => {
    setTyped(text);
    setProblem(undefined);
    setChosen(-1);
    setOpen(true);
  };
  /** Takes what can be read; the rest stays, with the reason. */
  const take = (text: string): void => {
    const reading = readQuery(text, members, textMember);
    if (reading.terms.length > 0) set(reading.terms.reduce(withTerm, terms));
    setTyped(reading.rest);
    setProblem(reading.problem);
    setChosen(-1);
    setOpen(false);
  };
  const choose = ({ member, value }: Suggestion): void => {
    const { before } = typedPart(typed, members);
    if (value === undefined) {
      type(`${before}${member.name}:`);
      return;
    }
    const reading = readQuery(before, members, textMember);
    set([...reading.terms, { member, value: value.value }].reduce(withTerm, terms));
    setTyped(reading.rest);
    setProblem(reading.problem);
    setChosen(-1);
  };
  const remove = (term: QueryTerm) => set(terms.filter((one) => one !== term));
  const complete = (suggestion: Suggestion): void => {
    const { before } = typedPart(typed, members);
    const { member, value } = suggestion;
    // A value that is typed completely is taken.
    if (value === undefined || before.trim() === '') choose(suggestion);
    else type(`${before}${printTerm(member.name, textOfValue(value))} `);
  };

  const empty = (): void => {
    type('');
    setOpen(false);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const { list } = suggestions;
    const keys: Record<string, (() => void) | undefined> = {
      ArrowDown: () => (isOpen ? setChosen(active + 1 >= list.length ? 0 : active + 1) : setOpen(true)),
      ArrowUp: isOpen ? () => setChosen(active <= 0 ? list.length - 1 : active - 1) : undefined,
      Enter: () => {
        const suggestion = isOpen ? list[active] : undefined;
        if (suggestion !== undefined) choose(suggestion);
        else if (typed.trim() !== '') take(typed);
        else setOpen(false);
      },
      Escape: isOpen ? () => setOpen(false) : typed === '' ? undefined : empty,
      Backspace: typed === '' && terms.length > 0 ? () => set(terms.slice(0, -1)) : undefined,
    };
    const suggestion = list[Math.max(0, active)];
    if (isOpen && !event.shiftKey && (typed.trim() !== '' || active >= 0) && suggestion !== undefined) {
      keys.Tab = () => complete(suggestion);
    }
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  return {
    typed,
    problem,
    isOpen,
    active,
    suggestions,
    type,
    open: () => setOpen(true),
    choose,
    remove,
    onKeyDown,
    onPaste: (event) => {
      const text = event.clipboardData.getData('text');
      // A value or a part of one is pasted into what is typed.
      if (!tokensOf(text).some(({ name }) => name !== undefined) || typed.trim() !== '') return;
      event.preventDefault();
      take(text);
    },
    onBlur: () => {
      if (typed.trim() === '') setOpen(false);
      else take(typed);
    },
  };
}
