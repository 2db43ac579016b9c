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
  return `[${results.map(printResult).join(',')}]`;
}

function printResult(item: ControlResult): string {
  const { result, steering_context: steering } = item;
  const metadata = result.metadata === null ? 'null' : stringifyJson(result.metadata);
  const guidance =
    steering === null
      ? 'null'
      : JSON.stringify({ message: steering.message, required_actions: steering.required_actions ?? [] });
  return (
    `{"control_execution_id":"${item.control_execution_id}","control_id":${item.control_id},` +
    `"control_name":${JSON.stringify(item.control_name)},"action":"${item.action}",` +
    `"result":{"matched":${result.matched},"confidence":${result.confidence},` +
    `"message":${JSON.stringify(result.message)},"metadata":${metadata},` +
    `"error":${JSON.stringify(result.error)}},"steering_context":${guidance}}`
  );
}
