import { PrintBuffer, stringifyJson } from '../../../packages/exact-json/src/index.js';
import { presentHalt, presentLimit } from '../../decide/decisions/applied-limits.js';
import { presentApproval, presentModification } from '../../decide/decisions/presented-lifts.js';
import type { RevisedVerdict } from '../../decide/decisions/revised-verdict.js';
import { keptText } from '../../kernel/core/standing-results.js';
import type { ControlResult } from '../../kernel/core/types.js';

const buffer = new PrintBuffer();

/**
 * A verdict as JSON text with every declared member, between `before` and `behind`. Outcome, decision id, counts, limits, halt, approval and modification are for
 * callers that accept outcomes: deployed clients do not know these members.
 */
export function printVerdict(
  verdict: RevisedVerdict,
  withOutcome: boolean,
  before = '',
  behind = '',
): Buffer {
  return buffer.print((out) => {
    const { is_safe, confidence, reason, matches, errors, non_matches } = verdict;
    const known = `"is_safe":${is_safe},"confidence":${confidence},"reason":${JSON.stringify(reason)}`;
    out.text(`${before}{${known},"matches":`);
    printResults(matches, out);
    out.text(',"errors":');
    printResults(errors, out);
    out.text(',"non_matches":');
    printResults(non_matches, out);
    if (withOutcome) {
      const { outcome, decision_id, selected_controls, evaluated_controls, skipped_controls } = verdict;
      out.text(`,"outcome":"${outcome}","decision_id":"${decision_id}"`);
      out.text(`,"selected_controls":${selected_controls},"evaluated_controls":${evaluated_controls}`);
      if (verdict.schema_mismatch !== null) {
        const { part, path, problem, not_compared } = verdict.schema_mismatch;
        out.text(`,"schema_mismatch":${JSON.stringify({ part, path, problem, not_compared })}`);
      }
      out.text(`,"skipped_controls":${skipped_controls}`);
      if (verdict.limits !== undefined)
        out.text(`,"limits":${stringifyJson(verdict.limits.map(presentLimit))}`);
      if (verdict.halt !== undefined) out.text(`,"halt":${stringifyJson(presentHalt(verdict.halt))}`);
      if (verdict.approval !== undefined)
        out.text(`,"approval":${stringifyJson(presentApproval(verdict.approval))}`);
      if (verdict.modification !== undefined)
        out.text(`,"modification":${stringifyJson(presentModification(verdict.modification))}`);
    }
    out.text(`}${behind}`);
  });
}

const FIRST = Buffer.from('[{"control_execution_id":"');
const NEXT = Buffer.from(',{"control_execution_id":"');

function printResults(results: readonly ControlResult[], out: PrintBuffer): void {
  if (results.length === 0) {
    out.text('[]');
    return;
  }
  let lead = FIRST;
  for (const item of results) {
    out.bytes(lead);
    out.text(item.control_execution_id);
    const rest = keptText(item, printBehindId);
    if (typeof rest === 'string') out.text(rest);
    else out.bytes(rest);
    lead = NEXT;
  }
  out.text(']');
}

/** The result of a control, after its execution id. */
function printBehindId(item: ControlResult): string {
  const { result, steering_context: steering } = item;
  const metadata = result.metadata === null ? 'null' : stringifyJson(result.metadata);
  const guidance =
    steering === null
      ? 'null'
      : JSON.stringify({ message: steering.message, required_actions: steering.required_actions ?? [] });
  return (
    `","control_id":${item.control_id},` +
    `"control_name":${JSON.stringify(item.control_name)},"action":"${item.action}",` +
    `"result":{"matched":${result.matched},"confidence":${result.confidence},` +
    `"message":${JSON.stringify(result.message)},"metadata":${metadata},` +
    `"error":${JSON.stringify(result.error)}},"steering_context":${guidance}}`
  );
}
