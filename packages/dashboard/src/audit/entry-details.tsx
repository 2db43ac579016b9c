import { useQuery } from '@connectrpc/connect-query';
import { type AuditEntry, AuditService } from '@gen/enforcement/v1/audit_service_pb.js';
import { Link } from 'wouter';
import { JsonDifference } from '../code/json-difference.js';
import { memberChanges } from '../control-parts/definition-changes.js';
import { ChangeList } from '../controls/versions/change-list.js';
import { Fact } from '../ui/fact.js';
import { Empty, QueryState } from '../ui/states.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { entrySentence } from './entry-sentence.js';
import { actorText, resourceAddress, resourceText, stateText, stateValue } from './entry-texts.js';
import { Sentence } from './sentence.js';

interface EntryDetailsProps {
  readonly position: bigint;
  readonly onClose: () => void;
}

/** One entry, with the states before and after it compared. */
export function EntryDetails({ position, onClose }: EntryDetailsProps) {
  // The newest entry before the next position.
  const query = useQuery(AuditService.method.listAuditEntries, { cursor: String(position + 1n), limit: 1 });
  return (
    <section className="comparison" aria-label={`Entry ${position}`}>
      <h2>Entry {String(position)}</h2>
      <p>
        <button type="button" onClick={onClose}>
          Close the entry
        </button>
      </p>
      <QueryState query={query} what="the entry">
        {({ entries: [entry] }) =>
          entry?.position === position ? <Facts entry={entry} /> : <Empty title="There is no such entry" />
        }
      </QueryState>
    </section>
  );
}

function Facts({ entry }: { readonly entry: AuditEntry }) {
  const { before, after } = entry;
  const changes = memberChanges(stateValue(before), stateValue(after));
  const address = resourceAddress(entry);
  const facts = [
    ['Time', <TimeText key="time" time={entry.time} isExact />],
    ['Actor', <UserText key="actor" text={actorText(entry.actor)} />],
    ['Address', <UserText key="address" text={entry.address ?? '–'} />],
    ['Action', <code key="action">{entry.action}</code>],
    ['Resource', <UserText key="resource" text={resourceText(entry)} />],
    ['Revision', entry.revision === undefined ? '–' : String(entry.revision)],
    ['Request id', <code key="request">{entry.requestId ?? '–'}</code>],
    ['Hash', <code key="hash">{entry.hash}</code>],
    ['Hash before', <code key="previous">{entry.previousHash}</code>],
  ] as const;
  return (
    <>
      <p className="sentence">
        <Sentence parts={entrySentence(entry)} />
      </p>
      <dl className="facts audit-entry">
        {facts.map(([name, value]) => (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ))}
      </dl>
      {address !== undefined && (
        <p>
          <Link href={address}>Show the {entry.resource} as it is now</Link>
        </p>
      )}
      {changes.length > 0 && (
        <>
          <ChangeList changes={changes} label="Changed members" />
          <JsonDifference before={stateText(before)} after={stateText(after)} labels={['Before', 'After']} />
        </>
      )}
    </>
  );
}
