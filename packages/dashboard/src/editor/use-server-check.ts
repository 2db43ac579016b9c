import { createClient } from '@connectrpc/connect';
import { ConfigurationService } from '@gen/enforcement/v1/configuration_service_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { useCallback, useEffect, useState } from 'react';
import { transport } from '../data/transport.js';
import { useIsLimited, useSession } from '../session/session-context.js';
import { draftMessage } from './draft-message.js';
import type { JsonObject } from './json.js';
import { type PlacedProblem, placedProblem } from './problem-place.js';
import { useRepeatedly } from './use-repeatedly.js';
import { refusedProblems, warningProblems, withFindings } from './violations.js';

const DELAY_MS = 300;
const controls = createClient(ControlService, transport);
const configuration = createClient(ConfigurationService, transport);

export interface ServerCheck {
  /** The problems of the draft that was checked last. */
  readonly problems: readonly PlacedProblem[];
  /** The draft that the problems are of. Null before the first check. */
  readonly checked: JsonObject | null;
  /** Why the server could not check the draft. */
  readonly failure: unknown;
  readonly retry: () => void;
}

type CheckResult = Omit<ServerCheck, 'retry'>;

const UNCHECKED: CheckResult = { problems: [], checked: null, failure: null };

/**
 * Checks a draft as it changes: the types of its members here, everything else by the server. A draft of a stored control
 * is compared with the other controls of its agents as well.
 */
export function useServerCheck(draft: JsonObject, controlId: number | null): ServerCheck {
  const [result, setResult] = useState<CheckResult>(UNCHECKED);
  const [attempt, setAttempt] = useState(0);
  const { ended } = useSession();
  const isLimited = useIsLimited();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt checks the same draft again
  useEffect(() => {
    // Asked again after the next sign-in.
    if (ended !== null) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      checkDraft(draft, controlId, isLimited, stop.signal).then(setResult, (failure: unknown) => {
        if (!stop.signal.aborted) setResult((last) => ({ ...last, failure }));
      });
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [draft, controlId, isLimited, attempt, ended]);
  const retry = useCallback(() => setAttempt((last) => last + 1), []);
  useRepeatedly(result.failure, retry);
  return { ...result, retry };
}

async function checkDraft(
  draft: JsonObject,
  controlId: number | null,
  isLimited: boolean,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { message, problems } = draftMessage(draft);
  const place = (found: readonly Parameters<typeof placedProblem>[1][]) => ({
    problems: found.map((problem) => placedProblem(draft, problem)),
    checked: draft,
    failure: null,
  });
  if (problems.some(({ severity }) => severity === 'error')) return place(problems);
  try {
    const { warnings } = await controls.validateControl(
      { data: message, ...(controlId === null ? {} : { controlId }) },
      { signal },
    );
    const document = { kind: 'Control', name: 'draft', data: message };
    // Callers that are limited to agents may not call it.
    const { findings } = isLimited
      ? { findings: [] }
      : await configuration.lintConfiguration({ documents: [document], eachAlone: true }, { signal });
    return place([...problems, ...withFindings(warningProblems(warnings), findings)]);
  } catch (error) {
    const violations = refusedProblems(error);
    if (violations === null) throw error;
    return place([...violations, ...problems]);
  }
}
