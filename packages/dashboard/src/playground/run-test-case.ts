import { createClient } from '@connectrpc/connect';
import { Stage } from '@gen/enforcement/v1/control_pb.js';
import {
  type EvaluateResponse,
  EvaluationService,
  Outcome,
} from '@gen/enforcement/v1/evaluation_service_pb.js';
import { transport } from '../data/transport.js';
import { errorText } from '../ui/error-text.js';
import { difference, type ExpectedVerdict, type TestCase } from './test-cases.js';

const client = createClient(EvaluationService, transport);

/** What became of a test case. */
export type CaseResult =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly reason: string }
  /** There is no verdict. */
  | { readonly kind: 'error'; readonly reason: string };

/** The parts of a verdict that test cases expect. */
export function expectedOf({ outcome, isSafe, matches }: EvaluateResponse): ExpectedVerdict {
  return {
    outcome: isSafe ? 'allow' : outcome === Outcome.STEER ? 'steer' : 'deny',
    matches: matches.map(({ controlName }) => controlName).sort(),
  };
}

/** Explains the step of a case, which records nothing, and compares the verdict with the expected one. */
export async function runTestCase({ agent, stage, step, expected }: TestCase): Promise<CaseResult> {
  try {
    const { verdict } = await client.explain({
      agentName: agent,
      stage: stage === 'post' ? Stage.POST : Stage.PRE,
      stepJson: new TextEncoder().encode(step),
    });
    if (verdict === undefined) return { kind: 'error', reason: 'The server gave no verdict.' };
    const reason = difference(expected, expectedOf(verdict));
    return reason === null ? { kind: 'passed' } : { kind: 'failed', reason };
  } catch (error) {
    const { title, detail } = errorText(error);
    return { kind: 'error', reason: `${title}: ${detail}` };
  }
}
