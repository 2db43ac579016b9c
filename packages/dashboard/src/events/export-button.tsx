import { countText, numberOf } from '../ui/numbers.js';
import type { EventFilter } from './event-filter.js';
import { canStreamToFile, MAX_COLLECTED_BYTES } from './export-sink.js';
import { totalText } from './total-text.js';
import { useExport } from './use-export.js';

/** Saves all events that pass the filters as lines of JSON, with progress, and can be cancelled. */
export function ExportButton({ filter }: { readonly filter: EventFilter }) {
  const { state, start, cancel } = useExport();
  return (
    <div className="export">
      {state.kind === 'running' ? (
        <>
          <progress
            aria-label="Export"
            max={Math.max(1, Number(state.total?.eventTotal ?? 0n))}
            {...(state.total === undefined ? {} : { value: state.events })}
          />
          <button type="button" onClick={cancel}>
            Cancel the export
          </button>
        </>
      ) : (
        <button type="button" onClick={() => start(filter)}>
          Export as NDJSON
        </button>
      )}
      <span className={state.kind === 'failed' ? 'problem' : 'muted'} role="status">
        {stateText(state)}
      </span>
    </div>
  );
}

function stateText(state: ReturnType<typeof useExport>['state']): string {
  switch (state.kind) {
    case 'idle':
      return canStreamToFile()
        ? 'All events that pass the filters, written to a file as they arrive.'
        : `All events that pass the filters, at most ${MAX_COLLECTED_BYTES / 2 ** 20} MiB with this browser.`;
    case 'running':
      return `${state.events.toLocaleString()} of ${state.total === undefined ? '…' : totalText(state.total)} events, ${countText(state.bytes)}B`;
    case 'finished':
      return `${numberOf(state.events, 'event')} saved, ${countText(state.bytes)}B.`;
    case 'cancelled':
      return `Cancelled after ${numberOf(state.events, 'event')}. No file was saved.`;
    case 'failed':
      return `The export broke off after ${numberOf(state.events, 'event')}, so no file was saved: ${state.reason}`;
  }
}
