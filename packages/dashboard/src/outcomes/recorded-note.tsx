import { useServer } from '../health/use-server.js';

const NOTES: Readonly<Record<string, string>> = {
  none: 'The service records none of its own results as events (SERVICE_OBSERVABILITY_RECORD=none): only events that agents report are counted here.',
  matches: 'Only matches and errors are recorded as events, so these are no shares of all checks.',
};

/** What is recorded as events, where events are counted. */
export function RecordedNote() {
  const { info } = useServer();
  const note = NOTES[info?.state?.recordedResults ?? ''];
  return note === undefined ? null : <p className="muted">{note}</p>;
}
