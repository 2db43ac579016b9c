import { ControlsSource, StorageState } from '@gen/enforcement/v1/server_service_pb.js';
import { Fact } from '../ui/fact.js';
import { TimeText } from '../ui/time-text.js';
import { ageText } from './age-text.js';
import type { ServerView } from './use-server.js';
import './health.css';

const SOURCES: Readonly<Record<ControlsSource, string>> = {
  [ControlsSource.UNSPECIFIED]: 'unknown',
  [ControlsSource.DATABASE]: 'database',
  [ControlsSource.LAST_KNOWN_GOOD]: 'last known good file',
  [ControlsSource.NOTHING]: 'nowhere: there are none',
};
const STORAGE: Readonly<Record<StorageState, string>> = {
  [StorageState.UNSPECIFIED]: 'unknown',
  [StorageState.OK]: 'answers and stores',
  [StorageState.NOSPACE]: 'is full',
  [StorageState.READONLY]: 'is read-only',
  [StorageState.REPLACED]: 'was replaced',
  [StorageState.CORRUPT]: 'is damaged',
  [StorageState.DOWN]: 'does not answer',
};

/** The facts of the server that answers, or those of its last reply, with their time, if it does not answer any more. */
export function ServerCard({ server: { info, word, seenAtMs } }: { readonly server: ServerView }) {
  const state = info?.state;
  const isGone = word === 'unreachable';
  return (
    <section id="server" className={isGone ? 'card server-card gone' : 'card server-card'}>
      <h2>Server</h2>
      {isGone && (
        <p>
          {seenAtMs === 0 ? (
            'It has not answered yet.'
          ) : (
            <>
              Last seen <TimeText time={new Date(seenAtMs).toISOString()} isExact />. What follows was true
              then.
            </>
          )}
        </p>
      )}
      <dl className="facts">
        {info !== undefined && (
          <>
            <Fact name="Revision of the controls">{info.revision.toLocaleString()}</Fact>
            <Fact name="Version">{info.version}</Fact>
          </>
        )}
        {state !== undefined && (
          <>
            <Fact name="Controls known to be current">
              {state.stalenessSeconds === undefined
                ? 'never'
                : `${ageText(state.stalenessSeconds)} ${isGone ? 'before that' : 'ago'}`}
            </Fact>
            <Fact name="Controls from">{SOURCES[state.controlsFrom]}</Fact>
            <Fact name="Database">{state.databaseUp ? STORAGE[state.storageState] : 'does not answer'}</Fact>
            <Fact name="Events">
              {state.eventsEnabled
                ? `${state.waitingEvents.toLocaleString()} waiting, ${state.lostEvents.toLocaleString()} lost`
                : 'not stored'}
            </Fact>
            <Fact name="Recorded">{RECORDED[state.recordedResults] ?? state.recordedResults}</Fact>
          </>
        )}
      </dl>
      <p className="muted">Of the process that answered; each of several processes has its own.</p>
    </section>
  );
}

/** What is recorded as events, by the word of the server. */
export const RECORDED: Readonly<Record<string, string>> = {
  '': 'unknown',
  none: 'no results of the service',
  matches: 'matches and errors',
  all: 'every check',
};
