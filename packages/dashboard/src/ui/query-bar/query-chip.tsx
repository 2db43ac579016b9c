import { useQuery } from '@tanstack/react-query';
import { UserText } from '../user-text.js';
import { type QueryTerm, textOfValue } from './query-member.js';

const MAX_SHOWN = 40;

/** The text of a term's value: that of a listed one, or what the server calls it. */
export function useTermText({ member, value, problem, isUnknown }: QueryTerm): string {
  const listed = member.values?.find((one) => one.value === value);
  const { data } = useQuery({
    queryKey: ['query text', member.name, value],
    queryFn: async ({ signal }) => (await member.textOf?.(value, signal)) ?? null,
    enabled: member.textOf !== undefined && problem === undefined && isUnknown !== true,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return listed === undefined ? (data ?? value) : textOfValue(listed);
}

interface QueryChipProps {
  readonly term: QueryTerm;
  readonly onRemove: () => void;
  /** Takes the term back into the field, with its text. */
  readonly onEdit: (text: string) => void;
}

/** A term that can be removed, and changed with a click on its text. */
export function QueryChip({ term, onRemove, onEdit }: QueryChipProps) {
  const text = useTermText(term);
  const { member, problem } = term;
  return (
    <li className={problem === undefined ? 'query-chip' : 'query-chip wrong'}>
      {/* The keyboard has Backspace in the field for it. */}
      <button type="button" className="query-chip-text" tabIndex={-1} onClick={() => onEdit(text)}>
        <span className="muted">{member.name}:</span> <UserText text={text} max={MAX_SHOWN} />
      </button>
      <button
        type="button"
        className="query-chip-remove"
        aria-label={`Remove ${member.name}: ${text}`}
        onClick={onRemove}
      >
        <span aria-hidden="true">×</span>
      </button>
    </li>
  );
}
