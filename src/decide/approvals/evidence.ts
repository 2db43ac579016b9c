import type { LiftableControl } from '../../kernel/core/lift.js';
import type { DbClient } from '../../storage/database/database.js';
import { withServiceErrors } from '../../storage/database/errors.js';
import type { StoredDefinition } from '../agent-state/agent-control-store.js';
import type { AskedStep } from '../decisions/approval-gate.js';
import type { AskingControl } from './approval-row.js';
import { definitionHashOf } from './binding.js';
import { filledQuestion } from './shown-step.js';
import type { StepTrials } from './step-trials.js';

/** Longest text of explanations that is stored, in UTF-16 code units. */
const MAX_EXPLANATIONS_LENGTH = 256 * 1024;

/** A control as it is stored now, with its latest version. */
interface CurrentControl extends StoredDefinition {
  readonly version: number;
  readonly authors: readonly string[];
}

/** What is kept of the controls that ask, and why they do. */
export interface Evidence {
  readonly controls: readonly AskingControl[];
  readonly question: string;
  /** JSON text of explanations; null if there are none. */
  readonly explanations: string | null;
}

export interface EvidenceOptions {
  readonly client: DbClient;
  readonly trials: Pick<StepTrials, 'explanations'>;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Reads what an approver is shown, and what is bound; null if a control is no longer the one that asked. The condition is evaluated
 * again, as a trial. Rejects with a `ServiceError` only.
 */
export function createEvidence({ client, trials, onFailure }: EvidenceOptions) {
  async function explanations(asked: AskedStep, rows: readonly StoredDefinition[]): Promise<string | null> {
    try {
      const text = await trials.explanations(asked, rows);
      return text.length <= MAX_EXPLANATIONS_LENGTH ? text : null;
    } catch (error) {
      // The approver has the step and the question.
      onFailure(error);
      return null;
    }
  }

  return async (asked: AskedStep): Promise<Evidence | null> => {
    const current = await currentControls(client, asked);
    if (current === null) return null;
    const controls = asked.controls.flatMap((control) => askingControl(control, current));
    return {
      controls,
      question: questionOf(asked),
      explanations: await explanations(asked, [...current.values()]),
    };
  };
}

async function currentControls(
  client: DbClient,
  { controls, caller }: AskedStep,
): Promise<ReadonlyMap<number, CurrentControl> | null> {
  const ids = controls.map(({ id }) => id);
  const rows = await withServiceErrors(() =>
    client.control.findMany({
      where: { id: { in: ids }, namespace: caller.namespace.name, deletedAtMs: null, enabled: true },
      select: {
        id: true,
        name: true,
        data: true,
        versions: {
          orderBy: { versionNum: 'desc' },
          take: 1,
          select: { versionNum: true, author: true, keyFingerprint: true },
        },
      },
    }),
  );
  const current = new Map<number, CurrentControl>();
  for (const { id, name, data, versions } of rows) {
    const { versionNum = 0, author = null, keyFingerprint = null } = versions[0] ?? {};
    const authors = [author, keyFingerprint].filter((one) => one !== null);
    current.set(id, { id, name, data, version: versionNum, authors });
  }
  const isSame = ({ id, definitionHash }: LiftableControl) => {
    const found = current.get(id);
    return found !== undefined && definitionHashOf(found.data) === definitionHash;
  };
  return controls.every(isSame) ? current : null;
}

function askingControl(
  { id, definitionHash, approval }: LiftableControl,
  current: ReadonlyMap<number, CurrentControl>,
): AskingControl[] {
  const found = current.get(id);
  if (found === undefined || approval === null) return [];
  const { approvers, quorum, separate, bind, reuse } = approval;
  const { name, version, authors } = found;
  return [{ id, name, version, definitionHash, approvers, quorum, separate, bind, reuse, authors }];
}

/** The questions of all controls, each once; of one without a question, a sentence with its name. */
function questionOf({ agentName, step, controls }: AskedStep): string {
  const questions = controls.map(({ name, approval }) =>
    approval?.question === null || approval === null
      ? filledQuestion(`Control "${name}" asks: may agent "${agentName}" run the step "{name}"?`, step)
      : filledQuestion(approval.question, step),
  );
  return [...new Set(questions)].join(' ');
}
