import { createClient } from '@connectrpc/connect';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { ObservabilityService } from '@gen/enforcement/v1/observability_service_pb.js';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { transport } from '../data/transport.js';
import { Dialog } from '../ui/dialog.js';
import { AgentNames, SHOWN_AGENTS } from './affected-agents.js';
import { type DenyRisk, RISK_TEXTS } from './deny-risk.js';

const controls = createClient(ControlService, transport);
const observability = createClient(ObservabilityService, transport);
const RECENT = '24h';

interface DenyQuestionProps {
  readonly risk: DenyRisk;
  readonly name: string;
  /** Null for a new control. */
  readonly controlId: number | null;
  /** The agent that a new control is linked to. Blank: none. */
  readonly linkTo: string;
  /** What recorded samples say about the change; null if they are not asked. */
  readonly figure?: ReactNode;
  readonly onConfirm: () => void;
  readonly onCancel: () => void;
}

/** Who would notice. Null: it could not be found out. */
interface Affected {
  readonly names: readonly string[];
  readonly total: number;
  /** Recorded matches of the last day; undefined if they are not known. */
  readonly matches?: bigint;
}

/** Asks before a control denies what it did not deny, with the agents it denies it to; not if there are none. */
export function DenyQuestion({
  risk,
  name,
  controlId,
  linkTo,
  figure = null,
  onConfirm,
  onCancel,
}: DenyQuestionProps) {
  const [affected, setAffected] = useState<Affected | null>();
  const confirm = useRef(onConfirm);
  useEffect(() => {
    let isGone = false;
    readAffected(controlId, linkTo, risk).then(
      (found) => {
        if (isGone) return;
        if (found.total === 0) confirm.current();
        else setAffected(found);
      },
      () => !isGone && setAffected(null),
    );
    return () => {
      isGone = true;
    };
  }, [controlId, linkTo, risk]);
  if (affected === undefined) return null;
  return (
    <Dialog
      title={
        <>
          Deny with <bdi>{name}</bdi>?
        </>
      }
      onClose={onCancel}
      actions={
        <>
          <button type="button" onClick={onCancel}>
            Keep editing
          </button>
          <button type="button" className="primary" onClick={onConfirm}>
            Save and deny
          </button>
        </>
      }
    >
      <p>
        <bdi>{name}</bdi> {RISK_TEXTS[risk]}
      </p>
      <p>
        {affected === null ? (
          'Which agents that concerns could not be found out.'
        ) : (
          <>
            It checks the steps of <AgentNames {...affected} />.
          </>
        )}
      </p>
      {affected?.matches !== undefined && (
        <p>
          Recorded matches in the last 24 hours: <strong>{affected.matches.toLocaleString()}</strong>.
        </p>
      )}
      {figure !== null && <p>{figure}</p>}
    </Dialog>
  );
}

async function readAffected(controlId: number | null, linkTo: string, risk: DenyRisk): Promise<Affected> {
  if (controlId === null) return linkTo === '' ? { names: [], total: 0 } : { names: [linkTo], total: 1 };
  const [page, stats] = await Promise.all([
    controls.listControlAgents({ controlId, limit: SHOWN_AGENTS }),
    // Its matches of before say what it would deny.
    risk === 'observe' || risk === 'steer'
      ? observability.getStatsOverview({ controlId, timeRange: RECENT }).catch(() => undefined)
      : undefined,
  ]);
  const matches = stats?.totals?.matchTotal;
  return {
    names: page.agents.map(({ agentName }) => agentName),
    total: page.pagination?.total ?? page.agents.length,
    ...(matches === undefined ? {} : { matches }),
  };
}
