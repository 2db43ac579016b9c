import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Warning } from '@gen/enforcement/v1/control_pb.js';
import { type Shadow, type ShadowDifference, ShadowService } from '@gen/enforcement/v1/shadow_service_pb.js';
import { Link } from 'wouter';
import { DefinitionView } from '../control-parts/definition-view.js';
import { OwnedNote } from '../control-parts/owned-note.js';
import { stageText } from '../control-parts/scope-text.js';
import { useChange } from '../data/use-change.js';
import { agentAddress } from '../references/columns.js';
import { useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { Disclosure } from '../ui/disclosure.js';
import { Fact } from '../ui/fact.js';
import { NameLink } from '../ui/name-link.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { comparedSteps, shareText } from './shadow-text.js';

const MAX_NAME = 40;

interface ShadowProps {
  readonly shadow: Shadow;
  /** Who applies the control as configuration. */
  readonly owner: string | undefined;
  /** Is called with the warnings of the new version. */
  readonly onPromoted: (warnings: readonly Warning[]) => void;
}

/** A shadow beside its control: what they say about the same steps, and the latest that only one of them matched. */
export function ShadowComparison({ shadow, owner, onPromoted }: ShadowProps) {
  const { differences, data } = shadow;
  const counts: readonly (readonly [string, bigint])[] = [
    ['Only the shadow matched', shadow.onlyShadowMatched],
    ['Only the control matched', shadow.onlyLiveMatched],
    ['Both matched', shadow.bothMatched],
    ['Neither matched', shadow.neitherMatched],
    ['The control failed', shadow.liveFailed],
    ['The shadow failed', shadow.shadowFailed],
    ['Left out under load', shadow.leftOut],
  ];
  return (
    <section className="card" aria-label={`Shadow of ${shadow.controlName}`}>
      <p>
        Set <TimeText time={shadow.setAt && timestampDate(shadow.setAt).toISOString()} />
        {shadow.setBy !== undefined && (
          <>
            {' '}
            by <UserText text={shadow.setBy} max={MAX_NAME} />
          </>
        )}{' '}
        beside version {shadow.baseVersion}, for {shareText(shadow)}. It never decides.
      </p>
      <dl className="facts">
        {counts.map(([name, count]) => (
          <Fact key={name} name={name}>
            {count.toLocaleString()}
          </Fact>
        ))}
      </dl>
      <h3>Latest differences</h3>
      <Table
        label="Latest steps that only one of them matched"
        columns={COLUMNS}
        rows={differences}
        keyOf={({ decisionId }) => decisionId}
        empty={
          <p className="muted">
            {comparedSteps(shadow) === 0n
              ? 'No step was compared yet.'
              : 'They agree about every step until now.'}
          </p>
        }
      />
      {data !== undefined && (
        <Disclosure summary="Definition of the shadow">
          <DefinitionView data={data} />
        </Disclosure>
      )}
      <ShadowActions shadow={shadow} owner={owner} onPromoted={onPromoted} />
    </section>
  );
}

const COLUMNS: Columns<ShadowDifference> = [
  {
    head: 'Step',
    cell: ({ stepType, stepName, decisionId }) => (
      <Link href={`/events?decision_id=${encodeURIComponent(decisionId)}`}>
        <UserText text={`${stepType} ${stepName}`} max={MAX_NAME} />
      </Link>
    ),
  },
  { head: 'Stage', cell: ({ stage }) => stageText(stage) },
  {
    head: 'Agent',
    cell: ({ agentName }) => <NameLink href={agentAddress(agentName)} name={agentName} max={MAX_NAME} />,
  },
  { head: 'Matched', cell: ({ shadowMatched }) => (shadowMatched ? 'the shadow' : 'the control') },
  { head: 'Says', cell: ({ message }) => message !== undefined && <UserText text={message} max={200} /> },
  { head: 'Time', cell: ({ at }) => <TimeText time={at && timestampDate(at).toISOString()} /> },
];

/** Promotes or drops a shadow after a confirmation. Nothing for callers that may not. */
function ShadowActions({ shadow, owner, onPromoted }: ShadowProps) {
  const mayChange = useMay('controls.write');
  const promote = useChange(ShadowService.method.promoteShadow, ({ warnings }) => onPromoted(warnings));
  const drop = useChange(ShadowService.method.dropShadow);
  if (!mayChange) return null;
  const { controlId, controlName, shadowVersion } = shadow;
  return (
    <p className="links">
      <ConfirmButton
        verb="Promote"
        object={`the shadow of ${controlName}`}
        label="Promote…"
        change={promote}
        onConfirm={() => promote.mutateAsync({ controlId, shadowVersion })}
      >
        <p>
          The definition of the shadow becomes a new version of the control, and decides from then on. Of the
          steps until now, it matched {shadow.onlyShadowMatched.toLocaleString()} that the control did not
          match, and not {shadow.onlyLiveMatched.toLocaleString()} that it did.
        </p>
        <OwnedNote what="control" owner={owner} />
      </ConfirmButton>
      <ConfirmButton
        verb="Drop"
        object={`the shadow of ${controlName}`}
        label="Drop…"
        change={drop}
        onConfirm={() => drop.mutateAsync({ controlId })}
      >
        <p>The comparison is lost. The control stays as it is.</p>
      </ConfirmButton>
      <Link href={`/controls/${controlId}/edit`}>Edit the control, to set another shadow</Link>
    </p>
  );
}
