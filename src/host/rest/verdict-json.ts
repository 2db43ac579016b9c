import { keptText } from '../../evaluation/standing-results.js';
import type { ControlResult, Verdict } from '../../evaluation/types.js';
import { stringifyJson } from '../../json/stringify-json.js';

/** A verdict as JSON text, with every declared member. */
export function printVerdict(verdict: Verdict): string {
  const { is_safe, confidence, reason } = verdict;
  return (
    `{"is_safe":${is_safe},"confidence":${confidence},"reason":${JSON.stringify(reason)},` +
    `"matches":${printResults(verdict.matches)},"errors":${printResults(verdict.errors)},` +
    `"non_matches":${printResults(verdict.non_matches)}}`
  );
}

function printResults(results: readonly ControlResult[]): string {
  if (results.length === 0) return '[]';
  let text = '';
  for (const item of results) {
    const rest = keptText(item, printWithoutId);
    text += `${text === '' ? '[' : ','}{"control_execution_id":"${item.control_execution_id}",${rest}`;
  }
  return `${text}]`;
}

/** What a control said, behind its execution id. */
function printWithoutId(item: ControlResult): string {
  const { result, steering_context: steering } = item;
  const metadata = result.metadata === null ? 'null' : stringifyJson(result.metadata);
  const guidance =
    steering === null
      ? 'null'
      : JSON.stringify({ message: steering.message, required_actions: steering.required_actions ?? [] });
  return (
    `"control_id":${item.control_id},` +
    `"control_name":${JSON.stringify(item.control_name)},"action":"${item.action}",` +
    `"result":{"matched":${result.matched},"confidence":${result.confidence},` +
    `"message":${JSON.stringify(result.message)},"metadata":${metadata},` +
    `"error":${JSON.stringify(result.error)}},"steering_context":${guidance}}`
  );
}
