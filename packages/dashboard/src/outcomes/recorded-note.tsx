import { useRecordedResults } from './use-recorded-results.js';

const NOTES: Readonly<Record<string, string>> = {
  none: 'The service records none of its own results as events (SERVICE_OBSERVABILITY_RECORD=none): only events that agents report are here.',
  matches: 'Only matches and errors are recorded as events, so these are no shares of all checks.',
};

interface RecordedNoteProps {
  /** Whether it is said only that nothing is recorded, where events are listed and not counted. */
  readonly isOfList?: boolean;
}

/** What is recorded as events, where events are counted. */
export function RecordedNote({ isOfList = false }: RecordedNoteProps) {
  const recorded = useRecordedResults() ?? '';
  const note = isOfList && recorded !== 'none' ? undefined : NOTES[recorded];
  return note === undefined ? null : <p className="muted">{note}</p>;
}
